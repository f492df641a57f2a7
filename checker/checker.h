/// Judges one run of a cluster against every invariant of its preset, as it happens. Fed by the host with three
/// streams: what brokers observe, what the world did to them, what clients were told. It never asks anything back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "checker/fault_budget.h"
#include "checker/final_view.h"
#include "checker/history.h"
#include "checker/host_fact.h"
#include "checker/settings.h"
#include "checker/violation.h"
#include "protocol/base/ids.h"
#include "protocol/broker/observation.h"

namespace tidelock::checker {

class Checker {
  public:
    explicit Checker(Settings settings);
    ~Checker();
    Checker(Checker&&) noexcept;
    Checker& operator=(Checker&&) noexcept;

    /// Each observation, in the order in which it was made; `life` as in BrokerBooted. Constant or logarithmic time.
    void on_observation(std::int64_t time_ns, BrokerId broker, std::uint32_t life,
                        const broker::Observation& observation);
    void on_host_fact(std::int64_t time_ns, const HostFact& fact);
    /// Each client call when it has returned, in order of return.
    void on_call(const ClientCall& call);
    /// Once, after the heal phase and after every call that never returned was given as unknown.
    void at_end(std::int64_t time_ns, const FinalView& view);

    [[nodiscard]] const std::vector<Violation>& violations() const;
    [[nodiscard]] const FaultBudget& fault_budget() const;
    /// Records acknowledged by policy, and records read, as clients saw them.
    [[nodiscard]] std::int64_t acknowledged_record_count() const;
    [[nodiscard]] std::int64_t read_record_count() const;

  private:
    struct Parts;
    struct Hearing;
    struct FactHearing;
    struct CallHearing;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tidelock::checker
