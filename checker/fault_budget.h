/// How much of what was lost the faults account for (V1): computed from host facts, never from what brokers say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidelock::checker {

/// A confirmed or served record that is gone because more of its copies were destroyed than its policy survives (G8).
struct ExcusedLoss {
    std::int64_t time_ns;
    std::string reason;
};

struct FaultBudget {
    std::int64_t disks_emptied = 0;
    std::int64_t disks_damaged = 0;
    std::int64_t power_losses = 0;
    std::int64_t kills = 0;
    std::int64_t losses_excused = 0;
    std::vector<ExcusedLoss> excused;  // the first few
};

}  // namespace tidelock::checker
