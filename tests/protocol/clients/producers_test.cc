// Idempotent producers (T2): the table's decisions, its being a function of the log, and the giving out of ids.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include "protocol/clients/producers.h"
#include "tests/law.h"

namespace tidelock::clients {
namespace {

constexpr std::int32_t kMaxSequence = std::numeric_limits<std::int32_t>::max();

ProducerBatch batch_of(std::int64_t id, int epoch, std::int32_t sequence, std::int32_t count, std::int64_t offset = 0) {
    return {ProducerId(id), ProducerEpoch(static_cast<std::int16_t>(epoch)), sequence, count, Offset(offset), false};
}
ProducerVerdict refused(ErrorCode error) {
    return RefuseBatch{error};
}
const ProducerVerdict kAccepted = AcceptBatch{};

ProducerTable rebuilt(const std::vector<ProducerBatch>& log) {
    ProducerTable table;
    for (const ProducerBatch& batch : log) table.on_batch(batch);
    return table;
}

}  // namespace

TEST_CASE("T2: the next sequence is accepted, a repeat answers its original offset, a gap is refused") {
    const ProducerTable table = rebuilt({batch_of(7, 0, 0, 3, 100), batch_of(7, 0, 3, 2, 110)});
    CHECK(table.check(batch_of(7, 0, 5, 1)) == kAccepted);
    CHECK(table.check(batch_of(7, 0, 3, 2)) == ProducerVerdict(DuplicateBatch{Offset(110), Offset(111)}));
    CHECK(table.check(batch_of(7, 0, 0, 3)) == ProducerVerdict(DuplicateBatch{Offset(100), Offset(102)}));
    CHECK(table.check(batch_of(7, 0, 6, 1)) == refused(ErrorCode::kOutOfOrderSequence));
    CHECK(table.check(batch_of(7, 0, 3, 1)) ==
          refused(ErrorCode::kOutOfOrderSequence));  // other bounds: not that batch
}

TEST_CASE("T2: a repeat from before the remembered batches is refused as a duplicate, not written again") {
    ProducerTable table;
    for (int i = 0; i < 7; ++i) table.on_batch(batch_of(7, 0, i, 1, 100 + i));
    CHECK(table.check(batch_of(7, 0, 2, 1)) == ProducerVerdict(DuplicateBatch{Offset(102), Offset(102)}));
    CHECK(table.check(batch_of(7, 0, 1, 1)) == refused(ErrorCode::kDuplicateSequence));
}

TEST_CASE("T2: an unknown producer begins at 0; an old epoch is fenced; a new one begins at 0") {
    const ProducerTable table = rebuilt({batch_of(7, 2, 0, 3, 100)});
    CHECK(table.check(batch_of(8, 0, 0, 1)) == kAccepted);
    CHECK(table.check(batch_of(8, 0, 1, 1)) == refused(ErrorCode::kUnknownProducerId));
    CHECK(table.check(batch_of(7, 1, 3, 1)) == refused(ErrorCode::kInvalidProducerEpoch));
    CHECK(table.check(batch_of(7, 3, 0, 1)) == kAccepted);
    CHECK(table.check(batch_of(7, 3, 3, 1)) == refused(ErrorCode::kOutOfOrderSequence));
    CHECK(table.check(batch_of(kNoProducer.value, -1, -1, 1)) == kAccepted);
    CHECK(table.check(batch_of(9, 0, -1, 1)) == refused(ErrorCode::kInvalidRequest));
    CHECK(table.check(batch_of(9, 0, 0, 0)) == refused(ErrorCode::kInvalidRequest));
    CHECK(table.check(batch_of(-5, 0, 0, 1)) == refused(ErrorCode::kInvalidRequest));
}

TEST_CASE("sequences go on at 0 after the largest, inside a batch too") {
    CHECK(sequence_after(kMaxSequence, 1) == 0);
    CHECK(sequence_after(kMaxSequence - 1, 4) == 2);
    CHECK(sequence_after(0, -1) == kMaxSequence);
    const ProducerTable table = rebuilt({batch_of(7, 0, kMaxSequence - 1, 4, 50)});
    CHECK(table.check(batch_of(7, 0, 2, 1)) == kAccepted);
    CHECK(table.check(batch_of(7, 0, kMaxSequence, 1)) == refused(ErrorCode::kDuplicateSequence));
    CHECK(table.check(batch_of(7, 0, 3, 1)) == refused(ErrorCode::kOutOfOrderSequence));
    CHECK(table.check(batch_of(7, 0, kMaxSequence - 1, 4)) == ProducerVerdict(DuplicateBatch{Offset(50), Offset(53)}));
}

TEST_CASE("what retention takes of a producer comes back from what was kept of it (KAFKA-7298, KAFKA-7190)") {
    const ProducerTable before =
        rebuilt({batch_of(7, 0, 0, 3, 100), batch_of(8, 0, 0, 1, 103), batch_of(7, 0, 3, 1, 104)});
    const auto kept = before.states_between(Offset(0), Offset(104));
    REQUIRE(kept.size() == 2);
    ProducerTable after = rebuilt({batch_of(7, 0, 3, 1, 104)});  // of the log from 104 on
    for (const auto& [id, state] : kept) after.adopt(id, state);
    CHECK(after == before);
    CHECK(after.check(batch_of(7, 0, 0, 3)) == ProducerVerdict(DuplicateBatch{Offset(100), Offset(102)}));
    CHECK(after.check(batch_of(8, 0, 0, 1)) == ProducerVerdict(DuplicateBatch{Offset(103), Offset(103)}));
    CHECK(before.states_between(Offset(104), Offset(105)).size() == 1);
    CHECK(before.states_between(Offset(105), Offset(200)).empty());
}

TEST_CASE("a table keeps a bounded number of producers, those that wrote last, and knows that it forgot") {
    ProducerTable table;
    const auto count = static_cast<std::int64_t>(kProducersMaxDefault) + 1;
    for (std::int64_t id = 0; id < count; ++id) table.on_batch(batch_of(id + 1, 0, 0, 1, id));
    CHECK(table.size() <= kProducersMaxDefault);
    CHECK(table.size() > kProducersMaxDefault / 2);
    CHECK(table.check(batch_of(count, 0, 0, 1)) ==
          ProducerVerdict(DuplicateBatch{Offset(count - 1), Offset(count - 1)}));
    CHECK(table.check(batch_of(1, 0, 0, 1)) == kAccepted);
    CHECK(table.truncate_to(Offset(count)));
    CHECK_FALSE(table.truncate_to(Offset(1)));
}

TEST_CASE("a cut that takes back what a producer was forgotten for asks for a rebuild, which knows it again") {
    ProducerTable table(2);
    for (std::int64_t id = 1; id <= 3; ++id) table.on_batch(batch_of(id, 0, 0, 1, id));
    CHECK(table.check(batch_of(1, 0, 1, 1)) == refused(ErrorCode::kUnknownProducerId));
    CHECK_FALSE(table.truncate_to(Offset(3)));
    table.clear();
    for (std::int64_t id = 1; id <= 2; ++id) table.on_batch(batch_of(id, 0, 0, 1, id));
    CHECK(table.check(batch_of(1, 0, 1, 1)) == kAccepted);
    table.on_batch(batch_of(3, 0, 0, 1, 3));
    CHECK(table.size() == 2);  // clear() keeps the bound
}

TEST_CASE("a cut that takes a producer's new epoch back asks for a rebuild, which knows the old one") {
    ProducerTable table = rebuilt({batch_of(7, 0, 0, 1, 100), batch_of(7, 1, 0, 1, 101)});
    CHECK_FALSE(table.truncate_to(Offset(101)));
    CHECK(rebuilt({batch_of(7, 0, 0, 1, 100)}).check(batch_of(7, 0, 1, 1)) == kAccepted);
}

TEST_CASE("a batch of a producer that was forgotten and is known again is a duplicate, not out of order") {
    ProducerTable table(2);
    table.on_batch(batch_of(1, 0, 0, 1, 0));
    table.on_batch(batch_of(2, 0, 0, 1, 1));
    table.on_batch(batch_of(3, 0, 0, 1, 2));
    table.on_batch(batch_of(1, 0, 1, 1, 3));  // of a leader that still knew it
    CHECK(table.check(batch_of(1, 0, 0, 1)) == refused(ErrorCode::kDuplicateSequence));
    CHECK(table.check(batch_of(1, 0, 2, 1)) == kAccepted);
}

TEST_CASE(
    "T2: of two epochs the later in the log rules, also when it is the older one of a producer that was forgotten") {
    const ProducerState kept{ProducerEpoch(1), Offset(2), false, {RememberedBatch{0, 3, Offset(0)}}};
    const auto knows_the_older = [](const ProducerTable& table) {
        return table.check(batch_of(3, 0, 0, 1)) == ProducerVerdict(DuplicateBatch{Offset(17), Offset(17)}) &&
               table.check(batch_of(3, 0, 1, 1)) == kAccepted;
    };
    ProducerTable live;
    live.adopt(ProducerId(3), kept);
    live.on_batch(batch_of(3, 0, 0, 1, 17));
    CHECK(knows_the_older(live));
    ProducerTable rebuilt_table(2);
    rebuilt_table.on_batch(batch_of(2, 0, 0, 4, 13));
    rebuilt_table.on_batch(batch_of(3, 0, 0, 1, 17));
    rebuilt_table.adopt(ProducerId(3), kept);
    rebuilt_table.adopt(ProducerId(1),
                        ProducerState{ProducerEpoch(0), Offset(12), false, {RememberedBatch{0, 1, Offset(12)}}});
    CHECK(knows_the_older(rebuilt_table));
}

TEST_CASE("T2: a repeat of what retention took is a duplicate to a table that was rebuilt, not out of order") {
    ProducerTable table;
    for (int i = 7; i < 12; ++i) table.on_batch(batch_of(1, 0, i, 1, i));
    CHECK(table.check(batch_of(1, 0, 3, 1)) == refused(ErrorCode::kDuplicateSequence));
    CHECK(table.check(batch_of(1, 0, 12, 1)) == kAccepted);
    CHECK(table.check(batch_of(1, 0, 13, 1)) == refused(ErrorCode::kOutOfOrderSequence));
}

TEST_CASE("T2: a repeat is answered with the place where it was written last") {
    ProducerTable table;
    table.on_batch(batch_of(1, 0, 0, 1, 30));
    table.adopt(ProducerId(1), ProducerState{ProducerEpoch(0), Offset(2), false, {RememberedBatch{0, 1, Offset(2)}}});
    CHECK(table.check(batch_of(1, 0, 0, 1)) == ProducerVerdict(DuplicateBatch{Offset(30), Offset(30)}));
}

/// The producers of the log, those that wrote last first.
std::vector<ProducerBatch> newest_of_each(const std::vector<ProducerBatch>& log) {
    std::vector<ProducerBatch> newest;
    for (auto batch = log.rbegin(); batch != log.rend(); ++batch)
        if (std::ranges::find(newest, batch->producer_id, &ProducerBatch::producer_id) == newest.end())
            newest.push_back(*batch);
    return newest;
}

TEST_CASE("whoever need not be forgotten is known: live, after cuts, after retention and after a rebuild") {
    check_law([] {
        const auto bound = *rc::gen::inRange<std::size_t>(1, 13);
        const std::size_t surely_known = bound + 1 - producers_forgotten_at_once(bound);
        std::vector<ProducerBatch> log;
        std::int32_t next[16] = {};
        ProducerTable live(bound);
        std::vector<std::pair<ProducerId, ProducerState>> kept;
        Offset forgotten_below;
        std::size_t log_start = 0;  // position
        const auto knows_all = [&](const ProducerTable& table) {
            const std::vector<ProducerBatch> newest = newest_of_each(log);
            for (std::size_t i = 0; i < std::min(newest.size(), surely_known); ++i) {
                const ProducerBatch& last = newest[i];
                RC_ASSERT(table.check(last) == ProducerVerdict(DuplicateBatch{last.base_offset, last.base_offset}));
                ProducerBatch follows = last;
                ++follows.base_sequence;
                RC_ASSERT(table.check(follows) == kAccepted);
            }
            // Who is forgotten begins at 0 and nowhere else: nothing that is there is taken once more in the middle.
            for (const ProducerBatch& batch : log)
                if (batch.base_sequence > 0) RC_ASSERT(table.check(batch) != kAccepted);
        };
        const auto rebuild = [&] {
            ProducerTable table(bound);
            for (std::size_t i = log_start; i < log.size(); ++i) table.on_batch(log[i]);
            for (const auto& [id, state] : kept) table.adopt(id, state);
            table.forget_below(forgotten_below);
            return table;
        };
        for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 30))) {
            if (step < 24) {
                const auto who = static_cast<std::size_t>(step % 16);
                log.push_back(batch_of(static_cast<std::int64_t>(who) + 1, 0, next[who]++, 1,
                                       static_cast<std::int64_t>(log.size())));
                live.on_batch(log.back());
            } else if (step < 28) {
                const auto to = static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(
                    static_cast<std::int64_t>(log_start), static_cast<std::int64_t>(log.size()) + 1));
                for (std::size_t i = to; i < log.size(); ++i) --next[log[i].producer_id.value - 1];
                log.resize(to);
                if (!live.truncate_to(Offset(static_cast<std::int64_t>(to)))) live = rebuild();
            } else {
                const std::size_t from = log_start;
                log_start = log.size();
                const auto states = live.states_between(Offset(static_cast<std::int64_t>(from)),
                                                        Offset(static_cast<std::int64_t>(log_start)));
                kept.insert(kept.end(), states.begin(), states.end());
                forgotten_below = std::max(forgotten_below, live.forgotten_below());
            }
            RC_ASSERT(live.size() <= bound);
            knows_all(live);
        }
        knows_all(rebuild());
    });
}

TEST_CASE("T2: a producer that was forgotten is not known again as it was once, to who learns of it from records") {
    ProducerTable live(8);
    live.on_batch(batch_of(1, 0, 0, 1, 0));
    const auto kept_first = live.states_between(Offset(0), Offset(1));
    live.on_batch(batch_of(1, 0, 1, 1, 1));
    for (std::int64_t id = 2; id <= 9; ++id) live.on_batch(batch_of(id, 0, 0, 1, id));
    REQUIRE(live.check(batch_of(1, 0, 1, 1)) == refused(ErrorCode::kUnknownProducerId));
    const auto kept_next = live.states_between(Offset(1), Offset(10));
    REQUIRE(live.forgotten_below() == Offset(3));

    ProducerTable successor(8);  // of a log that begins at 10
    for (const auto& [id, state] : kept_first) successor.adopt(id, state);
    for (const auto& [id, state] : kept_next) successor.adopt(id, state);
    REQUIRE(successor.check(batch_of(1, 0, 1, 1)) == kAccepted);  // once more, without what is told of the forgotten
    successor.forget_below(live.forgotten_below());
    REQUIRE(successor.check(batch_of(1, 0, 1, 1)) == refused(ErrorCode::kUnknownProducerId));
    for (const auto& [id, state] : kept_first) successor.adopt(id, state);
    REQUIRE(successor.states_between(Offset(0), Offset(10)) == live.states_between(Offset(0), Offset(10)));
}

TEST_CASE("a kept state survives the round trip; any bytes give one or an error") {
    const ProducerStateKey key{{TopicId(5), PartitionIndex(2)}, ProducerId(9)};
    CHECK(decode_state_key(encode_state_key(key)) == key);
    CHECK(decode_log_start(encode_log_start({Offset(12), Offset(15)})) == LogStartRecord{Offset(12), Offset(15)});
    CHECK_FALSE(decode_log_start(encode_log_start({Offset(-1), Offset(0)})));
    CHECK_FALSE(decode_log_start(encode_log_start({Offset(12), Offset(-1)})));
    const Bytes first_version = Bytes::copy_of(std::string_view("\x01\x0c\0\0\0\0\0\0\0", 9));
    CHECK(decode_log_start(first_version) == LogStartRecord{Offset(12), Offset(0)});
    CHECK_FALSE(decode_log_start(Bytes::copy_of(std::string_view("\x02\x0c\0\0\0\0\0\0\0", 9))));
    CHECK_FALSE(decode_log_start(Bytes::copy_of(std::string_view("\x03\x0c\0\0\0\0\0\0\0", 9))));
    ProducerState state;
    state.producer_epoch = ProducerEpoch(1);
    state.last_offset = Offset(7);
    state.batches.push_back({0, 2, Offset(6)});
    CHECK(decode_state(encode_state(state)) == state);
    state.batches.push_back({2, 1, Offset(6)});
    CHECK_FALSE(decode_state(encode_state(state)));
    check_law([](const std::vector<std::uint8_t>& content) {
        std::vector<std::uint8_t> bytes = content;
        if (!bytes.empty()) bytes[0] = 1;
        const Bytes input = Bytes::copy_of(std::as_bytes(std::span(bytes)));
        const auto decoded = decode_state(input);
        if (decoded) RC_ASSERT(encode_state(*decoded) == input);
    });
}

TEST_CASE("a marker fences older epochs and opens its own at 0") {
    ProducerBatch marker = batch_of(7, 3, -1, 1, 120);
    marker.is_control = true;
    ProducerTable table = rebuilt({batch_of(7, 2, 0, 3, 100), marker});
    CHECK(table.check(batch_of(7, 2, 3, 1)) == refused(ErrorCode::kInvalidProducerEpoch));
    CHECK(table.check(batch_of(7, 3, 0, 1)) == kAccepted);
    CHECK_FALSE(table.truncate_to(Offset(120)));
}

TEST_CASE(
    "the table of any log survives retention, its truncation or a rebuild, and takes what a producer would send next") {
    check_law([] {
        // A log as three producers leave it: in order, now and then with a new epoch.
        std::vector<ProducerBatch> log;
        std::int32_t next[3] = {0, kMaxSequence - 3, 0};
        int epoch[3] = {0, 0, 0};
        std::int64_t end = 0;
        next[1] = 0;
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12));
        ProducerTable live;
        for (const int step : steps) {
            const auto who = static_cast<std::size_t>(step % 3);
            if (step == 11) {
                ++epoch[who];
                next[who] = 0;
            }
            const auto count = *rc::gen::inRange(1, 4);
            const ProducerBatch batch = batch_of(static_cast<std::int64_t>(who) + 1, epoch[who], next[who], count, end);
            RC_ASSERT(live.check(batch) == kAccepted);
            live.on_batch(batch);
            RC_ASSERT(live.check(batch) == ProducerVerdict(DuplicateBatch{Offset(end), Offset(end + count - 1)}));
            next[who] = sequence_after(next[who], count);
            end += count;
            log.push_back(batch);
        }
        RC_ASSERT(live == rebuilt(log));

        // Cut at any log start: what is kept of the records that go, and the rest of the log, give the table again.
        const auto log_start = Offset(*rc::gen::inRange<std::int64_t>(0, end + 1));
        std::vector<ProducerBatch> rest;
        for (const ProducerBatch& batch : log)
            if (batch.base_offset >= log_start) rest.push_back(batch);
        ProducerTable again = rebuilt(rest);
        for (const auto& [id, state] : live.states_between(Offset(0), log_start)) again.adopt(id, state);
        for (const ProducerBatch& batch : log) {
            const ProducerVerdict was = live.check(batch);
            const ProducerVerdict is = again.check(batch);
            const bool is_refused = std::holds_alternative<RefuseBatch>(was) && std::holds_alternative<RefuseBatch>(is);
            RC_ASSERT(is_refused || was == is);
        }

        const std::int64_t kept =
            log.empty() ? 0 : *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(log.size()));
        const Offset cut = log.empty() ? Offset(0) : log[static_cast<std::size_t>(kept)].base_offset;
        log.resize(static_cast<std::size_t>(kept));
        if (live.truncate_to(cut)) RC_ASSERT(live == rebuilt(log));
    });
}

TEST_CASE("ids of a block are given out once its record is below the high watermark") {
    ProducerIdAllocator ids(10);
    CHECK_FALSE(ids.take());
    const auto wanted = ids.block_wanted();
    REQUIRE(wanted == ProducerIdBlock{ProducerId(1), 10});
    ids.on_block_appended(*wanted, Offset(4));
    CHECK_FALSE(ids.block_wanted());
    ids.on_high_watermark(Offset(4));
    CHECK_FALSE(ids.take());
    ids.on_high_watermark(Offset(5));
    CHECK(ids.take() == ProducerId(1));
    CHECK(ids.take() == ProducerId(2));
}

TEST_CASE("no id is given twice, whatever failovers happen and whichever unconfirmed blocks they take back") {
    check_law([] {
        std::vector<ProducerIdBlock> log;
        std::size_t confirmed = 0;
        ProducerIdAllocator leader(5);
        std::set<std::int64_t> given;
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
        for (const int step : steps) {
            if (step <= 2) {
                if (const auto id = leader.take()) RC_ASSERT(given.insert(id->value).second);
            } else if (step == 3) {
                if (const auto block = leader.block_wanted()) {
                    leader.on_block_appended(*block, Offset(static_cast<std::int64_t>(log.size())));
                    log.push_back(*block);
                }
            } else if (step == 4) {
                confirmed = log.size();
                leader.on_high_watermark(Offset(static_cast<std::int64_t>(confirmed)));
            } else {
                log.resize(static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(
                    static_cast<std::int64_t>(confirmed), static_cast<std::int64_t>(log.size()) + 1)));
                leader.begin_rebuild();
                for (const ProducerIdBlock& block : log) leader.on_block_record(block);
            }
        }
    });
}

TEST_CASE("a block record survives the round trip; one that makes no sense is refused") {
    const ProducerIdBlock block{ProducerId(11), 10};
    CHECK(decode_block(encode_block(block)) == block);
    CHECK_FALSE(decode_block(encode_block({ProducerId(11), 0})));
    CHECK_FALSE(decode_block(encode_block({ProducerId(std::numeric_limits<std::int64_t>::max()), 5})));
    CHECK_FALSE(decode_block(Bytes::copy_of("x")));
}

}  // namespace tidelock::clients
