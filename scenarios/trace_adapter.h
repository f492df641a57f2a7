/// Hands the world's trace on in the words of schedule results.
#pragma once

#include <string>

#include "scenarios/schedule.h"
#include "sim/trace.h"

namespace tidelock::sim {
class World;
}

namespace tidelock::scenarios {

/// Lives outside the arena. Without a sink it is not to be registered.
class TraceAdapter final : public sim::TraceSink {
  public:
    explicit TraceAdapter(scenarios::TraceSink* sink) : sink_(sink) {}
    /// Host names are looked up here.
    void set_world(sim::World* world) { world_ = world; }
    void on_entry(const sim::TraceEntry& entry) override;
    void violation(const Violation& violation);

  private:
    [[nodiscard]] std::string host_name(sim::HostId host) const;

    scenarios::TraceSink* sink_;
    sim::World* world_ = nullptr;
};

}  // namespace tidelock::scenarios
