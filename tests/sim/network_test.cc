/// Frames between hosts: order, delay, connections and their ends.
#include "sim/network.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "sim/world.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

constexpr HostId kA{1};
constexpr HostId kB{2};
constexpr HostId kC{3};

/// Three hosts that log what arrives; frames take 1 ms.
struct ThreeHosts {
    explicit ThreeHosts(NetworkConfig network = fixed_delay()) : world(config_of(network), 1) {
        for (const HostId id : {kA, kB, kC}) {
            Host& host = world.add_host(id, "host " + std::to_string(id.value));
            world.spawn(host, [this, &host] { collect(host, log[host.id()]); });
        }
        world.run_until(TimeNs(0));
    }
    static NetworkConfig fixed_delay() {
        NetworkConfig network;
        network.link.delay = Distribution::fixed(milliseconds(1));
        return network;
    }
    static WorldConfig config_of(const NetworkConfig& network) {
        WorldConfig config;
        config.network = network;
        return config;
    }

    void send(HostId from, HostId to, std::string_view text, FrameTag tag = {}) {
        world.host(from).send(to, Bytes::copy_of(text), tag);
    }
    void run_ms(std::int64_t ms) { world.run_until(world.now() + milliseconds(ms)); }
    std::vector<std::string> frames(HostId host) { return frames_of(log[host]); }
    std::size_t breaks(HostId host) { return count_of<ConnectionBroken>(log[host]); }
    [[nodiscard]] std::uint64_t delivered(FaultKind kind) const { return world.faults().delivered(kind); }

    World world;
    std::map<HostId, std::vector<Arrival>> log;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a stream keeps its order whatever the delays, and a whole frame arrives with its tag") {
    NetworkConfig network;
    network.link.delay = Distribution::uniform(microseconds(1), milliseconds(10));
    ThreeHosts toy(network);
    Texts sent;
    for (int i = 0; i < 100; ++i) {
        sent.push_back(std::to_string(i));
        toy.send(kA, kB, sent.back(), FrameTag{9, true});
    }
    toy.run_ms(50);
    REQUIRE(toy.frames(kB) == sent);
    REQUIRE(std::get<FrameArrived>(toy.log[kB][0]).tag == FrameTag{9, true});
    REQUIRE(std::get<FrameArrived>(toy.log[kB][0]).from == kA);
    REQUIRE(std::get<FrameArrived>(toy.log[kB][0]).connection == 1);
    REQUIRE(toy.world.network().frames_sent() == 100);
    REQUIRE(toy.world.network().frames_delivered() == 100);
}

TEST_CASE("datagrams arrive in any order and know no connections") {
    NetworkConfig network;
    network.mode = LinkMode::kDatagram;
    network.link.delay = Distribution::uniform(microseconds(1), milliseconds(10));
    ThreeHosts toy(network);
    Texts sent;
    for (int i = 10; i < 40; ++i) {
        sent.push_back(std::to_string(i));
        toy.send(kA, kB, sent.back());
    }
    toy.run_ms(50);
    Texts received = toy.frames(kB);
    REQUIRE(received != sent);
    std::sort(received.begin(), received.end());
    REQUIRE(received == sent);
    toy.world.kill(kB);
    toy.send(kA, kB, "to the dead");
    toy.run_ms(50);
    REQUIRE(toy.log[kA].empty());
}

TEST_CASE("two hosts of a datagram network may talk over a stream of their own") {
    NetworkConfig network;
    network.mode = LinkMode::kDatagram;
    network.link.delay = Distribution::uniform(microseconds(1), milliseconds(10));
    ThreeHosts toy(network);
    toy.world.network().set_mode(kA, kB, LinkMode::kStream);
    Texts sent;
    for (int i = 10; i < 40; ++i) {
        sent.push_back(std::to_string(i));
        toy.send(kA, kB, sent.back());
        toy.send(kA, kC, sent.back());
    }
    toy.run_ms(50);
    REQUIRE(toy.frames(kB) == sent);
    REQUIRE(toy.frames(kC) != sent);
    toy.world.kill(kB);
    toy.world.kill(kC);
    toy.run_ms(50);
    REQUIRE(toy.log[kA] == std::vector<Arrival>{ConnectionBroken{kB, 1}});
}

TEST_CASE("bandwidth spreads frames out by their size") {
    NetworkConfig network = ThreeHosts::fixed_delay();
    network.link.bandwidth_bytes_per_second = 1'000;  // a byte a millisecond
    ThreeHosts toy(network);
    toy.send(kA, kB, "0123456789");
    toy.send(kA, kB, "0123456789");
    toy.run_ms(12);
    REQUIRE(toy.frames(kB).size() == 1);
    toy.run_ms(10);
    REQUIRE(toy.frames(kB).size() == 2);
}

TEST_CASE("closing lets what was sent before arrive, loses what comes back, and tells the peer") {
    ThreeHosts toy;
    toy.send(kA, kB, "open");
    toy.run_ms(2);
    toy.send(kA, kB, "last words");
    toy.send(kB, kA, "too late");
    toy.world.host(kA).close_connection(kB);
    toy.run_ms(5);
    REQUIRE(toy.frames(kB) == Texts{"open", "last words"});
    REQUIRE(toy.frames(kA).empty());
    REQUIRE(toy.breaks(kA) == 0);
    REQUIRE(toy.log[kB].back() == Arrival(ConnectionBroken{kA, 1}));
    REQUIRE(toy.breaks(kB) == 1);
    // The next send opens the next generation.
    toy.send(kB, kA, "again");
    toy.run_ms(5);
    REQUIRE(std::get<FrameArrived>(toy.log[kA].back()).connection == 2);
}

TEST_CASE("a reset loses what is in flight and tells both ends, once") {
    ThreeHosts toy;
    toy.send(kA, kB, "arrives");
    toy.run_ms(2);
    toy.send(kA, kB, "in flight");
    toy.send(kB, kA, "in flight");
    REQUIRE(toy.world.network().reset_connection(kA, kB));
    REQUIRE_FALSE(toy.world.network().reset_connection(kA, kB));
    toy.run_ms(5);
    REQUIRE(toy.frames(kB) == Texts{"arrives"});
    REQUIRE(toy.frames(kA).empty());
    REQUIRE(toy.breaks(kA) == 1);
    REQUIRE(toy.breaks(kB) == 1);
    REQUIRE(toy.delivered(FaultKind::kConnectionReset) == 1);
}

TEST_CASE("of a half-open connection one end knows; the other learns by the answer to its next frame") {
    ThreeHosts toy;
    toy.send(kA, kB, "open");
    toy.run_ms(2);
    REQUIRE(toy.world.network().break_half(kA, kB));
    toy.run_ms(50);
    REQUIRE(toy.breaks(kA) == 1);
    REQUIRE(toy.breaks(kB) == 0);
    toy.send(kB, kA, "into the void");
    toy.run_ms(5);
    REQUIRE(toy.frames(kA).empty());
    REQUIRE(toy.breaks(kB) == 1);
    REQUIRE(toy.breaks(kA) == 1);
    REQUIRE(toy.delivered(FaultKind::kHalfOpen) == 1);
}

TEST_CASE("a new connection from the end that knows replaces the half-open one at the other") {
    ThreeHosts toy;
    toy.send(kA, kB, "open");
    toy.run_ms(2);
    toy.world.network().break_half(kA, kB);
    toy.send(kA, kB, "new");
    toy.run_ms(5);
    const std::vector<Arrival> expected{FrameArrived{kA, 1, {}, Bytes::copy_of("open")}, ConnectionBroken{kA, 1},
                                        FrameArrived{kA, 2, {}, Bytes::copy_of("new")}};
    REQUIRE(toy.log[kB] == expected);
}

TEST_CASE("when a process crashes its peers see resets, after what it sent") {
    ThreeHosts toy;
    toy.send(kA, kB, "open");
    toy.send(kA, kC, "open");
    toy.run_ms(2);
    toy.send(kA, kB, "last words");
    toy.world.kill(kA);
    toy.run_ms(5);
    REQUIRE(toy.frames(kB) == Texts{"open", "last words"});
    REQUIRE(toy.breaks(kB) == 1);
    REQUIRE(toy.breaks(kC) == 1);
    toy.send(kB, kA, "anybody there");
    toy.run_ms(5);
    REQUIRE(toy.breaks(kB) == 2);
}

TEST_CASE("a host without power answers nothing; after the reboot old connections get a reset") {
    ThreeHosts toy;
    toy.send(kA, kB, "open");
    toy.run_ms(2);
    toy.world.lose_power({&kA, 1});
    toy.send(kB, kA, "lost");
    toy.run_ms(1'000);
    REQUIRE(toy.breaks(kB) == 0);
    toy.world.restart(kA, [&] { collect(toy.world.host(kA), toy.log[kA]); });
    toy.run_ms(1'000);
    REQUIRE(toy.breaks(kB) == 0);
    toy.send(kB, kA, "old connection");
    toy.run_ms(5);
    REQUIRE(toy.breaks(kB) == 1);
    toy.send(kB, kA, "new connection");
    toy.run_ms(5);
    REQUIRE(toy.frames(kA) == Texts{"new connection"});
    REQUIRE(toy.delivered(FaultKind::kPowerLoss) == 1);
}

TEST_CASE("a cut is one way, hits frames in flight, overlaps with others and is counted by its pattern when it bites") {
    ThreeHosts toy;
    Network& network = toy.world.network();
    toy.send(kA, kB, "in flight when cut");
    const CutId first = network.cut({{kA, kB}}, FaultKind::kPartitionOneWay);
    REQUIRE(toy.delivered(FaultKind::kPartitionOneWay) == 0);
    toy.run_ms(5);
    REQUIRE(toy.delivered(FaultKind::kPartitionOneWay) == 1);
    const CutId second = network.cut(two_sided({&kA, 1}, {&kB, 1}), FaultKind::kPartitionTwoSided);
    network.heal(first);
    REQUIRE(network.is_cut(kA, kB));
    toy.send(kA, kB, "lost");
    toy.send(kB, kA, "lost");
    toy.send(kA, kC, "arrives");
    toy.run_ms(5);
    network.heal(second);
    network.heal(second);
    REQUIRE_FALSE(network.is_cut(kA, kB));
    toy.send(kA, kB, "healed");
    toy.run_ms(5);
    REQUIRE(toy.frames(kB) == Texts{"healed"});
    REQUIRE(toy.frames(kA).empty());
    REQUIRE(toy.frames(kC) == Texts{"arrives"});
    REQUIRE(toy.delivered(FaultKind::kPartitionTwoSided) == 1);
    REQUIRE(network.frames_cut() == 3);
}

TEST_CASE("a cut that met no frame is not counted") {
    ThreeHosts toy;
    toy.world.network().cut({{kA, kB}}, FaultKind::kPartitionRing);
    toy.send(kB, kA, "the other way");
    toy.run_ms(5);
    REQUIRE(toy.delivered(FaultKind::kPartitionRing) == 0);
}

TEST_CASE("where loss breaks connections, nothing behind the gap arrives and both ends learn") {
    NetworkConfig config = ThreeHosts::fixed_delay();
    config.after_loss = AfterLoss::kBreakConnection;
    config.break_detection = Distribution::fixed(milliseconds(100));
    ThreeHosts toy(config);
    toy.send(kA, kB, "before");
    toy.run_ms(5);
    toy.world.network().drop_next(kA, kB, 0, 1);
    toy.send(kA, kB, "lost");
    toy.send(kA, kB, "behind the gap");
    toy.run_ms(50);
    REQUIRE(toy.breaks(kA) + toy.breaks(kB) == 0);
    toy.run_ms(60);
    REQUIRE(toy.breaks(kA) == 1);
    REQUIRE(toy.breaks(kB) == 1);
    toy.send(kA, kB, "after");
    toy.run_ms(5);
    REQUIRE(toy.frames(kB) == Texts{"before", "after"});
}

TEST_CASE("a clogged link holds everything and then lets it go in order, before what was sent later") {
    ThreeHosts toy;
    Network& network = toy.world.network();
    network.clog(kA, kB);
    Texts sent;
    for (int i = 0; i < 20; ++i) {
        sent.push_back(std::to_string(i));
        toy.send(kA, kB, sent.back());
    }
    toy.send(kB, kA, "the other way is free");
    toy.run_ms(100);
    REQUIRE(toy.frames(kB).empty());
    REQUIRE(toy.frames(kA).size() == 1);
    sent.push_back("in flight when unclogged");
    toy.send(kA, kB, sent.back());
    network.unclog(kA, kB);
    sent.push_back("sent after");
    toy.send(kA, kB, sent.back());
    toy.run_ms(10);
    REQUIRE(toy.frames(kB) == sent);
    REQUIRE(toy.delivered(FaultKind::kLinkClogged) == 1);
}

TEST_CASE("a host talks to itself over its own link") {
    ThreeHosts toy;
    toy.send(kA, kA, "note to self");
    toy.run_ms(5);
    REQUIRE(toy.frames(kA) == Texts{"note to self"});
}

TEST_CASE("patterns of partitions: who still reaches whom") {
    const std::vector<HostId> hosts{HostId(1), HostId(2), HostId(3), HostId(4), HostId(5)};
    const auto reaches = [](const LinkSet& cut, std::int32_t from, std::int32_t to) {
        return !std::binary_search(cut.begin(), cut.end(), DirectedLink{HostId(from), HostId(to)});
    };
    const std::vector<HostId> left{HostId(1), HostId(2)};
    const std::vector<HostId> right{HostId(4), HostId(5)};
    const LinkSet bridge = bridged(left, right);
    REQUIRE_FALSE(reaches(bridge, 1, 4));
    REQUIRE_FALSE(reaches(bridge, 5, 2));
    REQUIRE(reaches(bridge, 1, 2));
    REQUIRE(reaches(bridge, 1, 3));
    REQUIRE(reaches(bridge, 3, 5));
    const LinkSet circle = ring(hosts);
    for (std::int32_t i = 1; i <= 5; ++i) {
        const std::int32_t next = i % 5 + 1;
        const std::int32_t beyond = next % 5 + 1;
        REQUIRE(reaches(circle, i, next));
        REQUIRE(reaches(circle, next, i));
        REQUIRE_FALSE(reaches(circle, i, beyond));
        REQUIRE_FALSE(reaches(circle, beyond, i));
    }
    REQUIRE(ring(std::span(hosts).first(3)).empty());
    const LinkSet mute = one_way(left, right);
    REQUIRE_FALSE(reaches(mute, 1, 4));
    REQUIRE(reaches(mute, 4, 1));
    REQUIRE(isolated(HostId(1), hosts).size() == 8);
}
