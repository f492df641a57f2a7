/// The broker's files on a real file system: carries out what the core asks of its data directory and reports back, by
/// the contract of protocol/storage/files.h.
///
/// Writes, truncations, renames and removals are made at once, in the order given; they end in the page cache. Syncs
/// and reads that would wait for the device go to threads of their own, so the loop never waits for a disk: a sync
/// covers what was written before it was asked for, as the write was made before the thread began. Results come back by
/// `post`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "protocol/base/time.h"
#include "protocol/storage/files.h"

namespace tidelock::tidelockd {

/// What the disk has done, for metrics.
struct FileCounters {
    std::uint64_t syncs = 0;
    std::uint64_t sync_ns = 0;
    std::uint64_t sync_ns_max = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t failures = 0;
    std::uint64_t shortages = 0;  // a file could not be opened for want of descriptors or memory, and was waited for
};

class FileEngine {
  public:
    /// Called on any thread: hands an event to the loop.
    using Post = std::function<void(storage::FileEvent)>;
    /// `directory` is an open descriptor, borrowed.
    FileEngine(int directory, Post post);
    FileEngine(const FileEngine&) = delete;
    FileEngine& operator=(const FileEngine&) = delete;
    /// Ends the threads; what was asked for and not begun is dropped, as at a crash.
    ~FileEngine();

    /// On the loop's thread only.
    void carry_out(const storage::FileEffect& effect);
    [[nodiscard]] FileCounters counters() const;

  private:
    class OpenFile;
    using FilePtr = std::shared_ptr<OpenFile>;
    using Job = std::function<void()>;
    /// Jobs of one kind, and the threads that wait for them: nobody else is woken.
    struct Queue {
        std::deque<Job> jobs;
        std::condition_variable wake;
    };

    void write(const storage::WriteFile& effect);
    void truncate(const storage::TruncateFile& effect);
    void sync(const storage::SyncFile& effect);
    void sync_directory(const storage::SyncDirectory& effect);
    void rename(const storage::RenameFile& effect);
    void remove(const storage::RemoveFile& effect);
    void read(const storage::ReadFile& effect);

    /// Null: it cannot be opened, and errno says why.
    FilePtr open(const storage::FileName& name, bool creates);
    void close_idle(std::size_t kept);
    int open_descriptor(const std::string& path, bool creates);
    void read_when_possible(const storage::ReadFile& effect);
    /// The folder of this file has to be synced with the directory.
    void note_name_changed(const std::string& path);
    [[nodiscard]] bool sync_folders(const std::set<std::string>& folders) const;
    void fail_write(const storage::FileName& name, int error);
    void enqueue(Queue& queue, Job job);
    void work(Queue& queue);

    int directory_;
    Post post_;
    std::map<storage::FileName, FilePtr> open_;  // least recently used are closed first
    std::uint64_t uses_ = 0;

    mutable std::mutex mutex_;
    Queue syncs_;
    Queue directory_syncs_;
    Queue reads_;
    FileCounters counters_;
    std::set<std::string> changed_folders_;  // since they were synced; the data directory itself aside
    bool is_ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace tidelock::tidelockd
