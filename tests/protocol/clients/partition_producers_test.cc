// Producers as of the log's end and as of the high watermark (T2): what a failover can take back must not make the next
// leader forget what it cannot.
#include "protocol/clients/partition_producers.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "tests/law.h"

namespace tidelock::clients {
namespace {

ProducerBatch batch_of(std::int64_t id, int epoch, std::int32_t sequence, std::int64_t offset) {
    return {ProducerId(id), ProducerEpoch(static_cast<std::int16_t>(epoch)), sequence, 1, Offset(offset), false};
}

/// What would be written down of the producers below `end`.
std::vector<std::int64_t> written_down(const PartitionProducers& producers, std::int64_t end) {
    std::vector<std::int64_t> ids;
    for (const auto& [id, state] : producers.confirmed().states_between(Offset(0), Offset(end)))
        ids.push_back(id.value);
    return ids;
}

}  // namespace

TEST_CASE("T2: a confirmed batch is written down however many unconfirmed ones of its producer follow") {
    PartitionProducers producers;
    for (int i = 0; i < 9; ++i) producers.on_batch(batch_of(7, 0, i, i));
    producers.on_high_watermark(Offset(1));
    REQUIRE(written_down(producers, 1) == std::vector<std::int64_t>{7});
    CHECK(producers.check(batch_of(7, 0, 9, 0)) == ProducerVerdict(AcceptBatch{}));
    producers.on_high_watermark(Offset(8));
    REQUIRE(written_down(producers, 1).empty());  // its log says more, from there on
    REQUIRE(written_down(producers, 8) == std::vector<std::int64_t>{7});
}

TEST_CASE("T2: an unconfirmed batch of a new epoch, or of other producers, takes nothing from what is written down") {
    PartitionProducers producers(2);
    producers.on_batch(batch_of(7, 0, 0, 0));
    producers.on_high_watermark(Offset(1));
    producers.on_batch(batch_of(7, 1, 0, 1));
    for (std::int64_t id = 8; id < 12; ++id) producers.on_batch(batch_of(id, 0, 0, id));
    REQUIRE(written_down(producers, 1) == std::vector<std::int64_t>{7});
    REQUIRE(producers.confirmed().states_between(Offset(0), Offset(1)).front().second.producer_epoch.value == 0);
}

TEST_CASE("a cut takes back what was not confirmed; what comes after counts as not confirmed either") {
    PartitionProducers producers;
    for (int i = 0; i < 4; ++i) producers.on_batch(batch_of(7, 0, i, i));
    producers.on_high_watermark(Offset(2));
    REQUIRE(producers.truncate_to(Offset(2)));
    producers.on_batch(batch_of(8, 0, 0, 2));
    REQUIRE(written_down(producers, 3) == std::vector<std::int64_t>{7});
    producers.on_high_watermark(Offset(3));
    REQUIRE(written_down(producers, 3) == std::vector<std::int64_t>{7, 8});
}

namespace {

/// A leader's log of one partition, and what the topic of producers holds of it.
struct Partition {
    explicit Partition(std::size_t producers_max) : bound(producers_max), live(producers_max) {}

    void append(std::int64_t who) {
        const auto at = static_cast<std::int64_t>(log.size());
        log.push_back(batch_of(who, 0, next[who]++, at));
        live.on_batch(log.back());
    }
    void confirm(std::int64_t to) {
        high_watermark = to;
        live.on_high_watermark(Offset(to));
    }
    void move_log_start(std::int64_t to) {
        for (const auto& each : live.confirmed().states_between(Offset(log_start), Offset(to))) kept.push_back(each);
        forgotten_below = std::max(forgotten_below, live.confirmed().forgotten_below());
        log_start = to;
    }
    void write_anew() { kept = live.confirmed().states_between(Offset(0), Offset(log_start)); }
    void cut(std::int64_t to) {
        for (std::size_t i = static_cast<std::size_t>(to); i < log.size(); ++i) --next[log[i].producer_id.value];
        log.resize(static_cast<std::size_t>(to));
        if (!live.truncate_to(Offset(to))) live = successor(to);
    }
    /// Who leads with the log up to `end`, learns the rest from the topic, and was told of the high watermark.
    PartitionProducers successor(std::int64_t end) const {
        PartitionProducers producers(bound);
        for (std::int64_t i = log_start; i < end; ++i) producers.on_batch(log[static_cast<std::size_t>(i)]);
        producers.on_high_watermark(Offset(high_watermark));
        for (const auto& [id, state] : kept) producers.adopt(id, state);
        producers.forget_below(forgotten_below);
        return producers;
    }
    /// Those that no bound can have made anybody forget, of the log up to `end`, are known as they are; the others too,
    /// or not at all.
    bool is_known_to(const PartitionProducers& producers, std::int64_t end) const {
        std::vector<ProducerBatch> newest;
        for (std::int64_t i = end - 1; i >= 0; --i) {
            const ProducerBatch& batch = log[static_cast<std::size_t>(i)];
            if (std::ranges::find(newest, batch.producer_id, &ProducerBatch::producer_id) == newest.end())
                newest.push_back(batch);
        }
        const bool takes_again = std::ranges::any_of(newest, [&](const ProducerBatch& last) {
            return last.base_sequence > 0 && producers.check(last) == ProducerVerdict(AcceptBatch{});
        });
        if (takes_again) return false;
        newest.resize(std::min(newest.size(), bound + 1 - producers_forgotten_at_once(bound)));
        return std::ranges::all_of(newest, [&](const ProducerBatch& last) {
            ProducerBatch follows = last;
            ++follows.base_sequence;
            return producers.check(last) == ProducerVerdict(DuplicateBatch{last.base_offset, last.base_offset}) &&
                   producers.check(follows) == ProducerVerdict(AcceptBatch{});
        });
    }

    std::size_t bound;
    PartitionProducers live;
    std::vector<ProducerBatch> log;
    std::map<std::int64_t, std::int32_t> next;
    std::vector<std::pair<ProducerId, ProducerState>> kept;
    Offset forgotten_below;
    std::int64_t high_watermark = 0;
    std::int64_t log_start = 0;
};

}  // namespace

TEST_CASE("T2: whoever leads next, with any tail that was not confirmed, knows whom it has to know") {
    check_law([] {
        Partition partition(*rc::gen::inRange<std::size_t>(1, 13));
        const auto between = [](std::int64_t low, std::int64_t high) {
            return *rc::gen::inRange<std::int64_t>(low, high + 1);
        };
        for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40))) {
            const auto end = static_cast<std::int64_t>(partition.log.size());
            if (step < 24) partition.append(1 + step % 16);
            if (step >= 24 && step < 29) partition.confirm(between(partition.high_watermark, end));
            if (step >= 29 && step < 34)
                partition.move_log_start(between(partition.log_start, partition.high_watermark));
            if (step >= 34 && step < 37) partition.cut(between(partition.high_watermark, end));
            if (step >= 37) partition.write_anew();
            const std::int64_t reached =
                between(partition.high_watermark, static_cast<std::int64_t>(partition.log.size()));
            RC_ASSERT(partition.is_known_to(partition.live, static_cast<std::int64_t>(partition.log.size())));
            RC_ASSERT(partition.is_known_to(partition.successor(reached), reached));
        }
    });
}

}  // namespace tidelock::clients
