#include "tools/tidelockd/file_engine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "protocol/storage/segment_log.h"

namespace tidelock::tidelockd {
namespace {

constexpr std::size_t kOpenFilesMax = 512;
constexpr int kSyncThreads = 4;  // files that are synced side by side: journal, segments, Raft
constexpr int kReadThreads = 2;
constexpr auto kShortagePause = std::chrono::milliseconds(20);

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

/// What passes by itself, and says nothing about the disk.
bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

bool is_index(const storage::FileName& name) {
    const auto file = storage::parse_partition_file(name.text());
    return file && file->kind == storage::PartitionFileKind::kIndex;
}

/// In the data directory itself: state files and the journal, a handful.
bool is_top_level(const storage::FileName& name) {
    return name.text().find('/') == std::string_view::npos;
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
    bool is_dirty = false;      // written since a sync was asked for; the loop's alone
    bool is_read_only = false;  // as the file system is, or was
    std::mutex syncing;         // one at a time: an error is told to one of them only

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
    // Nobody syncs an index: recovery does without. Its descriptor would stay for as long as its segment.
    if (is_index(effect.name)) open_.erase(effect.name);
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
    if (!file && is_shortage(errno)) return read_when_possible(effect);
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

/// Too few descriptors are no fault of the disk: whoever asks waits, as for a slow one.
void FileEngine::read_when_possible(const storage::ReadFile& effect) {
    enqueue(reads_, [this, effect] {
        const std::string path(effect.name.text());
        int descriptor = -1;
        while ((descriptor = ::openat(directory_, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) < 0 &&
               is_shortage(errno)) {
            {
                const std::lock_guard lock(mutex_);
                if (is_ending_) return;
                ++counters_.shortages;
            }
            std::this_thread::sleep_for(kShortagePause);
        }
        if (descriptor < 0) {
            const auto error = errno == ENOENT ? storage::ReadError::kMissing : storage::ReadError::kIo;
            return post_(storage::FileReadDone{effect.op, Failure<storage::ReadError>(error)});
        }
        std::vector<std::byte> content(static_cast<std::size_t>(effect.length));
        const ssize_t count = read_at(descriptor, content, effect.position, 0);
        ::close(descriptor);
        {
            const std::lock_guard lock(mutex_);
            if (count < 0) ++counters_.failures;
            if (count > 0) counters_.bytes_read += static_cast<std::uint64_t>(count);
        }
        if (count < 0)
            return post_(storage::FileReadDone{effect.op, Failure<storage::ReadError>(storage::ReadError::kIo)});
        post_(storage::FileReadDone{effect.op,
                                    Bytes::copy_of(std::span(content).first(static_cast<std::size_t>(count)))});
    });
}

/// -1: it cannot be opened, and errno says why. With too few descriptors those that nobody uses are given up first.
int FileEngine::open_descriptor(const std::string& path, bool creates) {
    const int flags = O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0);
    int descriptor = ::openat(directory_, path.c_str(), O_RDWR | flags, 0644);
    if (descriptor < 0 && is_shortage(errno)) {
        close_idle(0);
        descriptor = ::openat(directory_, path.c_str(), O_RDWR | flags, 0644);
    }
    // What the kernel mounted read-only anew, after errors, reads well still.
    const bool may_be_read = descriptor < 0 && !creates && (errno == EROFS || errno == EACCES);
    return may_be_read ? ::openat(directory_, path.c_str(), O_RDONLY | flags) : descriptor;
}

FileEngine::FilePtr FileEngine::open(const storage::FileName& name, bool creates) {
    const auto at = open_.find(name);
    if (at != open_.end() && !(creates && at->second->is_read_only)) {
        at->second->last_use = ++uses_;
        return at->second;
    }
    if (at != open_.end()) open_.erase(at);  // the file system may take writes again
    const std::string path(name.text());
    if (creates && ::faccessat(directory_, path.c_str(), F_OK, 0) != 0) note_name_changed(path);
    int descriptor = open_descriptor(path, creates);
    const std::size_t slash = path.find('/');
    if (descriptor < 0 && errno == ENOENT && creates && slash != std::string::npos) {
        if (::mkdirat(directory_, path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) return nullptr;
        descriptor = open_descriptor(path, creates);
    }
    if (descriptor < 0) return nullptr;
    if (open_.size() >= kOpenFilesMax) close_idle(kOpenFilesMax / 2);
    FilePtr file = std::make_shared<OpenFile>(descriptor);
    file->is_read_only = (::fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY;
    file->last_use = ++uses_;
    open_.emplace(name, file);
    return file;
}

/// A file that is closed and opened again may miss that the kernel failed to write it: the error goes to descriptors
/// that were open then. So only files with nothing unsynced go; with more than that in use the table grows. The state
/// of the broker has to be writable whatever runs short: its few files stay open.
void FileEngine::close_idle(std::size_t kept) {
    std::vector<std::uint64_t> uses;
    const auto is_idle = [](const auto& each) {
        return each.second.use_count() == 1 && !each.second->is_dirty && !is_top_level(each.first);
    };
    for (const auto& each : open_)
        if (is_idle(each)) uses.push_back(each.second->last_use);
    if (uses.size() <= kept) return;
    const auto last = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() - kept - 1);
    std::nth_element(uses.begin(), last, uses.end());
    std::erase_if(open_, [&, closed_to = *last](const auto& each) {
        return is_idle(each) && each.second->last_use <= closed_to;
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
        {
            // Gone before the lock is taken again: with it may go the last descriptor of a large file.
            const Job job = std::move(queue.jobs.front());
            queue.jobs.pop_front();
            lock.unlock();
            job();
        }
        lock.lock();
    }
}

}  // namespace tidelock::tidelockd
