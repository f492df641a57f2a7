// A group in good order, for looking at its brokers from outside.
#pragma once

#include <catch2/catch.hpp>
#include <utility>

#include "scenarios/cluster.h"
#include "scenarios/plan.h"

namespace tidelock::scenarios {

/// Two virtual seconds old; idempotent clients produce, one broker leads and nothing fails.
struct SettledGroup {
    explicit SettledGroup(Plan with = plan_without_faults()) : plan(std::move(with)) {
        cluster.start_brokers();
        cluster.start_clients();
        cluster.world().run_until(sim::TimeNs(2'000'000'000));
        REQUIRE(cluster.leader().has_value());
        leader = *cluster.leader();
    }
    static Plan plan_without_faults() {
        Plan plan = generate(*load_scenario("group-failover"), 1);
        plan.faults.clear();
        for (ProducerPlan& producer : plan.producers) producer.is_idempotent = true;
        return plan;
    }
    const sim::Disk& disk() { return cluster.world().host(host_of(leader)).disk(); }
    const broker::Broker& broker() { return *cluster.broker(leader); }

    Plan plan;
    Cluster cluster{plan, sim::DigestRecording::kNothing};
    BrokerId leader;
};

}  // namespace tidelock::scenarios
