/// Scripted stories: one schedule told line by line, for the cases that have a name. `stories/README.md` lists the
/// lines.
///
/// A script is parsed as a whole before anything runs; errors name file and line. While it runs the invariants are
/// looked at after every line; at the end everything is healed and has to converge, unless the story expects a
/// violation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/base/result.h"
#include "protocol/base/time.h"
#include "scenarios/scenario.h"
#include "scenarios/schedule.h"

namespace tidelock::scenarios {

enum class Verb : std::uint8_t {
    kSet,
    kSeed,
    kCluster,
    kStart,
    kLet,
    kCreateTopic,
    kGrowTopic,
    kDeleteTopic,
    kProduce,
    kSend,
    kRead,
    kDeleteRecords,
    kCommit,
    kCommitted,
    kTransfer,
    kCut,
    kCutOneWay,
    kHeal,
    kClog,
    kUnclog,
    kLose,
    kReset,
    kKill,
    kKillAt,
    kPowerLoss,
    kRestart,
    kWipe,
    kPause,
    kResume,
    kRejoin,
    kSlowDisk,
    kStallDisk,
    kReleaseDisk,
    kFullDisk,
    kFreeDisk,
    kRot,
    kFailSyncs,
    kRole,
    kWait,
    kConverge,
    kAwait,
    kExpect,
    kExpectViolation,
};

/// What `await` and `expect` can ask for.
enum class Condition : std::uint8_t {
    kLeader,
    kRaftLeader,
    kInSync,
    kHighWatermark,
    kLogEnd,
    kLogStart,
    kMark,
    kRefused,
    kUp,
    kAcked,
    kTopic,
    kElections,
};

enum class Expected : std::uint8_t { kOk, kRefused, kUnknown };

/// One line. Which fields mean something depends on the verb.
struct ScriptLine {
    int number = 0;
    std::string text;
    Verb verb = Verb::kWait;
    std::vector<std::string> brokers;  // numbers, aliases, "leader", "followers" ...: looked up when the line runs
    std::vector<std::string> other_brokers;  // the far side of a cut or clog; of `via`: one
    std::string name;  // setting, alias, topic, group, observation, file prefix, invariant, frame kind
    std::int32_t partition = 0;
    std::vector<std::uint64_t> values;
    std::int64_t amount = 0;
    std::optional<Duration> within;
    std::int64_t acks = 2;  // index: none, leader, all
    Expected expected = Expected::kOk;
    Condition condition = Condition::kLeader;
    bool is_negated = false;
    bool operator==(const ScriptLine&) const = default;
};

struct Script {
    std::string name;
    std::string file;
    std::vector<ScriptLine> lines;
    /// The invariant the story shows to break; empty: everything must hold.
    std::string expected_violation;
    std::uint64_t seed = 1;
};

/// Any text gives a script or the first thing wrong with it, "FILE:LINE: what".
Result<Script, InputError> parse_script(std::string_view text, std::string_view name, std::string_view file);

struct StoryResult {
    bool passed = false;
    std::string failure;  // "FILE:LINE: what"; empty when passed
    std::uint64_t digest = 0;
    std::int64_t events = 0;
    std::int64_t virtual_ns = 0;
    std::int64_t acked_records = 0;
    std::int64_t read_records = 0;
    std::vector<Violation> violations;  // the expected one too
};
/// Runs a story in a world of its own.
StoryResult run_script(const Script& script, TraceSink* trace);

/// What observations are called in `kill BROKER at NAME`, by their index in the variant.
std::span<const std::string_view> observation_names();
/// What frames are called in `lose NAME`, by their number on the simulated wire.
std::span<const std::string_view> frame_names();

}  // namespace tidelock::scenarios
