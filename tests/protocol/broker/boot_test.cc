#include <catch2/catch.hpp>
#include "bench.h"
namespace tidelock::broker {
TEST_CASE("a directory of another membership is refused at boot, with the reason (R3, R8)", "[broker]") {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    bench.set_members(1, {BrokerId(1), BrokerId(2)});
    bench.start(1);
    REQUIRE(bench.at(1).lifecycle == Lifecycle::kRefused);
}

TEST_CASE("a broker that is not running answers clients that it cannot serve them", "[broker]") {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    bench.set_members(1, {BrokerId(1), BrokerId(2)});
    bench.start(1);
    const CorrelationId asked = bench.ask(1, clients::MetadataRequest{});
    REQUIRE(bench.is_answered(asked, clients::ErrorCode::kLeaderNotAvailable));
}

TEST_CASE("a directory of one preset is refused under another, with both named and the way out (R8)", "[broker]") {
    const auto as_static = [](Config& config) {
        config.preset = Preset::kStatic;
        config.static_leader = BrokerId(1);
    };
    const auto as_group = [](Config& config) { config.preset = Preset::kGroup; };
    Bench lived_static(3, as_static);
    REQUIRE(lived_static.form());
    lived_static.configure(1, as_group);
    lived_static.start(1);
    REQUIRE(lived_static.at(1).lifecycle == Lifecycle::kRefused);
    REQUIRE(lived_static.refusal(1).find("preset `static`") != std::string::npos);
    REQUIRE(lived_static.refusal(1).find("configured as `group`") != std::string::npos);
    REQUIRE(lived_static.refusal(1).find("empty directory") != std::string::npos);

    Bench lived_group(3, as_group);
    REQUIRE(lived_group.form());
    lived_group.configure(1, as_static);
    lived_group.start(1);
    REQUIRE(lived_group.at(1).lifecycle == Lifecycle::kRefused);
    lived_group.configure(1, as_group);
    lived_group.start(1);
    REQUIRE(lived_group.at(1).lifecycle == Lifecycle::kRunning);
}
TEST_CASE("a lost catalogue is replaced only under a renewed incarnation, wherever the boot is cut short (I10)",
          "[broker]") {
    Bench bench(3, [](Config&) {});
    REQUIRE(bench.form());
    REQUIRE(bench.create_topic("orders"));
    const Incarnation before = bench.at(1).identity.data_incarnation;
    bench.rot(1, "topics.a");
    bench.rot(1, "topics.b");
    bench.start(1, {storage::FileOwner::kIdentity});  // dies before the identity is durable
    REQUIRE(bench.at(1).lifecycle != Lifecycle::kRunning);
    bench.start(1);
    REQUIRE(bench.at(1).lifecycle == Lifecycle::kRunning);
    REQUIRE(bench.at(1).identity.data_incarnation != before);
    REQUIRE(bench.advance_until([&] { return bench.is_whole(); }));
}
}  // namespace tidelock::broker
