#include "tools/tidelockd/file_engine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace tidelock::tidelockd {
namespace {

constexpr std::size_t kOpenFilesMax = 512;
constexpr int kSyncThreads = 4;  // files that are synced side by side: journal, segments, Raft
constexpr int kReadThreads = 2;

/// Writes all of it; 0 or an errno.
int write_all(int file, std::span<const std::byte> content, std::uint64_t position) {
    while (!content.empty()) {
        const ssize_t count = ::pwrite(file, content.data(), content.size(), static_cast<off_t>(position));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        content = content.subspan(static_cast<std::size_t>(count));
        position += static_cast<std::uint64_t>(count);
    }
    return 0;
}

/// Reads until `length` or the end of the file; how much, or a negative errno. `flags` as preadv2 takes them.
ssize_t read_at(int file, std::span<std::byte> into, std::uint64_t position, int flags) {
    std::size_t done = 0;
    while (done < into.size()) {
        iovec part{into.data() + done, into.size() - done};
        const ssize_t count = ::preadv2(file, &part, 1, static_cast<off_t>(position + done), flags);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(done);
}

storage::WriteFailure failure_of(int error) {
    const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return is_full ? storage::WriteFailure::kFull : storage::WriteFailure::kError;
}

}  // namespace

/// A descriptor, shared by the loop and whoever syncs or reads the file right now.
class FileEngine::OpenFile {
  public:
    explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() { ::close(descriptor_); }

    [[nodiscard]] int descriptor() const { return descriptor_; }
    std::uint64_t last_use = 0;
    bool is_dirty = false;  // written since a sync was asked for; the loop's alone
    std::mutex syncing;     // one at a time: an error is told to one of them only

  private:
    int descriptor_;
};

FileEngine::FileEngine(int directory, Post post) : directory_(directory), post_(std::move(post)) {
    for (int i = 0; i < kSyncThreads; ++i) threads_.emplace_back([this] { work(syncs_); });
    threads_.emplace_back([this] { work(directory_syncs_); });
    for (int i = 0; i < kReadThreads; ++i) threads_.emplace_back([this] { work(reads_); });
}

FileEngine::~FileEngine() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    for (Queue* queue : {&syncs_, &directory_syncs_, &reads_}) queue->wake.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void FileEngine::carry_out(const storage::FileEffect& effect) {
    struct Route {
        FileEngine& self;
        void operator()(const storage::WriteFile& e) const { self.write(e); }
        void operator()(const storage::TruncateFile& e) const { self.truncate(e); }
        void operator()(const storage::SyncFile& e) const { self.sync(e); }
        void operator()(const storage::SyncDirectory& e) const { self.sync_directory(e); }
        void operator()(const storage::RenameFile& e) const { self.rename(e); }
        void operator()(const storage::RemoveFile& e) const { self.remove(e); }
        void operator()(const storage::ReadFile& e) const { self.read(e); }
    };
    std::visit(Route{*this}, effect);
}

FileCounters FileEngine::counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
}

void FileEngine::write(const storage::WriteFile& effect) {
    const FilePtr file = open(effect.name, true);
    if (!file) return fail_write(effect.name, errno);
    file->is_dirty = true;
    const int error = write_all(file->descriptor(), effect.content.span(), effect.position);
    if (error != 0) return fail_write(effect.name, error);
    const std::lock_guard lock(mutex_);
    counters_.bytes_written += effect.content.size();
}

void FileEngine::truncate(const storage::TruncateFile& effect) {
    const FilePtr file = open(effect.name, true);
    if (file) file->is_dirty = true;
    if (!file || ::ftruncate(file->descriptor(), static_cast<off_t>(effect.size)) != 0) fail_write(effect.name, errno);
}

void FileEngine::sync(const storage::SyncFile& effect) {
    // The descriptor that wrote is the one that hears of a write that the device refused.
    const FilePtr file = open(effect.name, false);
    if (!file) return post_(storage::FileSynced{effect.op, false});
    file->is_dirty = false;
    enqueue(syncs_, [this, file, op = effect.op] {
        const auto begun = std::chrono::steady_clock::now();
        const std::lock_guard alone(file->syncing);
        const bool ok = ::fdatasync(file->descriptor()) == 0;
        const auto took = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begun).count());
        {
            const std::lock_guard lock(mutex_);
            ++counters_.syncs;
            counters_.sync_ns += took;
            counters_.sync_ns_max = std::max(counters_.sync_ns_max, took);
            if (!ok) ++counters_.failures;
        }
        post_(storage::FileSynced{op, ok});
    });
}

void FileEngine::sync_directory(const storage::SyncDirectory& effect) {
    // One after the other: each covers all names that changed before it was asked for, also those that the one before
    // it has taken on.
    enqueue(directory_syncs_, [this, op = effect.op] {
        std::set<std::string> folders;
        {
            const std::lock_guard lock(mutex_);
            folders.swap(changed_folders_);
        }
        const bool ok = sync_folders(folders) && ::fsync(directory_) == 0;
        if (!ok) {  // the next time they are tried again
            const std::lock_guard lock(mutex_);
            changed_folders_.insert(folders.begin(), folders.end());
        }
        post_(storage::FileSynced{op, ok});
    });
}

bool FileEngine::sync_folders(const std::set<std::string>& folders) const {
    for (const std::string& folder : folders) {
        const int opened = ::openat(directory_, folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (opened < 0 && errno == ENOENT) continue;  // gone with its files: the data directory's own sync says so
        if (opened < 0) return false;
        const bool ok = ::fsync(opened) == 0;
        ::close(opened);
        if (!ok) return false;
    }
    return true;
}

void FileEngine::note_name_changed(const std::string& path) {
    const std::size_t slash = path.find('/');
    if (slash == std::string::npos) return;
    const std::lock_guard lock(mutex_);
    changed_folders_.insert(path.substr(0, slash));
}

void FileEngine::rename(const storage::RenameFile& effect) {
    const std::string from(effect.from.text());
    const std::string to(effect.to.text());
    if (::renameat(directory_, from.c_str(), directory_, to.c_str()) != 0) return fail_write(effect.to, errno);
    note_name_changed(from);
    note_name_changed(to);
    open_.erase(effect.to);
    const auto at = open_.find(effect.from);
    if (at == open_.end()) return;
    FilePtr file = std::move(at->second);
    open_.erase(at);
    open_.emplace(effect.to, std::move(file));
}

void FileEngine::remove(const storage::RemoveFile& effect) {
    const std::string name(effect.name.text());
    open_.erase(effect.name);
    if (::unlinkat(directory_, name.c_str(), 0) != 0 && errno != ENOENT) return fail_write(effect.name, errno);
    note_name_changed(name);
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos) ::unlinkat(directory_, name.substr(0, slash).c_str(), AT_REMOVEDIR);
}

void FileEngine::read(const storage::ReadFile& effect) {
    const FilePtr file = open(effect.name, false);
    if (!file) {
        const auto error = errno == ENOENT ? storage::ReadError::kMissing : storage::ReadError::kIo;
        return post_(storage::FileReadDone{effect.op, Failure<storage::ReadError>(error)});
    }
    const auto length = static_cast<std::size_t>(effect.length);
    // What the page cache holds needs no thread.
    std::vector<std::byte> cached(length);
    const ssize_t quick = read_at(file->descriptor(), cached, effect.position, RWF_NOWAIT);
    if (quick == static_cast<ssize_t>(length)) {
        post_(storage::FileReadDone{effect.op, Bytes::copy_of(cached)});
        const std::lock_guard lock(mutex_);
        counters_.bytes_read += length;
        return;
    }
    enqueue(reads_, [this, file, op = effect.op, position = effect.position, length] {
        std::vector<std::byte> content(length);
        const ssize_t count = read_at(file->descriptor(), content, position, 0);
        {
            const std::lock_guard lock(mutex_);
            if (count < 0) ++counters_.failures;
            if (count > 0) counters_.bytes_read += static_cast<std::uint64_t>(count);
        }
        if (count < 0) return post_(storage::FileReadDone{op, Failure<storage::ReadError>(storage::ReadError::kIo)});
        post_(storage::FileReadDone{op, Bytes::copy_of(std::span(content).first(static_cast<std::size_t>(count)))});
    });
}

FileEngine::FilePtr FileEngine::open(const storage::FileName& name, bool creates) {
    const auto at = open_.find(name);
    if (at != open_.end()) {
        at->second->last_use = ++uses_;
        return at->second;
    }
    const std::string path(name.text());
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0);
    if (creates && ::faccessat(directory_, path.c_str(), F_OK, 0) != 0) note_name_changed(path);
    int descriptor = ::openat(directory_, path.c_str(), flags, 0644);
    const std::size_t slash = path.find('/');
    if (descriptor < 0 && errno == ENOENT && creates && slash != std::string::npos) {
        if (::mkdirat(directory_, path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) return nullptr;
        descriptor = ::openat(directory_, path.c_str(), flags, 0644);
    }
    if (descriptor < 0) return nullptr;
    if (open_.size() >= kOpenFilesMax) close_idle();
    FilePtr file = std::make_shared<OpenFile>(descriptor);
    file->last_use = ++uses_;
    open_.emplace(name, file);
    return file;
}

/// A file that is closed and opened again may miss that the kernel failed to write it: the error goes to descriptors
/// that were open then. So only files with nothing unsynced go; with more than that in use the table grows.
void FileEngine::close_idle() {
    std::vector<std::uint64_t> uses;
    for (const auto& [name, file] : open_)
        if (file.use_count() == 1 && !file->is_dirty) uses.push_back(file->last_use);
    if (uses.empty()) return;
    const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
    std::nth_element(uses.begin(), middle, uses.end());
    std::erase_if(open_, [last_kept = *middle](const auto& each) {
        return each.second.use_count() == 1 && !each.second->is_dirty && each.second->last_use <= last_kept;
    });
}

void FileEngine::fail_write(const storage::FileName& name, int error) {
    {
        const std::lock_guard lock(mutex_);
        ++counters_.failures;
    }
    post_(storage::WriteFailed{name, failure_of(error)});
}

void FileEngine::enqueue(Queue& queue, Job job) {
    {
        const std::lock_guard lock(mutex_);
        queue.jobs.push_back(std::move(job));
    }
    queue.wake.notify_one();
}

void FileEngine::work(Queue& queue) {
    std::unique_lock lock(mutex_);
    for (;;) {
        queue.wake.wait(lock, [&] { return is_ending_ || !queue.jobs.empty(); });
        if (is_ending_) return;
        const Job job = std::move(queue.jobs.front());
        queue.jobs.pop_front();
        lock.unlock();
        job();
        lock.lock();
    }
}

}  // namespace tidelock::tidelockd
