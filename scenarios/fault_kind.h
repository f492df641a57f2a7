/// Every fault a plan can hold, as one table (ARCHITECTURE 4): where it stands in the JSON, what its size means,
/// whether it destroys data. The scenario reader, the generator, the nemesis and `tidelock list faults` work from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/settings.h"

namespace tidelock::scenarios {

enum class FaultKind : std::uint8_t {
    // network
    kDelaySpike,
    kLoss,
    kLossByKind,
    kDuplicate,
    kReorder,
    kLostResponse,
    kReset,
    kHalfOpen,
    kCorruptFrames,
    kClog,
    kSlowLink,
    kPartitionTwoSided,
    kPartitionOneWay,
    kPartitionBridge,
    kPartitionRing,
    kPartitionFlapping,
    // process
    kKill,
    kKillAtStep,
    kPowerLoss,
    kPowerLossAtWrite,
    kPause,
    kSlowHost,
    kRollingRestart,
    kMixedConfiguration,
    // clock
    kClockDrift,
    kClockDriftBeyondBound,
    kClockFreeze,
    kWallJump,
    // disk
    kFailedSync,
    kReadError,
    kFullDisk,
    kSlowDisk,
    kStalledDisk,
    kBitRot,
    kMisdirectedWrite,
    kMisdirectedRead,
    kEmptiedDisk,
    // operator
    kCreateTopic,
    kGrowTopic,
    kDeleteTopic,
    kRecreateTopic,
    kDeleteRecords,
    kSetRetention,
    kTransferLeadership,
    // clients
    kProducerCrash,
    kZombieProducer,
    kSlowConsumer,
    kConsumerReconnect,
    // later ones: a kind's number seeds its draws, so the others keep theirs
    kPowerLossAtStep,
    kPartitionAtStep,
    kSlowFile,
    kUnreadable,
    kBitRotAtRestart,
    kEmptiedDiskAtStep,
    kLateKind,
    kCutOffAtElection,
    kStalledDisks,
    kPowerLossAtFirstBoot,
    kKillTogether,
    kMemberCrash,
    kZombieMember,
    kMemberLeave,
    kCommandRole,
    kWriteError,
    kCutOffWhileForming,
    kCount
};

inline constexpr std::size_t kFaultKindCount = static_cast<std::size_t>(FaultKind::kCount);

enum class FaultSection : std::uint8_t { kNetwork, kProcess, kClock, kDisk, kOperator, kClient };

struct FaultInfo {
    FaultKind kind;
    FaultSection section;
    std::string_view name;
    std::string_view size_key;  // JSON key of the fault's size; empty: it has none
    Range size_bounds;
    Range size_default;
    Range duration_default_ms;  // {0, 0}: happens at once, no duration
    bool is_aimed;              // strikes a broker that is chosen when it fires
    bool destroys_data;         // fires only while enough undamaged copies are left (the atlas)
    std::string_view doc;
};

std::span<const FaultInfo> all_faults();
const FaultInfo& info_of(FaultKind kind);
/// "network", "process", ...
std::string_view name_of(FaultSection section);
/// "network.loss": what plans and results call it.
std::string full_name_of(FaultKind kind);
/// By its full name.
std::optional<FaultKind> fault_kind_of(std::string_view full_name);

}  // namespace tidelock::scenarios
