/// A small file that is replaced as a whole and must survive anything a crash can do: two copies, `<name>.a` and
/// `<name>.b`, with the same content and a sequence number. A write goes to one copy, is synced, then to the other; it
/// is durable only after both. So at every instant one copy is whole, and one rotten copy costs nothing.
///
/// Invariant: a copy is emptied and written anew only while the other one holds, synced, the latest durable content;
/// and the second copy comes into being only when the first one, its name included, is durable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/storage/files.h"

namespace tidelock::storage {

/// Counts the writes of one state file; 0 means never written.
using StateSequence = Tagged<struct StateSequenceTag, std::uint64_t>;

inline constexpr std::uint32_t kStateContentBytesMax = 256U << 20U;

/// What a step changed, for the owner to act on.
enum class StateFileOutcome : std::uint8_t {
    kNothing,  // an event for somebody else, or no news yet
    kDurable,  // durable_sequence() went up: promises resting on it may leave now
    kFull,     // the disk is full: nothing moves until resume()
    kFailed,   // the copies could not be written kStateAttemptsMax times in a row: no promise can be kept
};
inline constexpr int kStateAttemptsMax = 16;

enum class StateCopy : std::uint8_t { kA, kB };

struct StateFileRecovery;

class StateFile {
  public:
    /// A state file that does not exist yet. `name` without the copy's suffix.
    StateFile(FileName name, FileOwner owner) : name_(name), owner_(owner) {}

    /// Asks for `content` to become the file's content; returns the number under which it will be durable. A write that
    /// is asked for while another is in flight replaces any earlier one still waiting.
    StateSequence write(Bytes content, std::vector<FileEffect>& effects);
    /// Takes a completion; ignores those of other owners.
    StateFileOutcome step(const FileEvent& event, std::vector<FileEffect>& effects);
    /// Makes a recovered content durable in both copies. Outcome kDurable follows. Begins by itself at the first write.
    void start_repair(std::vector<FileEffect>& effects);
    /// Tries again after kFull or kFailed.
    void resume(std::vector<FileEffect>& effects);

    /// Every write up to this one is durable in both copies.
    [[nodiscard]] StateSequence durable_sequence() const { return durable_; }
    /// The latest write that was asked for.
    [[nodiscard]] StateSequence requested_sequence() const { return requested_; }
    [[nodiscard]] bool is_writing() const { return stage_ != Stage::kIdle; }
    [[nodiscard]] const FileName& name() const { return name_; }
    /// Whether `file` is one of the two copies.
    [[nodiscard]] bool owns(const FileName& file) const;
    [[nodiscard]] FileName copy_name(StateCopy copy) const;
    void fold(Digest& digest) const;
    bool operator==(const StateFile&) const = default;

  private:
    friend StateFileRecovery recover_state_file(const DirectoryImage& image, FileName name, FileOwner owner);

    enum class Stage : std::uint8_t { kIdle, kFirstCopy, kFirstName, kSecondCopy, kSecondName, kBlocked, kFailed };

    void begin(StateSequence sequence, const Bytes& content, std::vector<FileEffect>& effects);
    void begin_next(std::vector<FileEffect>& effects);
    void enter(Stage stage, std::vector<FileEffect>& effects);
    void write_copy(StateCopy copy, std::vector<FileEffect>& effects);
    StateFileOutcome advance(std::vector<FileEffect>& effects);
    StateFileOutcome retry(std::vector<FileEffect>& effects);
    StateFileOutcome complete(std::vector<FileEffect>& effects);
    StateFileOutcome on_synced(const FileSynced& synced, std::vector<FileEffect>& effects);
    StateFileOutcome on_write_failed(const WriteFailed& failed);

    FileName name_;
    FileOwner owner_;
    Stage stage_ = Stage::kIdle;
    Stage blocked_stage_ = Stage::kIdle;
    StateCopy first_copy_ = StateCopy::kA;  // the copy that is written first
    bool is_name_durable_ = false;
    bool is_write_failed_ = false;
    int attempts_ = 0;
    std::uint64_t next_op_ = 1;
    FileOpId waiting_for_;
    StateSequence durable_;
    StateSequence requested_;
    StateSequence writing_;
    StateSequence recovered_;
    Bytes writing_content_;                // encoded copy
    std::optional<Bytes> repair_content_;  // found by recovery, to be made durable before anything else is written
    std::optional<Bytes> next_content_;
};

enum class StateFileCondition : std::uint8_t {
    kAbsent,  // never written, or its first write never became durable
    kValue,
    kDamaged,  // it was written once, and no copy can be read back
};

struct StateFileRecovery {
    StateFileCondition condition = StateFileCondition::kAbsent;
    /// Empty unless kValue. May be newer than what was promised; promise nothing on it before file.durable_sequence()
    /// has reached `sequence` (start_repair sees to it).
    Bytes content;
    StateSequence sequence;
    StateFile file;
};

StateFileRecovery recover_state_file(const DirectoryImage& image, FileName name, FileOwner owner);

/// One copy's bytes, and back. The CRC covers `name` (without the copy's suffix) too, so that a copy of another state
/// file that landed here never passes. Total; `content` shares storage with `bytes`.
struct StateFileContent {
    StateSequence sequence;
    Bytes content;
    bool operator==(const StateFileContent&) const = default;
};
Bytes encode_state_copy(const FileName& name, const StateFileContent& copy);
Result<StateFileContent, DecodeError> decode_state_copy(const FileName& name, const Bytes& bytes);

}  // namespace tidelock::storage
