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

/// Schedules the fault and its end. Victims that do not exist are skipped. What the fields mean, by kind:
/// process_crash, power_loss: `hosts`; after `lasts` they restart with their boot story. kill_at_step: in place of
/// effect `amount`. disk_emptied: the hosts lose power and their files. pause, clock_freeze, disk_stalled: `hosts`.
/// slow_host: `amount` ns an arrival. clock_drift: ppm. wall_jump: ns. disk_slow: factor. disk_full: bytes left.
/// Partitions: `hosts` against `peers`; one_way: from `hosts` to `peers`; ring: `hosts` in that order; flapping:
/// two-sided, on and off for `amount` ns each. link_clogged, slow_link (factor): every link from `hosts` to `peers`.
/// connection_reset, half_open: between hosts[i] and peers[i]; of a half-open one hosts[i] learns.
/// response_lost, frame_kind_lost: the next `amount` frames of kind `position` from `hosts` to `peers`.
/// frame_kind_delayed: frames of kind `position` from `hosts` to `peers` take `amount` ns longer.
/// bit_rot: `amount` 0: a random bit of a random file starting with `file`; else bit `amount` - 1 of byte `position`.
/// sector_unreadable: `amount` bytes of `file` at `position` are unreadable from then on.
/// All others, and link and disk kinds without `hosts`: the kind's rate is `amount` per million while it lasts.
void schedule(World& world, const PlannedFault& fault);
void schedule(World& world, const std::vector<PlannedFault>& plan);

}  // namespace tidelock::sim
