// Idempotent producers (T2): the table's decisions, its being a function of the log, and the giving out of ids.
#include <rapidcheck.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include "protocol/clients/producers.h"

namespace tidelock::clients {
namespace {

constexpr std::int32_t kMaxSequence = std::numeric_limits<std::int32_t>::max();

ProducerBatch batch_of(std::int64_t id, int epoch, std::int32_t sequence, std::int32_t count, std::int64_t offset = 0) {
    return {ProducerId(id), ProducerEpoch(static_cast<std::int16_t>(epoch)), sequence, count, Offset(offset), 0, false};
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
    CHECK(table.check(batch_of(7, 0, kMaxSequence, 1)) == refused(ErrorCode::kOutOfOrderSequence));
    CHECK(table.check(batch_of(7, 0, kMaxSequence - 1, 4)) == ProducerVerdict(DuplicateBatch{Offset(50), Offset(53)}));
}

TEST_CASE("retention forgets no producer's last batch; age does, once its records are gone (KAFKA-7298, KAFKA-7190)") {
    ProducerBatch old_batch = batch_of(7, 0, 0, 3, 100);
    old_batch.timestamp_ms = 1000;
    ProducerTable table = rebuilt({old_batch});
    table.on_log_start_moved(Offset(102));
    table.expire_before(5000);
    CHECK(table.size() == 1);  // its last record is still in the log
    table.on_log_start_moved(Offset(200));
    CHECK(table.check(batch_of(7, 0, 3, 1)) == kAccepted);
    CHECK(table.check(batch_of(7, 0, 0, 3)) == ProducerVerdict(DuplicateBatch{Offset(100), Offset(102)}));
    table.expire_before(1000);
    CHECK(table.size() == 1);
    table.expire_before(1001);
    CHECK(table.size() == 0);
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
    "the table of any log survives its bytes, its truncation or a rebuild, and takes what a producer would send next") {
    rc::check([] {
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
            ProducerBatch batch = batch_of(static_cast<std::int64_t>(who) + 1, epoch[who], next[who], count, end);
            batch.timestamp_ms = end * 7;
            RC_ASSERT(live.check(batch) == kAccepted);
            live.on_batch(batch);
            RC_ASSERT(live.check(batch) == ProducerVerdict(DuplicateBatch{Offset(end), Offset(end + count - 1)}));
            next[who] = sequence_after(next[who], count);
            end += count;
            log.push_back(batch);
        }
        RC_ASSERT(live == rebuilt(log));

        ByteWriter out;
        live.encode(out);
        const Bytes bytes = out.take();
        ByteReader in(bytes);
        const auto decoded = ProducerTable::decode(in);
        RC_ASSERT(decoded.has_value());
        RC_ASSERT(*decoded == live);

        const std::int64_t kept =
            log.empty() ? 0 : *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(log.size()));
        const Offset cut = log.empty() ? Offset(0) : log[static_cast<std::size_t>(kept)].base_offset;
        log.resize(static_cast<std::size_t>(kept));
        if (live.truncate_to(cut)) RC_ASSERT(live == rebuilt(log));
    });
}

TEST_CASE("any bytes give a table or an error") {
    rc::check([](const std::vector<std::uint8_t>& content) {
        std::vector<std::uint8_t> bytes = content;
        if (!bytes.empty()) bytes[0] = 1;
        ByteReader in(std::as_bytes(std::span(bytes)));
        const auto table = ProducerTable::decode(in);
        RC_ASSERT(!table || table->size() * 28 <= bytes.size());
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
    rc::check([] {
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
