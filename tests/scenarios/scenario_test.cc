// Scenarios: what is accepted, and that whatever is not is refused with the file and the path of the key.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "scenarios/embedded.h"
#include "scenarios/scenario.h"

using namespace tidelock::scenarios;

namespace {

tidelock::Result<Scenario, InputError> parse(std::string_view text) {
    return parse_scenario(text, "x", "x.json");
}

std::string error_of(std::string_view text) {
    const auto scenario = parse(text);
    return scenario ? "accepted" : scenario.error().text;
}

}  // namespace

TEST_CASE("an empty object is a scenario of defaults, without faults") {
    const auto scenario = parse("{}");
    REQUIRE(scenario.has_value());
    REQUIRE(scenario->settings[Setting::kBrokers] == Range{3, 3});
    for (const FaultInfo& info : all_faults()) REQUIRE_FALSE(scenario->fault(info.kind).is_enabled);
}

TEST_CASE("numbers, ranges, switches, choices and comments are read") {
    const auto scenario = parse(R"({
        // a comment
        "description": "words", /* another */
        "preset": "static",
        "brokers": [3, 5],
        "broker": { "min_insync_replicas": 2, "seed_rules": { "no_pre_vote": true, "no_caretaker": [false, true] } },
        "faults": { "network": { "loss": { "rate_ppm": [5, 1000000], "count": 2, "duration_ms": 7, "budget": 1 } } }
    })");
    REQUIRE(scenario.has_value());
    REQUIRE(scenario->description == "words");
    REQUIRE(scenario->settings[Setting::kPreset] == Range{kPresetStatic, kPresetStatic});
    REQUIRE(scenario->settings[Setting::kBrokers] == Range{3, 5});
    REQUIRE(scenario->settings[Setting::kSeedNoPreVote] == Range{1, 1});
    REQUIRE(scenario->settings[Setting::kSeedNoCaretaker] == Range{0, 1});
    const FaultConfig& loss = scenario->fault(FaultKind::kLoss);
    REQUIRE(loss.is_enabled);
    REQUIRE(loss.size == Range{5, 1'000'000});
    REQUIRE(loss.count == Range{2, 2});
    REQUIRE(loss.duration_ms == Range{7, 7});
    REQUIRE(loss.budget == 1);
}

TEST_CASE("bad input is refused with the file and the key's path") {
    struct Row {
        std::string_view text;
        std::string_view error;
    };
    const std::vector<Row> rows{
        {R"({"faults": {"network": {"loss": {"rate_ppm": 2000000}}}})",
         "x.json: faults.network.loss.rate_ppm: 2000000 is above 1000000"},
        {R"({"faults": {"network": {"loss": {"rate_ppm": 0}}}})", "x.json: faults.network.loss.rate_ppm: 0 is below 1"},
        {R"({"faults": {"network": {"loss": {"rate": 1}}}})", "x.json: faults.network.loss.rate: unknown key"},
        {R"({"faults": {"network": {"rain": {}}}})", "x.json: faults.network.rain: unknown key"},
        {R"({"faults": {"weather": {}}})", "x.json: faults.weather: unknown key"},
        {R"({"faults": []})", "x.json: faults: must be an object, not array"},
        {R"({"faults": {"process": {"kill": true}}})", "x.json: faults.process.kill: must be an object, not boolean"},
        {R"({"faults": {"process": {"kill": {"count": 1, "per_minute": 1}}}})",
         "x.json: faults.process.kill.per_minute: give this or count, not both"},
        {R"({"faults": {"process": {"kill": {"enabled": 1}}}})",
         "x.json: faults.process.kill.enabled: must be true or false, not 1"},
        {R"({"faults": {"process": {"kill": {"count": [3, 1]}}}})",
         "x.json: faults.process.kill.count: the range [3, 1] runs backwards"},
        {R"({"faults": {"process": {"kill": {"count": [1, 2, 3]}}}})",
         "x.json: faults.process.kill.count: a range is [smallest, largest], not 3 numbers"},
        {R"({"faults": {"network": {"reset": {"duration_ms": 5}}}})",
         "x.json: faults.network.reset.duration_ms: unknown key"},
        {R"({"broker": {"isr_lag": 5}})", "x.json: broker.isr_lag: unknown key"},
        {R"({"broker": 5})", "x.json: broker: must be an object, not number"},
        {R"({"broker": {"seed_rules": {"no_pre_vote": "yes"}}})",
         "x.json: broker.seed_rules.no_pre_vote: must be true, false or [false, true], not \"yes\""},
        {R"({"brokers": 2.5})", "x.json: brokers: must be a whole number, not 2.5"},
        {R"({"brokers": "3"})", "x.json: brokers: must be a whole number, not \"3\""},
        {R"({"brokers": 0})", "x.json: brokers: 0 is below 1"},
        {R"({"brokers": -1})", "x.json: brokers: -1 is below 1"},
        {R"({"brokers": 18446744073709551615})", "x.json: brokers: 18446744073709551615 is above 9"},
        {R"({"preset": "raft"})", "x.json: preset: \"raft\" is none of group, static"},
        {R"({"preset": 1})", "x.json: preset: must be one of group, static, not 1"},
        {R"({"description": 1})", "x.json: description: must be text, not number"},
        {R"({"broker": {"min_insync_replicas": 4}})", "x.json: broker.min_insync_replicas: 4 is above brokers (3)"},
        {R"({"network": {"delay_min_us": 50, "delay_max_us": 10}})",
         "x.json: network.delay_min_us: 50 is above network.delay_max_us (10)"},
        {R"({"broker": {"heartbeat_ms": 500}})",
         "x.json: broker.heartbeat_ms: 500 is above broker.election_timeout_min_ms (300)"},
        {R"({"clients": {"acks_all_permille": 990}})",
         "x.json: clients.acks_leader_permille: with acks_all_permille it makes 1060, more than 1000"},
        {R"({"topics": {"count": 0}})", "x.json: clients.producers: producers need a topic: topics.count may be 0"},
        {R"({"preset": "static", "faults": {"disk": {"emptied": {}}}})",
         "x.json: faults.disk.emptied: nobody takes over in preset static: needs unlimited_faults"},
        {R"({"timings": {"heal_seconds": 8, "frozen_core_permille": 1}, "broker": {"isr_lag_ms": 4000}})",
         "x.json: timings.frozen_core_permille: the healthy majority may need 8500 ms to go on without the rest "
         "(broker.isr_lag_ms), timings.heal_seconds leaves 8000"},
        {R"([])", "x.json: must be an object, not array"},
        {R"({"timings.chaos_seconds": 5})", "x.json: timings.chaos_seconds: a dot in a key: write nested objects"},
        {R"({"build": "", "format": "tidelock-failure"})",
         "x.json: format: this is no scenario but a file of \"tidelock-failure\""},
        {R"({"brokers": 3, "brokers": 5})", "x.json: key \"brokers\" is given twice"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        REQUIRE(error_of(row.text) == row.error);
    }
}

TEST_CASE("text that is no JSON is refused with its line and column") {
    for (const std::string_view text : {"", "{", R"({"brokers": 3)", R"({"brokers": })", "not json", "{} {}"}) {
        INFO(text);
        const std::string error = error_of(text);
        REQUIRE(error.starts_with("x.json: parse error at line "));
        REQUIRE(error.find("column") != std::string::npos);
    }
}

TEST_CASE("every prefix of a scenario is refused") {
    const std::string_view whole = embedded_scenarios().front().text;
    const std::size_t end = whole.rfind('}');
    for (std::size_t length = 0; length < end; length += 7) REQUIRE_FALSE(parse(whole.substr(0, length)).has_value());
}

TEST_CASE("every built-in scenario is well-formed and described, and found by its name") {
    const auto names = builtin_scenario_names();
    for (const std::string_view expected : {"group-failover", "group-partitions", "group-disk", "group-clock",
                                            "group-power-loss", "group-membership-churn", "group-topics", "group-five",
                                            "group-gray", "raft-only", "static-lag", "static-fresh", "everything"})
        REQUIRE(std::find(names.begin(), names.end(), expected) != names.end());
    for (const std::string_view name : names) {
        const auto scenario = load_scenario(name);
        INFO(name << " " << (scenario ? "" : scenario.error().text));
        REQUIRE(scenario.has_value());
        REQUIRE(scenario->name == name);
        REQUIRE_FALSE(scenario->description.empty());
    }
}

TEST_CASE("a word is the name of a scenario or the path of one") {
    for (const std::string_view path : {"x.json", "./x", "/", ".json"}) REQUIRE(is_scenario_path(path));
    for (const std::string_view name : {"", "group-failover", "json", "x.scn"}) REQUIRE_FALSE(is_scenario_path(name));
    REQUIRE(
        load_scenario("group-failovr").error().text.starts_with("'group-failovr': no such scenario; built in are "));
    REQUIRE(load_scenario("").error().text.starts_with("'': no such scenario"));
}

TEST_CASE("JSON that would run a stack out or hide its end is refused") {
    const std::string deep(200'000, '[');
    REQUIRE(error_of(R"({"brokers": [1, )" + deep + std::string(200'000, ']') + "]}") ==
            "x.json: nests deeper than 32 levels");
    REQUIRE(error_of(std::string("{}") + '\0' + "{}") == "x.json: is no JSON text: there is a zero byte in it");
}

TEST_CASE("the everything scenario has every fault") {
    const auto scenario = load_scenario("everything");
    for (const FaultInfo& info : all_faults()) {
        INFO(full_name_of(info.kind));
        REQUIRE(scenario->fault(info.kind).is_enabled);
    }
}

TEST_CASE("every key of the schema stands in SCHEMA.md") {
    std::ifstream file(std::string(TIDELOCK_SOURCE_DIR) + "/scenarios/SCHEMA.md");
    std::stringstream schema;
    schema << file.rdbuf();
    for (const SettingInfo& info : all_settings()) {
        INFO(info.path);
        REQUIRE(schema.str().find("`" + std::string(info.path) + "`") != std::string::npos);
    }
    for (const FaultInfo& info : all_faults()) {
        INFO(full_name_of(info.kind));
        REQUIRE(schema.str().find("`" + full_name_of(info.kind) + "`") != std::string::npos);
    }
}
