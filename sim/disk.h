/// A host's disk: named files behind a page cache. Writes land in the cache at once and say nothing unless they fail; a
/// sync makes what was written before it durable, syncs of different files in any order; names become durable by a
/// directory sync. A process crash keeps the
/// cache, a power loss resolves it by the fault model. File names are flat strings: one directory sync covers them all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/arrival.h"
#include "sim/disk_file.h"
#include "sim/distribution.h"
#include "sim/event_queue.h"
#include "sim/faults.h"

namespace tidelock::sim {

class Host;
class World;

struct DiskConfig {
    Distribution sync_latency = Distribution::long_tail(microseconds(100), microseconds(400), milliseconds(100));
    Distribution read_latency = Distribution::long_tail(microseconds(20), microseconds(80), milliseconds(20));
    std::uint64_t capacity_bytes = UINT64_MAX;
};

/// A file as a booting process finds it. With an error the content is unknown.
struct FileImage {
    std::string name;
    DiskError error = DiskError::kNone;
    Bytes content;
    bool operator==(const FileImage&) const = default;
};

/// The durable bytes at the ends of files whose names begin and end so.
struct RecentBytes {
    std::string_view prefix;
    std::string_view suffix;
    std::size_t bytes = 0;
};

class Disk {
  public:
    Disk(World& world, Host& host, const DiskConfig& config, std::uint64_t seed);

    // Operations of the host's own code. They do nothing when a dead life asks.
    /// Overwrites or extends; makes the file if there is none; a gap before `position` reads as zeros. On a full disk
    /// the part that fits is written and DiskWriteFailed arrives; it arrives as well, and nothing is written, when
    /// write_error strikes. What is synced afterwards says nothing of it.
    void write(std::string_view file, std::uint64_t position, Bytes content);
    /// Cuts the file, or extends it with zeros; makes it if there is none.
    void truncate(std::string_view file, std::uint64_t size);
    /// DiskSynced{op} follows: everything written to the file before this call is durable, or the error says why not
    /// (kNoSuchFile, or kSyncFailed: then the unsynced pages are dropped and a later sync will not bring them back).
    void sync(std::string_view file, DiskOp op);
    /// DiskSynced{op} follows: the names as they are now are durable.
    void sync_directory(DiskOp op);
    /// Replaces `to`. Nothing happens if there is no `from`.
    void rename(std::string_view from, std::string_view to);
    /// Nothing happens if there is no such file.
    void remove(std::string_view file);
    /// DiskRead{op} follows, with the content as it is now: at most `count` bytes.
    void read(std::string_view file, std::uint64_t position, std::uint64_t count, DiskOp op);
    /// Names of all files, sorted.
    [[nodiscard]] std::vector<std::string> list() const;
    /// All files as a booting process reads them, sorted by name. Read errors and rot apply.
    std::vector<FileImage> boot_image();
    [[nodiscard]] bool has_file(std::string_view file) const { return names_.find(file) != names_.end(); }
    [[nodiscard]] std::uint64_t size_of(std::string_view file) const;
    [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }

    // Faults made to measure; each goes through the damage gate where it harms synced data, and says whether it bit.
    bool rot_bit(std::string_view file, std::uint64_t position, std::uint32_t bit);
    /// A random bit of the durable content of a random file whose name starts with `prefix`.
    bool rot_random(Rng& rng, std::string_view prefix = {});
    /// A bit of what was written last, padding aside, to the last of these files by name.
    bool rot_recent(Rng& rng, const RecentBytes& of);
    /// Lasting read error, until overwritten.
    bool make_unreadable(std::string_view file, ByteRange range);
    /// The same of a random sector of a random file whose name contains `part`.
    bool lose_random_sector(Rng& rng, std::string_view part = {});
    /// All files gone. For a host that is down.
    bool empty();
    void set_capacity(std::uint64_t bytes) { capacity_bytes_ = bytes; }
    /// Latencies times `factor` (1: normal again).
    void slow_down(std::uint32_t factor);
    /// Syncs of files whose names contain `part` take `factor` times as long, those of others do not (1: normal again).
    void slow_down_files(std::string_view part, std::uint32_t factor);
    /// How many syncs slow_down_files() has made slow so far.
    [[nodiscard]] std::uint64_t slowed_file_syncs() const { return slowed_file_syncs_; }
    /// No completion leaves the disk until `release`.
    void stall();
    void release();
    /// It is stalled, and somebody waits for it.
    [[nodiscard]] bool holds_something() const { return is_stalled_ && !held_.empty(); }
    /// Capacity as configured, full speed, nothing held. Damage stays.
    void restore_all();
    /// The medium as it is, for tests and for whoever keeps an atlas: durable content; empty if the name is not
    /// durable.
    [[nodiscard]] Bytes durable_content(std::string_view file) const;

    /// Every file, named now or named durably, is_sound().
    [[nodiscard]] bool is_sound() const;

    // Called by the world.
    void on_completion(Event& event);
    void on_process_start();
    void on_power_loss();
    void reseed(std::uint64_t seed);

  private:
    using FileId = std::uint32_t;
    using Names = std::map<std::string, FileId, std::less<>>;
    enum class NameChange : std::uint8_t { kCreated, kRenamed, kRemoved };
    struct UnsyncedName {
        std::uint64_t order;
        NameChange change;
        std::string name;  // of a rename: the old one
        std::string to;    // renames only
        FileId file;
    };
    /// A completion in the world's queue, and what it says.
    struct Queued {
        std::uint64_t number;  // as requests are numbered
        FileId file;           // 0: the names
        EventHandle handle;
        Event event;
    };
    struct Request {
        std::uint64_t id;
        bool is_directory;
        FileId file;
        std::uint64_t order;  // covers everything up to here
    };

    [[nodiscard]] DiskFile* find(std::string_view file);
    [[nodiscard]] const DiskFile* find(std::string_view file) const;
    DiskFile& open_or_create(std::string_view file);
    [[nodiscard]] std::string_view name_of(FileId file) const;
    void drop_unnamed_files();
    void recount_used_bytes();
    // Requests
    Event event_for(EventKind kind, DiskOp op) const;
    TimeNs completion_time(const Distribution& latency, std::uint32_t factor = 1);
    [[nodiscard]] std::uint32_t slowness_of(FileId file) const;
    TimeNs sync_time(FileId file);
    void ask_sync(bool is_directory, FileId file, DiskOp op);
    void queue_in_order(std::uint64_t number, FileId file, TimeNs at, Event event);
    TimeNs in_turn_of(FileId file, TimeNs at);
    void forget_queued(std::uint64_t number);
    void hurry_queued();
    void fail_write(std::string_view file, DiskError error);
    void finish(Event& event);
    void release_held();
    bool finish_sync(Event& event);
    DiskError finish_file_sync(DiskFile& file, const Request& request);
    void finish_directory_sync(std::uint64_t order);
    Arrival arrival_of(Event& event) const;
    // Faults
    [[nodiscard]] bool strikes(FaultKind kind);
    bool misdirect_write(DiskFile& file, const Request& request);
    /// Another place for `range` in a file of `size` bytes, sectors away; empty if the file is too short.
    std::optional<std::uint64_t> misplaced(ByteRange range, std::uint64_t size);
    DiskError read_content(std::string_view name, DiskFile& file, ByteRange range, Bytes& content);
    void apply_name(Names& names, const UnsyncedName& change) const;
    void lose_names();
    void lose_writes(FileId id, DiskFile& file);
    [[nodiscard]] Damage damage(FaultKind kind, std::string_view file, ByteRange range) const;
    void record_all(FaultKind kind, std::string_view file, const std::vector<ByteRange>& ranges);
    void trace(std::string_view what, std::string_view file);

    World& world_;
    Host& host_;
    DiskConfig config_;
    Names names_;
    Names durable_names_;
    std::map<FileId, DiskFile> files_;
    std::vector<UnsyncedName> unsynced_names_;  // by order
    std::vector<Request> requests_;
    std::vector<Queued> queued_;  // completions on their way, in the order they were asked for
    std::vector<Event> held_;
    Rng latency_;
    Rng outcome_;
    std::uint64_t fault_key_;
    std::uint64_t fault_number_ = 0;
    std::uint64_t writes_asked_ = 0;
    std::uint64_t capacity_bytes_;
    std::uint64_t used_bytes_ = 0;
    std::uint64_t next_order_ = 1;
    std::uint64_t next_request_ = 1;
    FileId next_file_ = 1;
    std::vector<TimeNs> last_said_at_;  // by FileId: syncs of one file finish in the order they were asked for
    std::uint32_t slow_factor_ = 1;
    std::string slow_files_;  // a part of their names
    std::uint32_t slow_files_factor_ = 1;
    std::uint64_t slowed_file_syncs_ = 0;
    bool is_stalled_ = false;
    bool slowness_was_counted_ = false;
    bool stall_was_counted_ = false;
};

}  // namespace tidelock::sim
