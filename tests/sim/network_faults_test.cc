/// Every random network fault is delivered when its rate is on, counted when it bit, bounded by its budget, and spares
/// whom it shall spare.
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "sim/world.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

constexpr HostId kA{1};
constexpr HostId kB{2};
constexpr int kFrameCount = 1'000;

/// A sends numbered frames to B, one every 100 us, with one fault on.
struct Stream {
    explicit Stream(std::uint64_t seed = 1) : world(WorldConfig{}, seed) {
        for (const HostId id : {kA, kB}) world.add_host(id, "host");
        world.spawn(world.host(kB), [this] { collect(world.host(kB), log_b); });
        world.spawn(world.host(kA), [this] { collect(world.host(kA), log_a); });
    }
    void run(FrameTag tag = {}) {
        Host& sender = world.host(kA);
        world.spawn(sender, [&sender, tag] {
            for (int i = 0; i < kFrameCount; ++i) {
                sender.send(kB, Bytes::copy_of("frame " + std::to_string(1'000 + i)), tag);
                if (!sender.await_sleep(microseconds(100))) return;
            }
        });
        world.run_until(at_ms(5'000));
    }
    [[nodiscard]] std::uint64_t delivered(FaultKind kind) const { return world.faults().delivered(kind); }
    void set(FaultKind kind, std::uint32_t per_million, std::uint32_t budget = UINT32_MAX) {
        world.faults().set_rate(kind, FaultRate{per_million, budget});
    }

    World world;
    std::vector<Arrival> log_a;
    std::vector<Arrival> log_b;
};

std::size_t distinct(const std::vector<std::string>& texts) {
    return std::set(texts.begin(), texts.end()).size();
}

}  // namespace

TEST_CASE("without rates nothing is lost, doubled, changed or mixed up") {
    Stream stream;
    stream.run();
    const std::vector<std::string> frames = frames_of(stream.log_b);
    REQUIRE(frames.size() == kFrameCount);
    REQUIRE(std::is_sorted(frames.begin(), frames.end()));
    REQUIRE(distinct(frames) == kFrameCount);
    REQUIRE(stream.world.faults().delivered_total() == 0);
}

TEST_CASE("loss: counted frame by frame") {
    Stream stream;
    stream.set(FaultKind::kFrameLost, 100'000);
    stream.run();
    const std::uint64_t lost = stream.delivered(FaultKind::kFrameLost);
    REQUIRE(lost > 50);
    REQUIRE(lost < 150);
    REQUIRE(frames_of(stream.log_b).size() == kFrameCount - lost);
}

TEST_CASE("a budget ends a fault") {
    Stream stream;
    stream.set(FaultKind::kFrameLost, 500'000, 7);
    stream.run();
    REQUIRE(stream.delivered(FaultKind::kFrameLost) == 7);
    REQUIRE(frames_of(stream.log_b).size() == kFrameCount - 7);
}

TEST_CASE("duplicates: the same frame twice") {
    Stream stream;
    stream.set(FaultKind::kFrameDuplicated, 100'000);
    stream.run();
    const std::vector<std::string> frames = frames_of(stream.log_b);
    const std::uint64_t doubled = stream.delivered(FaultKind::kFrameDuplicated);
    REQUIRE(doubled > 50);
    REQUIRE(frames.size() == kFrameCount + doubled);
    REQUIRE(distinct(frames) == kFrameCount);
}

TEST_CASE("reordering: counted when a later frame really overtook") {
    Stream stream;
    stream.set(FaultKind::kFrameReordered, 50'000);
    stream.run();
    const std::vector<std::string> frames = frames_of(stream.log_b);
    REQUIRE(frames.size() == kFrameCount);
    REQUIRE(stream.delivered(FaultKind::kFrameReordered) > 10);
    std::uint64_t descents = 0;
    for (std::size_t i = 1; i < frames.size(); ++i) descents += frames[i] < frames[i - 1] ? 1 : 0;
    REQUIRE(descents > 0);
}

TEST_CASE("lost responses: only frames tagged as responses") {
    Stream requests;
    requests.set(FaultKind::kResponseLost, 200'000);
    requests.run(FrameTag{1, false});
    REQUIRE(requests.delivered(FaultKind::kResponseLost) == 0);
    Stream responses;
    responses.set(FaultKind::kResponseLost, 200'000);
    responses.run(FrameTag{1, true});
    const std::uint64_t lost = responses.delivered(FaultKind::kResponseLost);
    REQUIRE(lost > 100);
    REQUIRE(frames_of(responses.log_b).size() == kFrameCount - lost);
}

TEST_CASE("an aimed drop takes the next frames of that kind on that link, and no others") {
    Stream stream;
    stream.world.network().drop_next(kA, kB, 4, 3);
    stream.world.network().drop_next(kA, kB, 5, 3);
    stream.run(FrameTag{4, true});
    const std::vector<std::string> frames = frames_of(stream.log_b);
    REQUIRE(frames.size() == kFrameCount - 3);
    REQUIRE(frames.front() == "frame 1003");
    REQUIRE(stream.delivered(FaultKind::kResponseLost) == 3);
    REQUIRE(stream.delivered(FaultKind::kFrameKindLost) == 0);
}

TEST_CASE("loss by kind: only that kind") {
    Stream stream;
    stream.world.network().set_kind_loss(4, 200'000);
    stream.run(FrameTag{4, false});
    REQUIRE(stream.delivered(FaultKind::kFrameKindLost) > 100);
    Stream other;
    other.world.network().set_kind_loss(4, 200'000);
    other.run(FrameTag{5, false});
    REQUIRE(other.delivered(FaultKind::kFrameKindLost) == 0);
}

TEST_CASE("a late kind comes after what was sent later, on its links alone, and as long as it lasts") {
    Stream stream;
    const KindDelay late{4, Distribution::fixed(milliseconds(50)), kMillion, {{kA, kB}}};
    const KindDelayId delay = stream.world.network().delay_kind(late);
    stream.world.call_at(TimeNs(0) + milliseconds(1), [&] { stream.world.network().end_kind_delay(delay); });
    stream.run(FrameTag{4, false});
    const std::uint64_t delayed = stream.delivered(FaultKind::kFrameKindDelayed);
    const std::vector<std::string> frames = frames_of(stream.log_b);
    REQUIRE(frames.size() == kFrameCount);
    REQUIRE(delayed > 0);
    REQUIRE(delayed < kFrameCount);
    REQUIRE(frames.front() == "frame " + std::to_string(1'000 + delayed));
    Stream others;
    others.world.network().delay_kind(late);
    others.world.network().delay_kind({5, late.extra, kMillion, {{kB, kA}}});
    others.run(FrameTag{5, false});
    REQUIRE(others.delivered(FaultKind::kFrameKindDelayed) == 0);
}

TEST_CASE("corruption flips bits of that frame's copy: never its length, and always something") {
    Stream stream;
    stream.set(FaultKind::kFrameCorrupted, 100'000);
    stream.run();
    std::uint64_t changed = 0;
    const std::vector<std::string> frames = frames_of(stream.log_b);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        REQUIRE(frames[i].size() == std::string("frame 1000").size());
        changed += frames[i] != "frame " + std::to_string(1'000 + i) ? 1 : 0;
    }
    REQUIRE(changed > 50);
    REQUIRE(changed == stream.delivered(FaultKind::kFrameCorrupted));
}

TEST_CASE("delay spikes hold up a frame and the stream behind it") {
    Stream stream;
    stream.set(FaultKind::kDelaySpike, 10'000);
    stream.run();
    REQUIRE(stream.delivered(FaultKind::kDelaySpike) > 2);
    const std::vector<std::string> frames = frames_of(stream.log_b);
    REQUIRE(frames.size() == kFrameCount);
    REQUIRE(std::is_sorted(frames.begin(), frames.end()));
}

TEST_CASE("random resets and half-open breaks: ends learn, frames in flight are lost") {
    Stream resets;
    resets.set(FaultKind::kConnectionReset, 20'000);
    resets.run();
    const std::uint64_t reset_count = resets.delivered(FaultKind::kConnectionReset);
    REQUIRE(reset_count > 5);
    REQUIRE(count_of<ConnectionBroken>(resets.log_a) == reset_count);
    REQUIRE(frames_of(resets.log_b).size() < kFrameCount);
    Stream halves;
    halves.set(FaultKind::kHalfOpen, 20'000);
    halves.run();
    REQUIRE(halves.delivered(FaultKind::kHalfOpen) > 5);
    REQUIRE(count_of<ConnectionBroken>(halves.log_a) > 0);
}

TEST_CASE("a slow link multiplies delays, and is counted when a frame used it") {
    const auto time_of_arrival = [](std::uint32_t factor) {
        WorldConfig config;
        config.network.link.delay = Distribution::fixed(milliseconds(1));
        World world(config, 1);
        Host& sender = world.add_host(kA, "a");
        Host& receiver = world.add_host(kB, "b");
        world.network().slow_down(kA, kB, factor);
        std::int64_t arrived_at = 0;
        world.spawn(receiver, [&] {
            receiver.await_arrival();
            arrived_at = world.now().value;
        });
        sender.send(kB, Bytes::copy_of("x"));
        world.run_until(at_ms(100));
        return std::pair(arrived_at, world.faults().delivered(FaultKind::kSlowLink));
    };
    REQUIRE(time_of_arrival(1) == std::pair<std::int64_t, std::uint64_t>(1'000'000, 0));
    REQUIRE(time_of_arrival(30) == std::pair<std::int64_t, std::uint64_t>(30'000'000, 1));
}

TEST_CASE("when a slow link is mended, frames on their way arrive sooner too, in order") {
    WorldConfig config;
    config.network.link.delay = Distribution::fixed(milliseconds(1));
    World world(config, 1);
    Host& sender = world.add_host(kA, "a");
    Host& receiver = world.add_host(kB, "b");
    std::vector<std::pair<std::string, std::int64_t>> arrived;
    world.spawn(receiver, [&] {
        while (const auto arrival = receiver.await_arrival())
            if (const auto* frame = std::get_if<FrameArrived>(&*arrival))
                arrived.emplace_back(frame->frame.text(), world.now().value);
    });
    world.network().slow_down(kA, kB, 1'000);
    sender.send(kB, Bytes::copy_of("first"));
    sender.send(kB, Bytes::copy_of("second"));
    world.run_until(at_ms(500));
    REQUIRE(arrived.empty());
    world.network().slow_down(kA, kB, 1);
    sender.send(kB, Bytes::copy_of("third"));
    world.run_until(at_ms(510));
    REQUIRE(arrived.size() == 3);
    REQUIRE(arrived[0] == std::pair<std::string, std::int64_t>("first", 500'500'000));
    REQUIRE(arrived[1].first == "second");
    REQUIRE(arrived[2] == std::pair<std::string, std::int64_t>("third", 501'000'000));
}

TEST_CASE("a spared link has no random fault") {
    Stream stream;
    set_all_rates(stream.world, 200'000);
    stream.world.network().spare(kA, kB, true);
    stream.run();
    REQUIRE(frames_of(stream.log_b).size() == kFrameCount);
    REQUIRE(stream.delivered(FaultKind::kFrameLost) == 0);
}

TEST_CASE("switching one fault off leaves the others striking the same frames") {
    const auto lost_frames = [](bool with_duplicates) {
        Stream stream;
        stream.set(FaultKind::kFrameLost, 50'000);
        if (with_duplicates) stream.set(FaultKind::kFrameDuplicated, 100'000);
        stream.run();
        std::set<std::string> lost;
        for (int i = 0; i < kFrameCount; ++i) lost.insert("frame " + std::to_string(1'000 + i));
        for (const std::string& frame : frames_of(stream.log_b)) lost.erase(frame);
        return lost;
    };
    REQUIRE(lost_frames(true) == lost_frames(false));
}
