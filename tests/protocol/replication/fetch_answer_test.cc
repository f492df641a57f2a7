// The leader's side of a fetch (F3, F4): who is refused, whose position counts, what parks and what wakes.
#include <catch2/catch.hpp>

#include "protocol/replication/fetch_answer.h"

namespace tidelock::replication {
namespace {

constexpr TopicPartition kOne{TopicId(1), PartitionIndex(0)};
constexpr TopicPartition kTwo{TopicId(1), PartitionIndex(1)};
const std::vector<EpochStart> kHistory = {{LeaderEpoch(2), Offset(5)}, {LeaderEpoch(4), Offset(10)}};

/// The leader's log [5, 20): epoch 2 up to 10, epoch 4 from there.
LeaderView view_of() {
    return {kOne, kHistory, Offset(5), Offset(20), Offset(12), true};
}

FetchPartition asked_of(int offset, int last_epoch, int durable = 0) {
    return {kOne,       Offset(offset), LeaderEpoch(last_epoch), Offset(durable == 0 ? offset : durable),
            Offset(12), Offset(5)};
}

PartitionJudgement judge(const FetchPartition& asked) {
    const LeaderView view = view_of();
    return judge_partition(asked, &view);
}

FetchRequest request_of(int follower, std::vector<FetchPartition> partitions) {
    return {{RequestId(1), {BrokerId(follower), Incarnation(1)}, LeaderEpoch(4)},
            0,
            milliseconds(500),
            1000,
            std::move(partitions)};
}

Instant at_ms(std::int64_t ms) {
    return Instant(0) + milliseconds(ms);
}

}  // namespace

TEST_CASE("F3: an older epoch is fenced, a newer one unknown, and nobody leads without a claim") {
    CHECK(check_epoch(LeaderEpoch(4), true, LeaderEpoch(4)) == ErrorCode::kNone);
    CHECK(check_epoch(LeaderEpoch(3), true, LeaderEpoch(4)) == ErrorCode::kFencedEpoch);
    CHECK(check_epoch(LeaderEpoch(5), true, LeaderEpoch(4)) == ErrorCode::kUnknownEpoch);
    CHECK(check_epoch(LeaderEpoch(4), false, LeaderEpoch(4)) == ErrorCode::kNotLeader);
}

TEST_CASE("L5: a question about a partition that is not here, or not readable, is answered so") {
    const EpochEndQuestion question{kOne, LeaderEpoch(3)};
    LeaderView view = view_of();
    CHECK(answer_epoch_end(question, nullptr).code == ErrorCode::kUnknownPartition);
    CHECK(answer_epoch_end(question, &view).answer.end == EpochEnd{LeaderEpoch(2), Offset(10)});
    view.is_readable = false;
    CHECK(answer_epoch_end(question, &view).code == ErrorCode::kStorageError);
}

TEST_CASE("I1: only the position of a log that is a prefix of the leader's counts (KAFKA-13141, RocketMQ#3015)") {
    struct Row {
        FetchPartition asked;
        ErrorCode code;
    };
    const Row rows[] = {
        {asked_of(20, 4), ErrorCode::kNone},
        {asked_of(10, 2), ErrorCode::kNone},
        {asked_of(15, 4, 12), ErrorCode::kNone},
        {asked_of(21, 4), ErrorCode::kDiverging},      // past the leader's end
        {asked_of(11, 2), ErrorCode::kDiverging},      // epoch 2 ended at 10
        {asked_of(10, 3), ErrorCode::kDiverging},      // the leader never had epoch 3
        {asked_of(20, 5), ErrorCode::kDiverging},      // nor 5
        {asked_of(15, 4, 16), ErrorCode::kDiverging},  // durable past its own end
        {asked_of(4, 1), ErrorCode::kBehindLogStart},
        {asked_of(5, 1), ErrorCode::kNone},  // the leader's retention took epoch 1
        {asked_of(6, 1), ErrorCode::kDiverging},
        {asked_of(20, 0), ErrorCode::kNone},
    };
    for (const Row& row : rows) {
        INFO("offset " << row.asked.fetch_offset.value << " last epoch " << row.asked.last_fetched_epoch.value);
        const PartitionJudgement judgement = judge(row.asked);
        CHECK(judgement.code == row.code);
        CHECK(judgement.is_position_valid == (row.code == ErrorCode::kNone));
    }
}

TEST_CASE("a position told without a fetch is tested the same way") {
    const LeaderView view = view_of();
    CHECK(is_position_valid(Offset(15), LeaderEpoch(4), &view));
    CHECK_FALSE(is_position_valid(Offset(21), LeaderEpoch(4), &view));
    CHECK_FALSE(is_position_valid(Offset(11), LeaderEpoch(2), &view));
    CHECK_FALSE(is_position_valid(Offset(3), LeaderEpoch(0), &view));
    CHECK_FALSE(is_position_valid(Offset(15), LeaderEpoch(4), nullptr));
}

TEST_CASE(
    "F4: records, a higher watermark and a later log start are news; a watermark past the asked offset is none yet") {
    CHECK(judge(asked_of(15, 4)).has_records);
    CHECK_FALSE(judge(asked_of(20, 4)).has_records);
    FetchPartition behind = asked_of(20, 4);
    CHECK_FALSE(judge(behind).has_other_news);
    behind.high_watermark = Offset(11);
    CHECK(judge(behind).has_other_news);
    FetchPartition short_log = asked_of(10, 2);
    short_log.high_watermark = Offset(10);
    CHECK_FALSE(judge(short_log).has_other_news);
    FetchPartition old_start = asked_of(20, 4);
    old_start.log_start_offset = Offset(2);
    CHECK(judge(old_start).has_other_news);
}

TEST_CASE("a fetch parks until records come, its time is over or the topics change") {
    ParkedFetches parked(4, milliseconds(5));
    std::vector<FetchRequest> woken;
    REQUIRE(parked.park(request_of(2, {asked_of(20, 4)}), false, milliseconds(300), at_ms(0)));
    CHECK(parked.next_deadline() == at_ms(300));
    parked.on_appended(kTwo, Offset(99), woken);
    parked.on_appended(kOne, Offset(20), woken);
    parked.expire(at_ms(299), woken);
    CHECK(woken.empty());
    parked.on_appended(kOne, Offset(21), woken);
    CHECK(woken.size() == 1);
    CHECK(parked.size() == 0);

    REQUIRE(parked.park(request_of(2, {asked_of(20, 4)}), false, milliseconds(300), at_ms(0)));
    parked.expire(at_ms(300), woken);
    CHECK(woken.size() == 2);
    REQUIRE(parked.park(request_of(2, {}), false, milliseconds(300), at_ms(0)));
    parked.on_manifest_changed(woken);
    CHECK(woken.size() == 3);
}

TEST_CASE("a moved high watermark or log start wakes too, within the delay it may wait for records (KAFKA-14334)") {
    ParkedFetches parked(4, milliseconds(5));
    std::vector<FetchRequest> woken;
    REQUIRE(parked.park(request_of(2, {asked_of(20, 4)}), false, milliseconds(300), at_ms(0)));
    parked.on_news(kOne, Offset(12), Offset(5), at_ms(10), woken);
    CHECK(parked.next_deadline() == at_ms(300));
    parked.on_news(kOne, Offset(13), Offset(5), at_ms(10), woken);
    CHECK(parked.next_deadline() == at_ms(15));
    parked.on_news(kOne, Offset(14), Offset(5), at_ms(12), woken);
    CHECK(parked.next_deadline() == at_ms(15));
    CHECK(woken.empty());

    ParkedFetches prompt(4, Duration(0));
    REQUIRE(prompt.park(request_of(2, {asked_of(20, 4)}), false, milliseconds(300), at_ms(0)));
    prompt.on_news(kOne, Offset(12), Offset(6), at_ms(10), woken);
    CHECK(woken.size() == 1);
}

TEST_CASE("one fetch a follower is parked, and no more than the bound") {
    ParkedFetches parked(2, milliseconds(5));
    REQUIRE(parked.park(request_of(2, {}), false, milliseconds(300), at_ms(0)));
    REQUIRE(parked.park(request_of(2, {}), false, milliseconds(300), at_ms(50)));
    CHECK(parked.size() == 1);
    CHECK(parked.next_deadline() == at_ms(350));
    REQUIRE(parked.park(request_of(3, {}), false, milliseconds(300), at_ms(0)));
    CHECK_FALSE(parked.park(request_of(4, {}), false, milliseconds(300), at_ms(0)));
    CHECK(parked.size() == 2);
    CHECK(parked.next_deadline() == at_ms(300));
    parked.drop(BrokerId(3));
    CHECK(parked.size() == 1);
    CHECK(parked.next_deadline() == at_ms(350));
    FetchRequest impatient = request_of(4, {});
    impatient.wait_max = Duration(0);
    CHECK_FALSE(parked.park(impatient, false, milliseconds(300), at_ms(0)));
}

TEST_CASE("a plan holds what there is to say, and parks when that is nothing") {
    const LeaderView view = view_of();
    FetchPartition gone = asked_of(0, 0);
    gone.partition = kTwo;
    const std::vector<const LeaderView*> views = {&view, nullptr};
    const FetchPlan plan = plan_fetch(request_of(2, {asked_of(15, 4), gone}), views);
    REQUIRE(plan.partitions.size() == 2);
    CHECK(plan.partitions[0].read_from == Offset(15));
    CHECK(plan.partitions[0].judgement.has_records);
    CHECK(plan.partitions[1].judgement.code == ErrorCode::kUnknownPartition);
    CHECK_FALSE(plan.may_park());
    const std::vector<const LeaderView*> one = {&view};
    CHECK(plan_fetch(request_of(2, {asked_of(20, 4)}), one).may_park());
    CHECK(plan_fetch(request_of(2, {asked_of(20, 4)}), one).partitions.empty());
}

}  // namespace tidelock::replication
