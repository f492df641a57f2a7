/// A disk for tests: remembers what is durable and what is not, and can crash in every way the contract of files.h
/// allows. Unsynced writes survive a power loss in any subset of 512-byte sectors, unsynced truncations and name
/// changes or not; a failed sync loses some of what it should have covered, for good, while reads may still see it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/storage/files.h"

namespace tidelock::storage {

/// splitmix64: the tests' only source of chance.
class TestDice {
  public:
    explicit TestDice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ += 0x9E37'79B9'7F4A'7C15ULL;
        std::uint64_t x = state_;
        x = (x ^ (x >> 30U)) * 0xBF58'476D'1CE4'E5B9ULL;
        x = (x ^ (x >> 27U)) * 0x94D0'49BB'1331'11EBULL;
        return x ^ (x >> 31U);
    }
    std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : next() % end; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

  private:
    std::uint64_t state_;
};

class FileModel {
  public:
    explicit FileModel(std::uint64_t seed) : dice_(seed) {}

    /// Carries effects out; completions wait until they are taken.
    void carry_out(const std::vector<FileEffect>& effects);
    [[nodiscard]] bool has_completion() const { return !completions_.empty(); }
    /// One completion: of any file, but in order for one file.
    FileEvent take_completion();

    /// The next sync that completes fails.
    void fail_next_sync() { ++syncs_to_fail_; }
    /// The next write fails.
    void fail_next_write(WriteFailure reason) { next_write_failure_ = reason; }

    /// Everything unsynced is resolved at random, in-flight operations are gone. What is left is the new disk.
    void lose_power();
    /// The process died: its operations in flight are gone, the kernel keeps what was written.
    void kill();
    /// What the process would read now.
    [[nodiscard]] DirectoryImage image() const;

    /// Flips a bit of a file, on disk and in memory.
    void flip(const std::string& name, std::size_t byte, unsigned bit);
    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] std::size_t size_of(const std::string& name) const;
    void set_content(const std::string& name, const Bytes& content);
    void remove(const std::string& name);

  private:
    using Content = std::vector<std::byte>;
    struct Change {
        bool is_write = false;
        std::uint64_t position = 0;  // or the new size
        Bytes bytes;
    };
    struct Inode {
        Content cached;
        Content durable;
        std::vector<Change> unsynced;
    };
    using Names = std::map<std::string, std::shared_ptr<Inode>>;
    struct Completion {
        std::string name;  // empty for the directory
        std::shared_ptr<Inode> inode;
        std::size_t covered_changes = 0;  // of the inode's unsynced, for a sync
        Names covered_names;
        FileEvent event = FileSynced{};
        bool is_sync = false;
    };

    static void apply(const Change& change, Content& content);
    void apply_some(const Change& change, Content& content);
    Inode& open(const std::string& name);
    void do_write(const WriteFile& write);
    void do_read(const ReadFile& read);
    void complete_sync(Completion& completion);
    void drop_in_flight() { completions_.clear(); }

    TestDice dice_;
    Names cached_names_;
    Names durable_names_;
    std::deque<Completion> completions_;
    int syncs_to_fail_ = 0;
    std::optional<WriteFailure> next_write_failure_;
};

}  // namespace tidelock::storage
