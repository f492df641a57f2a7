// Plans: generation is a function of scenario and seed, elements do not disturb one another, JSON loses nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "scenarios/cluster.h"
#include "scenarios/plan.h"

using namespace tidelock::scenarios;

namespace {

Scenario everything() {
    return *load_scenario("everything");
}

std::vector<PlannedFault> faults_of(const Plan& plan, FaultKind kind) {
    std::vector<PlannedFault> found;
    for (const PlannedFault& fault : plan.faults)
        if (fault.kind == kind) found.push_back(fault);
    return found;
}

}  // namespace

TEST_CASE("the same scenario and seed give the same plan, another seed another one") {
    const Scenario scenario = everything();
    REQUIRE(generate(scenario, 7) == generate(scenario, 7));
    REQUIRE_FALSE(generate(scenario, 7) == generate(scenario, 8));
}

TEST_CASE("switching one fault off leaves every other element of the plan as it was") {
    const Scenario with_all = everything();
    for (const FaultInfo& info : all_faults()) {
        Scenario without = with_all;
        without.faults[static_cast<std::size_t>(info.kind)].is_enabled = false;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Plan expected = generate(with_all, seed);
            std::erase_if(expected.faults, [&info](const PlannedFault& fault) { return fault.kind == info.kind; });
            REQUIRE(generate(without, seed) == expected);
        }
    }
}

TEST_CASE("another producer leaves the faults and the first producers as they were") {
    Scenario scenario = *load_scenario("group-failover");
    const Plan two = generate(scenario, 5);
    scenario.settings[Setting::kProducers] = {3, 3};
    const Plan three = generate(scenario, 5);
    REQUIRE(three.producers.size() == 3);
    REQUIRE(std::equal(two.producers.begin(), two.producers.end(), three.producers.begin()));
    REQUIRE(two.faults == three.faults);
}

TEST_CASE("faults lie within the chaos, in order, with unique ids and values within their ranges") {
    const Scenario scenario = everything();
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const Plan plan = generate(scenario, seed);
        std::set<std::int32_t> ids;
        std::int64_t last_ms = 0;
        for (const PlannedFault& fault : plan.faults) {
            const FaultConfig& config = scenario.fault(fault.kind);
            REQUIRE(ids.insert(fault.id).second);
            REQUIRE(fault.at_ms >= last_ms);
            last_ms = fault.at_ms;
            REQUIRE(fault.at_ms < plan.settings[Setting::kChaosSeconds] * 1000);
            REQUIRE(fault.duration_ms >= config.duration_ms.min);
            REQUIRE(fault.duration_ms <= config.duration_ms.max);
            REQUIRE(fault.size >= config.size.min);
            REQUIRE(fault.size <= config.size.max);
            REQUIRE(fault.broker >= 1);
            REQUIRE(fault.broker <= plan.settings[Setting::kBrokers]);
        }
    }
}

TEST_CASE("budgets, counts and rates are kept") {
    Scenario scenario = *parse_scenario(R"({"faults": {"process": {
        "kill": {"count": [5, 9], "budget": 3}, "pause": {"count": 4}, "power_loss": {"per_minute": 60}}}})",
                                        "x", "x");
    std::int64_t power_losses = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Plan plan = generate(scenario, seed);
        REQUIRE(faults_of(plan, FaultKind::kKill).size() == 3);
        REQUIRE(faults_of(plan, FaultKind::kPause).size() == 4);
        power_losses += static_cast<std::int64_t>(faults_of(plan, FaultKind::kPowerLoss).size());
    }
    // 20 virtual seconds of chaos at 60 a minute: 20 a schedule on average.
    REQUIRE(power_losses / 300 >= 18);
    REQUIRE(power_losses / 300 <= 22);
}

TEST_CASE("a swarm switches each fault on for about as many seeds as it says") {
    const Scenario scenario = everything();
    int seeds_with_kills = 0;
    for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
        const Plan plan = generate(scenario, seed);
        seeds_with_kills += faults_of(plan, FaultKind::kKill).empty() ? 0 : 1;
    }
    REQUIRE(seeds_with_kills > 550);
    REQUIRE(seeds_with_kills < 750);
}

TEST_CASE("min.insync.replicas is a majority unless it is set") {
    Scenario scenario = *load_scenario("group-five");
    REQUIRE(generate(scenario, 1).settings[Setting::kMinInsyncReplicas] == 3);
    scenario.settings[Setting::kMinInsyncReplicas] = {2, 2};
    REQUIRE(generate(scenario, 1).settings[Setting::kMinInsyncReplicas] == 2);
}

TEST_CASE("the checker is told of retention where something in the plan sets it, and of the smallest") {
    Plan plan;
    plan.settings[Setting::kRetentionRecords] = 0;
    const auto add = [&plan](FaultKind kind, std::int64_t size) {
        plan.faults.push_back(PlannedFault{.kind = kind, .size = size});
    };
    add(FaultKind::kSetRetention, 0);  // keeps everything
    add(FaultKind::kDeleteRecords, 3);
    REQUIRE_FALSE(checker_settings(plan).retention_enabled);
    add(FaultKind::kSetRetention, 40);
    add(FaultKind::kSetRetention, 20);
    REQUIRE(checker_settings(plan).retention_enabled);
    REQUIRE(checker_settings(plan).retention_records_min == 20);
    plan.settings[Setting::kRetentionRecords] = 10;
    REQUIRE(checker_settings(plan).retention_records_min == 10);
}

TEST_CASE("a plan written as JSON is read back whole") {
    for (const std::string_view name : builtin_scenario_names())
        for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{77}, UINT64_MAX}) {
            const Plan plan = generate(*load_scenario(name), seed);
            const auto read = parse_plan(to_json(plan), "f.json");
            INFO(name << " " << (read ? "" : read.error().text));
            REQUIRE(read.has_value());
            REQUIRE(*read == plan);
        }
}

TEST_CASE("what a plan holds and this build does not know is skipped, and said") {
    std::string text = to_json(generate(*parse_scenario("{}", "x", "x"), 1));
    text.replace(text.find("\"faults\": []"), 12,
                 R"("faults": [{"id": 1, "fault": "network.rain", "at_ms": 5},
                               {"id": 2, "fault": "process.kill", "at_ms": 5, "broker": 9},
                               {"id": 3, "fault": "process.kill", "at_ms": 5, "broker": 2}])");
    text.replace(text.find("\"brokers\""), 9, "\"rivers\": 1, \"brokers\"");
    const auto plan = parse_plan(text, "f.json");
    REQUIRE(plan.has_value());
    REQUIRE(plan->faults.size() == 1);
    REQUIRE(plan->faults[0].id == 3);
    REQUIRE(plan->skipped == std::vector<std::string>{"setting \"rivers\"", "fault 1 of unknown kind \"network.rain\"",
                                                      "fault 2 aimed at broker 9, which is not there"});
}

TEST_CASE("a malformed plan is refused with the path of the key") {
    const std::string good = to_json(generate(*load_scenario("group-failover"), 1));
    const auto error_after = [&good](std::string_view from, std::string_view to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        const auto plan = parse_plan(text, "f.json");
        return plan ? std::string("accepted") : plan.error().text;
    };
    REQUIRE(error_after("\"seed\": \"1\"", "\"seed\": -1") ==
            "f.json: plan.seed: must be a whole number from 0 to 18446744073709551615, not -1");
    REQUIRE(error_after("\"seed\": \"1\",", "") == "f.json: plan.seed: is missing");
    REQUIRE(error_after("\"brokers\": 3", "\"brokers\": 99") == "f.json: plan.settings.brokers: 99 is above 9");
    REQUIRE(error_after("\"brokers\": 3", "\"brokers\": [1, 3]") ==
            "f.json: plan.settings.brokers: a plan holds one value, not a range");
    REQUIRE(error_after("\"interval_ms\": 400", "\"interval_ms\": \"x\"") ==
            "f.json: plan.producers[0].interval_ms: must be a whole number, not \"x\"");
    REQUIRE(error_after("\"acks\": \"all\"", "\"acks\": \"some\"") ==
            "f.json: plan.producers[0].acks: \"some\" is none of none, leader, all");
    REQUIRE(error_after("\"heals_core_only\"", "\"heels\"") == "f.json: plan.heels: unknown key");
    // What a scenario may not hold would only crash the schedule, and look like a finding.
    REQUIRE(error_after("\"broker.heartbeat_ms\": 100", "\"broker.heartbeat_ms\": 60000") ==
            "f.json: plan.settings.broker.heartbeat_ms: 60000 is above broker.election_timeout_min_ms (300)");
    REQUIRE(error_after("{\"id\": 2, \"idempotent\"", "{\"id\": 1, \"idempotent\"") ==
            "f.json: plan.producers[1].id: 1 is given twice");
    REQUIRE(error_after("{\"id\": 2, \"idempotent\"", "{\"id\": 100, \"idempotent\"") ==
            "f.json: plan.producers[1].id: 100 is above 99");
    for (std::size_t length = 0; length < good.rfind('}'); length += 41)
        REQUIRE_FALSE(parse_plan(good.substr(0, length), "f.json").has_value());
}
