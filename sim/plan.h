/// Faults as explicit data: what shall happen to which hosts, links or disks, when, and for how long. A generator makes
/// plans, a shrinker takes lines out of them; taking one out leaves all other streams of the world as they were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "sim/faults.h"
#include "sim/ids.h"

namespace tidelock::sim {

class World;

/// One planned fault. `fault` says what; unused fields stay at their defaults.
struct PlannedFault {
    FaultKind fault = FaultKind::kProcessCrash;
    TimeNs at;
    Duration lasts;              // until it is undone (restart, heal, resume, release ...); 0: never undone
    std::vector<HostId> hosts;   // victims; of a partition: one side, or the senders
    std::vector<HostId> peers;   // of a partition or link: the other side, or the receivers
    std::int64_t amount = 0;     // ppm, factor, ns, effects, bytes, period ns: by kind, see `apply`
    std::string file;            // disk faults: name or prefix
    std::uint64_t position = 0;  // disk faults: byte in the file
    bool operator==(const PlannedFault&) const = default;
};

/// `frame_lost at=.. lasts=.. hosts=1,2 ...`: one line, fields at their defaults left out.
std::string text_of(const PlannedFault& fault);
/// Reads what `text_of` wrote; the error names the field.
Result<PlannedFault, DecodeError> planned_fault_from(std::string_view text);

/// Schedules the fault and its end. Victims that do not exist are skipped. Meaning of `amount` by kind:
/// process_crash, power_loss: none (after `lasts` the hosts restart with their boot story). kill_at_step: effects from
/// then. slow_host: ns an arrival. clock_drift: ppm. wall_jump: ns. slow_link, disk_slow: factor. disk_full: bytes
/// left. partition_flapping: ns of one half period. connection_reset, half_open: hosts[0] and peers[0] (hosts[0]
/// learns). response_lost, frame_kind_lost: drop the next `amount` frames of kind `position` from hosts[0] to peers[0].
/// Fault kinds that are rates only (frame_lost, torn sectors ...): their rate is `amount` per million from `at` on.
void schedule(World& world, const PlannedFault& fault);
void schedule(World& world, const std::vector<PlannedFault>& plan);

}  // namespace tidelock::sim
