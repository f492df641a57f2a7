/// The catalogue of invariants (PROTOCOL 13): what the checker judges, by id and stable name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tidelock::checker {

/// The invariants of the presets `group` and `static`. The order is that of the catalogue.
enum class InvariantId : std::uint8_t {
    kAckedSurvival,         // V1
    kSingleLeaderPerEpoch,  // V2
    kLogMatching,           // V4
    kCommittedStable,       // V5
    kLeaderCompleteness,    // V6
    kIsrComplete,           // V7
    kRaftSafety,            // V8
    kProducerOrder,         // V10
    kOffsetsMonotonic,      // V14
    kGroupFencing,          // T4
    kProgress,              // V16
    kDeterministic,         // V17, judged by the runner
    kNoStaleAck,            // V18
    kCutSafe,               // V20
    kClientHistory,         // V21
    kStatusHonest,          // V22
};

struct InvariantInfo {
    InvariantId invariant;
    std::string_view id;     // "V1"
    std::string_view name;   // stable: results, mutants and tests refer to it
    std::string_view holds;  // one line
};

/// Every invariant, in the order of their ids: what `tidelock list invariants` prints.
std::span<const InvariantInfo> catalogue();
const InvariantInfo& info_of(InvariantId invariant);
/// The stable name, "acked-survival".
std::string_view name_of(InvariantId invariant);

}  // namespace tidelock::checker
