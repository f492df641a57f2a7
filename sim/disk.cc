#include "sim/disk.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "sim/world.h"

namespace tidelock::sim {
namespace {

constexpr unsigned kReadErrorBits = 8;
constexpr std::uint64_t kReadErrorMask = (1U << kReadErrorBits) - 1;

/// The number of the request that a completion in the world's queue is about.
std::uint64_t request_of(const Event& event) {
    if (event.kind == EventKind::kDiskWriteFailed) return event.a;
    return event.kind == EventKind::kDiskRead ? event.b >> kReadErrorBits : event.b;
}

}  // namespace

Disk::Disk(World& world, Host& host, const DiskConfig& config, std::uint64_t seed)
    : world_(world),
      host_(host),
      config_(config),
      latency_(0),
      outcome_(0),
      fault_key_(0),
      capacity_bytes_(config.capacity_bytes) {
    reseed(seed);
}

void Disk::reseed(std::uint64_t seed) {
    const std::uint64_t entity = static_cast<std::uint64_t>(host_.id().value);
    latency_ = Rng(seed, "disk latency", entity);
    outcome_ = Rng(seed, "disk fault outcome", entity);
    fault_key_ = stream_seed(seed, "disk fault", entity);
}

void Disk::write(std::string_view file, std::uint64_t position, Bytes content) {
    if (!host_.begin_effect()) return;
    DiskFile& written = open_or_create(file);
    if (world_.faults().strikes(FaultKind::kWriteError, fault_key_, writes_asked_++)) {
        world_.faults().count(FaultKind::kWriteError);
        if (world_.is_traced()) trace("write error", file);
        return fail_write(file, DiskError::kWriteFailed);
    }
    const std::uint64_t old_size = written.cached().size();
    const std::uint64_t room = capacity_bytes_ > used_bytes_ ? capacity_bytes_ - used_bytes_ : 0;
    const std::uint64_t end_max = room > UINT64_MAX - old_size ? UINT64_MAX : old_size + room;
    const bool fits = position + content.size() <= end_max;
    if (!fits) content = content.slice(0, end_max > position ? end_max - position : 0);
    if (world_.is_traced()) trace("write", file);
    if (!content.empty()) written.write(position, std::move(content), next_order_++);
    used_bytes_ += written.cached().size() - old_size;
    if (fits) return;
    world_.faults().count(FaultKind::kDiskFull);
    fail_write(file, DiskError::kNoSpace);
}

void Disk::truncate(std::string_view file, std::uint64_t size) {
    if (!host_.begin_effect()) return;
    DiskFile& cut = open_or_create(file);
    if (world_.is_traced()) trace("truncate", file);
    used_bytes_ = used_bytes_ - cut.cached().size() + size;
    cut.truncate(size, next_order_++);
}

void Disk::sync(std::string_view file, DiskOp op) {
    if (!host_.begin_effect()) return;
    const auto found = names_.find(file);
    ask_sync(false, found == names_.end() ? FileId{0} : found->second, op);
}

void Disk::sync_directory(DiskOp op) {
    if (!host_.begin_effect()) return;
    ask_sync(true, 0, op);
}

void Disk::rename(std::string_view from, std::string_view to) {
    if (!host_.begin_effect()) return;
    const auto found = names_.find(from);
    if (found == names_.end() || from == to) return;
    if (world_.is_traced()) trace("rename", from);
    if (const DiskFile* const replaced = find(to)) used_bytes_ -= replaced->cached().size();
    unsynced_names_.push_back(
        UnsyncedName{next_order_++, NameChange::kRenamed, std::string(from), std::string(to), found->second});
    apply_name(names_, unsynced_names_.back());
}

void Disk::remove(std::string_view file) {
    if (!host_.begin_effect()) return;
    const auto found = names_.find(file);
    if (found == names_.end()) return;
    if (world_.is_traced()) trace("remove", file);
    used_bytes_ -= files_.at(found->second).cached().size();
    unsynced_names_.push_back(UnsyncedName{next_order_++, NameChange::kRemoved, std::string(file), {}, found->second});
    apply_name(names_, unsynced_names_.back());
}

void Disk::read(std::string_view file, std::uint64_t position, std::uint64_t count, DiskOp op) {
    if (!host_.begin_effect()) return;
    Event done = event_for(EventKind::kDiskRead, op);
    const std::uint64_t request = next_request_++;
    DiskError error = DiskError::kNoSuchFile;
    if (DiskFile* const found = find(file)) {
        const std::uint64_t size = found->cached().size();
        const std::uint64_t from = std::min(position, size);
        error = read_content(file, *found, ByteRange{from, from + std::min(count, size - from)}, done.bytes);
    }
    done.b = request << kReadErrorBits | static_cast<std::uint64_t>(error);
    const EventHandle handle = world_.queue().push(completion_time(config_.read_latency), done);
    queued_.push_back(Queued{request, FileId{0}, handle, std::move(done)});
}

std::vector<std::string> Disk::list() const {
    std::vector<std::string> names;
    for (const auto& [name, file] : names_) names.push_back(name);
    return names;
}

std::vector<FileImage> Disk::boot_image() {
    std::vector<FileImage> image;
    for (const auto& [name, id] : names_) {
        FileImage& found = image.emplace_back(FileImage{name, DiskError::kNone, Bytes()});
        DiskFile& file = files_.at(id);
        found.error = read_content(name, file, ByteRange{0, file.cached().size()}, found.content);
    }
    return image;
}

std::uint64_t Disk::size_of(std::string_view file) const {
    const DiskFile* const found = find(file);
    return found == nullptr ? 0 : found->cached().size();
}

bool Disk::is_sound() const {
    return std::ranges::all_of(files_, [](const auto& file) { return file.second.is_sound(); });
}

Bytes Disk::durable_content(std::string_view file) const {
    const auto found = durable_names_.find(file);
    return found == durable_names_.end() ? Bytes() : Bytes::copy_of(files_.at(found->second).durable());
}

DiskFile* Disk::find(std::string_view file) {
    const auto found = names_.find(file);
    return found == names_.end() ? nullptr : &files_.at(found->second);
}
const DiskFile* Disk::find(std::string_view file) const {
    const auto found = names_.find(file);
    return found == names_.end() ? nullptr : &files_.at(found->second);
}

DiskFile& Disk::open_or_create(std::string_view file) {
    if (DiskFile* const found = find(file)) return *found;
    const FileId id = next_file_++;
    unsynced_names_.push_back(UnsyncedName{next_order_++, NameChange::kCreated, std::string(file), {}, id});
    apply_name(names_, unsynced_names_.back());
    return files_[id];
}

std::string_view Disk::name_of(FileId file) const {
    for (const Names* const names : {&names_, &durable_names_})
        for (const auto& [name, id] : *names)
            if (id == file) return name;
    return {};
}

void Disk::apply_name(Names& names, const UnsyncedName& change) const {
    switch (change.change) {
        case NameChange::kCreated:
            names.insert_or_assign(change.name, change.file);
            return;
        case NameChange::kRenamed:
            if (const auto old = names.find(change.name); old != names.end() && old->second == change.file)
                names.erase(old);
            names.insert_or_assign(change.to, change.file);
            return;
        case NameChange::kRemoved:
            if (const auto old = names.find(change.name); old != names.end() && old->second == change.file)
                names.erase(old);
            return;
    }
}

Event Disk::event_for(EventKind kind, DiskOp op) const {
    return Event{kind, host_.id(), kNoHost, host_.life(), op.value, 0, {}};
}

TimeNs Disk::completion_time(const Distribution& latency, std::uint32_t factor) {
    const Duration takes = latency.draw(latency_) * slow_factor_ * factor;
    if (slow_factor_ != 1 && !std::exchange(slowness_was_counted_, true)) world_.faults().count(FaultKind::kDiskSlow);
    return world_.now() + takes;
}

std::uint32_t Disk::slowness_of(FileId file) const {
    const bool is_slow =
        slow_files_factor_ != 1 && file != 0 && name_of(file).find(slow_files_) != std::string_view::npos;
    return is_slow ? slow_files_factor_ : 1;
}

TimeNs Disk::sync_time(FileId file) {
    const std::uint32_t factor = slowness_of(file);
    if (factor != 1) ++slowed_file_syncs_;
    return completion_time(config_.sync_latency, factor);
}

void Disk::ask_sync(bool is_directory, FileId file, DiskOp op) {
    const Request request{next_request_++, is_directory, file, next_order_ - 1};
    requests_.push_back(request);
    Event done = event_for(EventKind::kDiskSynced, op);
    done.b = request.id;
    const TimeNs at = sync_time(file);
    if (world_.is_traced()) trace("sync", is_directory ? "(names)" : name_of(file));
    queue_in_order(request.id, file, at, std::move(done));
}

void Disk::fail_write(std::string_view file, DiskError error) {
    Event failed = event_for(EventKind::kDiskWriteFailed, DiskOp());
    failed.b = static_cast<std::uint64_t>(error);
    failed.bytes = Bytes::copy_of(file);
    failed.a = next_request_++;
    const auto found = names_.find(file);
    // Before the completion of any sync of the file asked for from now on.
    queue_in_order(failed.a, found == names_.end() ? FileId{0} : found->second, world_.now(), std::move(failed));
}

void Disk::queue_in_order(std::uint64_t number, FileId file, TimeNs at, Event event) {
    const TimeNs in_turn = in_turn_of(file, at);
    const EventHandle handle = world_.queue().push(in_turn, event);
    queued_.push_back(Queued{number, file, handle, std::move(event)});
}

/// What is said about one file is said in the order it was asked for; other files neither wait for it nor overtake.
TimeNs Disk::in_turn_of(FileId file, TimeNs at) {
    if (last_said_at_.size() <= file) last_said_at_.resize(file + 1);
    last_said_at_[file] = std::max(at, last_said_at_[file] + 1);
    return last_said_at_[file];
}

/// The disk is as fast as it ever was: what waits inside it does not take longer than if it were asked for now.
void Disk::hurry_queued() {
    last_said_at_.assign(last_said_at_.size(), world_.now());
    for (Queued& each : queued_) {
        world_.queue().cancel(each.handle);
        TimeNs at = world_.now();
        if (each.event.kind == EventKind::kDiskSynced) at = sync_time(each.file);
        if (each.event.kind == EventKind::kDiskRead)
            at = completion_time(config_.read_latency);  // reads wait for nobody
        else
            at = in_turn_of(each.file, at);
        each.handle = world_.queue().push(at, each.event);
    }
}

void Disk::on_completion(Event& event) {
    forget_queued(request_of(event));
    if (event.kind == EventKind::kDiskRead) event.b &= kReadErrorMask;
    if (!is_stalled_ && held_.empty()) return finish(event);
    if (!std::exchange(stall_was_counted_, true)) world_.faults().count(FaultKind::kDiskStalled);
    held_.push_back(std::move(event));
}

void Disk::forget_queued(std::uint64_t number) {
    const auto found =
        std::find_if(queued_.begin(), queued_.end(), [number](const Queued& each) { return each.number == number; });
    CHECK(found != queued_.end());
    queued_.erase(found);
}

void Disk::finish(Event& event) {
    if (event.kind == EventKind::kDiskSynced && !finish_sync(event)) return;
    if (!host_.is_alive() || event.life != host_.life()) return;
    host_.accept(arrival_of(event));
}

Arrival Disk::arrival_of(Event& event) const {
    const DiskError error = static_cast<DiskError>(event.b);
    if (event.kind == EventKind::kDiskSynced) return DiskSynced{DiskOp(event.a), error};
    if (event.kind == EventKind::kDiskRead) return DiskRead{DiskOp(event.a), error, std::move(event.bytes)};
    return DiskWriteFailed{std::string(event.bytes.text()), error};
}

/// The system carries a sync out even if the process that asked has died; a power loss forgets the request.
bool Disk::finish_sync(Event& event) {
    const auto found = std::find_if(requests_.begin(), requests_.end(),
                                    [&event](const Request& request) { return request.id == event.b; });
    if (found == requests_.end()) return false;
    const Request request = *found;
    requests_.erase(found);
    DiskError error = DiskError::kNone;
    if (request.is_directory) {
        finish_directory_sync(request.order);
    } else if (request.file == 0) {
        error = DiskError::kNoSuchFile;
    } else if (const auto file = files_.find(request.file); file != files_.end()) {
        error = finish_file_sync(file->second, request);
    }
    if (world_.is_traced()) trace("synced", request.is_directory ? "(names)" : name_of(request.file));
    event.b = static_cast<std::uint64_t>(error);
    return true;
}

DiskError Disk::finish_file_sync(DiskFile& file, const Request& request) {
    if (strikes(FaultKind::kSyncFailed)) {
        // The kernel marks the failed pages clean; pages dirtied since the sync was asked may share their fate.
        const bool takes_all = outcome_.chance(kMillion / 2);
        record_all(FaultKind::kSyncFailed, name_of(request.file),
                   file.drop_dirty(takes_all ? UINT64_MAX : request.order));
        return DiskError::kSyncFailed;
    }
    if (strikes(FaultKind::kMisdirectedWrite) && misdirect_write(file, request)) return DiskError::kNone;
    file.make_durable(request.order);
    return DiskError::kNone;
}

void Disk::finish_directory_sync(std::uint64_t order) {
    std::size_t count = 0;
    while (count < unsynced_names_.size() && unsynced_names_[count].order <= order)
        apply_name(durable_names_, unsynced_names_[count++]);
    unsynced_names_.erase(unsynced_names_.begin(), unsynced_names_.begin() + static_cast<std::ptrdiff_t>(count));
    drop_unnamed_files();
}

void Disk::drop_unnamed_files() {
    std::vector<FileId> named;
    for (const Names* const names : {&names_, &durable_names_})
        for (const auto& [name, id] : *names) named.push_back(id);
    for (const UnsyncedName& change : unsynced_names_) named.push_back(change.file);
    std::sort(named.begin(), named.end());
    std::erase_if(files_,
                  [&named](const auto& file) { return !std::binary_search(named.begin(), named.end(), file.first); });
}

void Disk::recount_used_bytes() {
    used_bytes_ = 0;
    for (const auto& [name, id] : names_) used_bytes_ += files_.at(id).cached().size();
}

void Disk::on_process_start() {
    for (auto& [id, file] : files_) file.evict_cache();
    recount_used_bytes();
}

void Disk::trace(std::string_view what, std::string_view file) {
    std::string text(what);
    text += ' ';
    text += file;
    world_.note(host_.id(), TraceKind::kDisk, text);
}

}  // namespace tidelock::sim
