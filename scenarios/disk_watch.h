/// Tells when a disk that a fault has hurt is sound again. A broker may not have heard the worst by then: what it read
/// of the disk before may still be on its way to it. So there are two looks, and every read asked for before the first
/// has been answered, and the answer acted on, before the second.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/broker_host.h"
#include "sim/host.h"

namespace tidelock::scenarios {

class DiskWatch {
  public:
    /// A fault has hurt the disk, or what was read of it.
    void on_hurt();
    /// Nothing is left that could be hurt.
    void on_emptied() { is_hurt_ = false; }
    /// Looks, every 250 ms at most; ask between two steps of the broker. True once: then the checker may be told.
    [[nodiscard]] bool is_sound_again(const sim::Host& host, const BrokerHost& broker);

  private:
    [[nodiscard]] bool is_due(sim::TimeNs now);

    struct FirstLook {
        std::uint32_t life;
        std::uint64_t reads_asked;
    };
    bool is_hurt_ = false;
    sim::TimeNs looked_at_;
    std::optional<FirstLook> found_sound_;
};

}  // namespace tidelock::scenarios
