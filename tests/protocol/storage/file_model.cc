#include "tests/protocol/storage/file_model.h"

#include <algorithm>
#include <set>

namespace tidelock::storage {

namespace {
constexpr std::size_t kSectorBytes = 512;
}

void FileModel::apply(const Change& change, Content& content) {
    if (!change.is_write) {
        content.resize(change.position);
        return;
    }
    const std::size_t end = change.position + change.bytes.size();
    if (content.size() < end) content.resize(end);
    std::copy(change.bytes.span().begin(), change.bytes.span().end(),
              content.begin() + static_cast<std::ptrdiff_t>(change.position));
}

void FileModel::apply_some(const Change& change, Content& content) {
    const std::uint64_t way = dice_.below(3);
    if (way == 0) return;
    if (way == 1 || !change.is_write) return apply(change, content);
    for (std::size_t at = 0; at < change.bytes.size();) {
        const std::size_t in_sector = kSectorBytes - (change.position + at) % kSectorBytes;
        const std::size_t count = std::min(in_sector, change.bytes.size() - at);
        if (dice_.one_in(2)) apply({true, change.position + at, change.bytes.slice(at, count)}, content);
        at += count;
    }
}

FileModel::Inode& FileModel::open(const std::string& name) {
    std::shared_ptr<Inode>& inode = cached_names_[name];
    if (!inode) inode = std::make_shared<Inode>();
    return *inode;
}

void FileModel::do_write(const WriteFile& write) {
    const std::string name(write.name.text());
    Inode& inode = open(name);
    const Change change{true, write.position, write.content};
    if (next_write_failure_) {
        if (dice_.one_in(2)) {  // it may have been done all the same
            apply(change, inode.cached);
            inode.unsynced.push_back(change);
        }
        completions_.push_front(
            {name, cached_names_[name], 0, {}, WriteFailed{write.name, *next_write_failure_}, false});
        next_write_failure_.reset();
        return;
    }
    apply(change, inode.cached);
    inode.unsynced.push_back(change);
}

void FileModel::do_read(const ReadFile& read) {
    const std::string name(read.name.text());
    const auto at = cached_names_.find(name);
    Result<Bytes, ReadError> content = Failure<ReadError>(ReadError::kMissing);
    if (at != cached_names_.end()) {
        const Content& cached = at->second->cached;
        const std::size_t from = std::min<std::size_t>(read.position, cached.size());
        const std::size_t count = std::min<std::size_t>(read.length, cached.size() - from);
        content = Bytes::copy_of(std::span(cached).subspan(from, count));
    }
    completions_.push_back({name, nullptr, 0, {}, FileReadDone{read.op, std::move(content)}, false});
}

void FileModel::carry_out(const std::vector<FileEffect>& effects) {
    for (const FileEffect& effect : effects) {
        if (const auto* write = std::get_if<WriteFile>(&effect)) do_write(*write);
        if (const auto* cut = std::get_if<TruncateFile>(&effect)) {
            Inode& inode = open(std::string(cut->name.text()));
            const Change change{false, cut->size, Bytes()};
            apply(change, inode.cached);
            inode.unsynced.push_back(change);
        }
        if (const auto* sync = std::get_if<SyncFile>(&effect)) {
            const std::string name(sync->name.text());
            Inode& inode = open(name);
            completions_.push_back(
                {name, cached_names_[name], inode.unsynced.size(), {}, FileSynced{sync->op, true}, true});
        }
        if (const auto* sync = std::get_if<SyncDirectory>(&effect))
            completions_.push_back({"", nullptr, 0, cached_names_, FileSynced{sync->op, true}, true});
        if (const auto* renamed = std::get_if<RenameFile>(&effect)) {
            auto moved = cached_names_.extract(std::string(renamed->from.text()));
            if (!moved.empty()) cached_names_[std::string(renamed->to.text())] = std::move(moved.mapped());
        }
        if (const auto* gone = std::get_if<RemoveFile>(&effect)) cached_names_.erase(std::string(gone->name.text()));
        if (const auto* read = std::get_if<ReadFile>(&effect)) do_read(*read);
    }
}

FileEvent FileModel::take_completion() {
    // Any one whose file has no earlier completion waiting; a failed write is told at once.
    std::set<std::string> seen;
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < completions_.size(); ++i)
        if (seen.insert(completions_[i].name).second) ready.push_back(i);
    std::size_t chosen = ready[dice_.below(ready.size())];
    for (std::size_t i = 0; i < completions_.size(); ++i)
        if (std::holds_alternative<WriteFailed>(completions_[i].event)) chosen = i;
    Completion completion = completions_[chosen];
    completions_.erase(completions_.begin() + static_cast<std::ptrdiff_t>(chosen));
    if (completion.is_sync) complete_sync(completion);
    return completion.event;
}

void FileModel::complete_sync(Completion& completion) {
    const bool is_failing = syncs_to_fail_ > 0;
    if (is_failing) --syncs_to_fail_;
    if (is_failing) std::get<FileSynced>(completion.event).ok = false;
    if (!completion.inode) {  // names: changes that failed stay pending, as a journalling file system has them
        if (!is_failing) durable_names_ = completion.covered_names;
        return;
    }
    Inode& inode = *completion.inode;
    for (std::size_t i = 0; i < completion.covered_changes; ++i)
        is_failing ? apply_some(inode.unsynced[i], inode.durable) : apply(inode.unsynced[i], inode.durable);
    const auto covered = static_cast<std::ptrdiff_t>(completion.covered_changes);
    inode.unsynced.erase(inode.unsynced.begin(), inode.unsynced.begin() + covered);
    for (Completion& other : completions_)  // a later sync of the file counts from what is left
        if (other.is_sync && other.inode == completion.inode) other.covered_changes -= completion.covered_changes;
    if (is_failing && dice_.one_in(2)) {
        inode.cached = inode.durable;
        for (const Change& change : inode.unsynced) apply(change, inode.cached);
    }
}

void FileModel::kill() {
    // Asked for and not completed: whether it took place is open, but the kernel keeps what was written.
    drop_in_flight();
    syncs_to_fail_ = 0;
    next_write_failure_.reset();
}

void FileModel::lose_power() {
    kill();
    std::set<std::string> all;
    for (const auto& [name, inode] : cached_names_) all.insert(name);
    for (const auto& [name, inode] : durable_names_) all.insert(name);
    Names left;
    std::set<Inode*> resolved;
    for (const std::string& name : all) {
        const Names& from = dice_.one_in(2) ? cached_names_ : durable_names_;
        const auto at = from.find(name);
        if (at == from.end()) continue;
        left[name] = at->second;
        Inode& inode = *at->second;
        if (!resolved.insert(&inode).second) continue;
        for (const Change& change : inode.unsynced) apply_some(change, inode.durable);
        inode.unsynced.clear();
        inode.cached = inode.durable;
    }
    cached_names_ = durable_names_ = left;
}

DirectoryImage FileModel::image() const {
    DirectoryImage image;
    for (const auto& [name, inode] : cached_names_)
        image.push_back({FileName(std::string_view(name)), Bytes::copy_of(std::span(inode->cached))});
    return image;
}

void FileModel::flip(const std::string& name, std::size_t byte, unsigned bit) {
    Inode& inode = *cached_names_.at(name);
    inode.cached.at(byte) ^= static_cast<std::byte>(1U << bit);
    if (byte < inode.durable.size()) inode.durable.at(byte) ^= static_cast<std::byte>(1U << bit);
}

std::vector<std::string> FileModel::names() const {
    std::vector<std::string> names;
    for (const auto& [name, inode] : cached_names_) names.push_back(name);
    return names;
}

std::size_t FileModel::size_of(const std::string& name) const {
    return cached_names_.at(name)->cached.size();
}

void FileModel::set_content(const std::string& name, const Bytes& content) {
    Inode& inode = open(name);
    inode.cached.assign(content.span().begin(), content.span().end());
    inode.durable = inode.cached;
    inode.unsynced.clear();
    durable_names_[name] = cached_names_[name];
}

void FileModel::remove(const std::string& name) {
    cached_names_.erase(name);
    durable_names_.erase(name);
}

}  // namespace tidelock::storage
