#include "scenarios/disk_watch.h"

#include "sim/world.h"

namespace tidelock::scenarios {
namespace {

constexpr Duration kLookInterval = milliseconds(250);

/// Its own recovery has taken in what the disk held, and repaired what it could.
bool has_recovered(const broker::Broker* broker) {
    return broker != nullptr && broker->lifecycle == broker::Lifecycle::kRunning && !broker->is_identity_renewing;
}

}  // namespace

void DiskWatch::on_hurt() {
    is_hurt_ = true;
    found_sound_.reset();
}

bool DiskWatch::is_due(sim::TimeNs now) {
    if (!is_hurt_ || now < looked_at_ + kLookInterval) return false;
    looked_at_ = now;
    return true;
}

bool DiskWatch::is_sound_again(const sim::Host& host, const BrokerHost& broker) {
    if (!is_due(host.world().now())) return false;
    const bool is_sound = host.is_alive() && has_recovered(broker.broker()) && host.disk().is_sound();
    const bool is_same_life = found_sound_ && found_sound_->life == host.life();
    if (!is_sound || !is_same_life) {
        found_sound_.reset();
        if (is_sound) found_sound_ = FirstLook{host.life(), broker.reads_asked()};
        return false;
    }
    if (!broker.has_answers_to(found_sound_->reads_asked)) return false;
    is_hurt_ = false;
    return true;
}

}  // namespace tidelock::scenarios
