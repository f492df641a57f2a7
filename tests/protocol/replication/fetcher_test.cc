// The follower's loop (F1-F4): its steps one by one, then against a model leader that answers by the leader's own
// rules.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "protocol/replication/fetch_answer.h"
#include "protocol/replication/fetcher.h"
#include "tests/law.h"

namespace tidelock::replication {
namespace {

constexpr TopicPartition kOne{TopicId(1), PartitionIndex(0)};
constexpr TopicPartition kTwo{TopicId(1), PartitionIndex(1)};
constexpr BrokerId kLeader{1};
constexpr LeaderEpoch kEpoch{5};

Instant at_ms(std::int64_t ms) {
    return Instant(0) + milliseconds(ms);
}

template <typename Effect>
std::vector<Effect> all_of(const FetchEffects& effects) {
    std::vector<Effect> found;
    for (const FetchEffect& effect : effects)
        if (const auto* match = std::get_if<Effect>(&effect)) found.push_back(*match);
    return found;
}
/// The only message among the effects, which must be of this kind.
template <typename Body>
Body sent(const FetchEffects& effects) {
    const auto messages = all_of<SendToLeader>(effects);
    REQUIRE(messages.size() == 1);
    REQUIRE(messages[0].leader == kLeader);
    REQUIRE(std::holds_alternative<Body>(messages[0].message));
    return std::get<Body>(messages[0].message);
}

FetcherConfig config_of() {
    FetcherConfig config;
    config.self = {BrokerId(2), Incarnation(9)};
    return config;
}

const Manifest kManifest{{{"t", TopicId(1), 1, false, {}}}, {}};

LocalPartition local_of(TopicPartition partition, std::vector<EpochStart> history, int end, int high_watermark = 0) {
    return {partition, std::move(history), Offset(0), Offset(end), Offset(end), Offset(high_watermark)};
}

/// A fetcher of broker 2 that has one partition, epoch 3, records [0, 10), and is asked to follow.
struct Story {
    explicit Story(FetcherConfig config = config_of()) : fetcher(std::move(config)) {
        fetcher.follow(kLeader, kEpoch, now, effects);
    }
    FetchEffects& next() {
        effects.clear();
        return effects;
    }
    void give_manifest() {
        const RequestId id = sent<ManifestRequest>(effects).header.request_id;
        fetcher.on_manifest_answer({id, kEpoch, ErrorCode::kNone, kManifest}, now, next());
    }
    void reach_question() {
        give_manifest();
        fetcher.on_reconciled({local_of(kOne, {{LeaderEpoch(3), Offset(0)}}, 10)}, now, next());
    }
    void answer_question(LeaderEpochEnd end) {
        const RequestId id = sent<EpochEndRequest>(effects).header.request_id;
        fetcher.on_epoch_end_answer({id, kEpoch, ErrorCode::kNone, {{kOne, ErrorCode::kNone, end}}}, now, next());
    }
    void reach_fetch() {
        reach_question();
        answer_question({EpochEnd{LeaderEpoch(3), Offset(10)}, Offset(0), Offset(30)});
        fetch = sent<FetchRequest>(effects);
    }
    [[nodiscard]] FetchAnswer answer(std::vector<PartitionAnswer> partitions) const {
        return {fetch.header.request_id, kEpoch, ErrorCode::kNone, digest_of(kManifest), false, std::move(partitions)};
    }
    [[nodiscard]] static PartitionAnswer records(int high_watermark = 0) {
        return {kOne, ErrorCode::kNone, Offset(high_watermark), Offset(0), Bytes::copy_of("records")};
    }
    void report(int end, int durable) {
        const LocalEnds ends{kOne, kEpoch, Offset(0), Offset(end), Offset(durable), Offset(0)};
        fetcher.on_local_logs_changed(std::span(&ends, 1), now, effects);
    }
    Instant now = at_ms(0);
    FetchEffects effects;
    Fetcher fetcher;
    FetchRequest fetch;
};

}  // namespace

TEST_CASE("F1: manifest, then the truncation question, then fetching, one request at a time") {
    Story story;
    CHECK(story.fetcher.phase() == FetchPhase::kManifest);
    const FollowerHeader header = sent<ManifestRequest>(story.effects).header;
    CHECK(header.follower == Replica{BrokerId(2), Incarnation(9)});  // F3
    CHECK(header.leader_epoch == kEpoch);
    story.give_manifest();
    REQUIRE(all_of<ApplyManifest>(story.effects).size() == 1);
    story.fetcher.on_reconciled({local_of(kOne, {{LeaderEpoch(3), Offset(0)}}, 10)}, story.now, story.next());
    const EpochEndRequest question = sent<EpochEndRequest>(story.effects);
    CHECK(question.questions == std::vector<EpochEndQuestion>{{kOne, LeaderEpoch(3)}});
    story.answer_question({EpochEnd{LeaderEpoch(3), Offset(10)}, Offset(0), Offset(30)});
    const FetchRequest fetch = sent<FetchRequest>(story.effects);
    REQUIRE(fetch.partitions.size() == 1);
    CHECK(fetch.partitions[0].fetch_offset == Offset(10));
    CHECK(fetch.partitions[0].last_fetched_epoch == LeaderEpoch(3));
    CHECK(fetch.partitions[0].durable_end_offset == Offset(10));
    CHECK(fetch.manifest_digest == digest_of(kManifest));
}

TEST_CASE("L6: the cut is carried out before anything is fetched") {
    Story story;
    story.reach_question();
    story.answer_question({EpochEnd{LeaderEpoch(3), Offset(6)}, Offset(0), Offset(30)});
    CHECK(all_of<Truncate>(story.effects) == std::vector<Truncate>{{kOne, Offset(6), 1}});
    CHECK(all_of<SendToLeader>(story.effects).empty());
    story.fetcher.on_log_cut({kOne, LeaderEpoch(3), Offset(0), Offset(6), Offset(6), Offset(0)}, story.now,
                             story.next());
    CHECK(sent<FetchRequest>(story.effects).partitions[0].fetch_offset == Offset(6));
}

TEST_CASE("L8: a refused cut is reported, and the partition is left alone while the others go on") {
    Story story;
    story.give_manifest();
    story.fetcher.on_reconciled({local_of(kOne, {{LeaderEpoch(3), Offset(0)}}, 10, 9), local_of(kTwo, {}, 0)},
                                story.now, story.next());
    story.answer_question({EpochEnd{LeaderEpoch(3), Offset(6)}, Offset(0), Offset(30)});
    REQUIRE(all_of<CutWasRefused>(story.effects).size() == 1);
    const FetchRequest fetch = sent<FetchRequest>(story.effects);
    REQUIRE(fetch.partitions.size() == 1);
    CHECK(fetch.partitions[0].partition == kTwo);
}

TEST_CASE("L3: records without a history are discarded before fetching") {
    Story story;
    story.give_manifest();
    story.fetcher.on_reconciled({local_of(kOne, {}, 10)}, story.now, story.next());
    CHECK(all_of<Discard>(story.effects) == std::vector<Discard>{{kOne}});
    CHECK(all_of<SendToLeader>(story.effects).empty());
}

TEST_CASE("F4: records are appended at exactly the log end; the next fetch tells the synced position") {
    Story story;
    story.reach_fetch();
    story.fetcher.on_fetch_answer(story.answer({Story::records(8)}), story.now, story.next());
    CHECK(all_of<Append>(story.effects) ==
          std::vector<Append>{{kOne, Offset(10), Bytes::copy_of("records"), Offset(8), Offset(0)}});
    REQUIRE(std::holds_alternative<AnswerApplied>(story.effects.back()));
    story.next();
    story.report(14, 10);
    story.fetcher.on_answer_applied(story.now, story.effects);
    CHECK(story.fetcher.phase() == FetchPhase::kSyncing);
    CHECK(all_of<SendToLeader>(story.effects).empty());
    story.next();
    story.report(14, 14);
    const FetchPartition asked = sent<FetchRequest>(story.effects).partitions[0];
    CHECK(asked.fetch_offset == Offset(14));
    CHECK(asked.durable_end_offset == Offset(14));
}

TEST_CASE("fetching runs ahead of a slow sync after position_wait, and of any when the leader has more") {
    Story slow;
    slow.reach_fetch();
    slow.fetcher.on_fetch_answer(slow.answer({Story::records()}), slow.now, slow.next());
    slow.report(14, 10);
    slow.fetcher.on_answer_applied(slow.now, slow.next());
    slow.now = at_ms(100);
    slow.fetcher.on_timer(slow.now, slow.next());
    CHECK(sent<FetchRequest>(slow.effects).partitions[0].durable_end_offset == Offset(10));

    Story busy;
    busy.reach_fetch();
    FetchAnswer answer = busy.answer({Story::records()});
    answer.has_more = true;
    busy.fetcher.on_fetch_answer(answer, busy.now, busy.next());
    busy.report(14, 10);
    busy.fetcher.on_answer_applied(busy.now, busy.next());
    CHECK(sent<FetchRequest>(busy.effects).partitions[0].fetch_offset == Offset(14));
}

TEST_CASE("I1: a durable end that moves while a fetch is parked is told at once, and once") {
    Story story;
    story.reach_fetch();
    FetchAnswer answer = story.answer({Story::records()});
    answer.has_more = true;
    story.fetcher.on_fetch_answer(answer, story.now, story.next());
    story.report(14, 10);
    story.fetcher.on_answer_applied(story.now, story.next());
    story.next();
    story.report(14, 14);
    const PositionUpdate update = sent<PositionUpdate>(story.effects);
    CHECK(update.leader_epoch == kEpoch);
    CHECK(update.positions == std::vector<PositionUpdate::Position>{{kOne, kEpoch, Offset(14)}});
    story.next();
    story.report(14, 14);
    CHECK(story.effects.empty());
}

TEST_CASE("D5: the seed's rule tells what was received as its position") {
    FetcherConfig config = config_of();
    config.positions_as_received = true;
    Story story(config);
    story.reach_fetch();
    story.fetcher.on_fetch_answer(story.answer({Story::records()}), story.now, story.next());
    story.report(14, 10);
    story.fetcher.on_answer_applied(story.now, story.next());
    CHECK(sent<FetchRequest>(story.effects).partitions[0].durable_end_offset == Offset(14));
}

TEST_CASE("stale answers change nothing: another request, another phase, another leader's epoch") {
    Story story;
    story.reach_fetch();
    const Fetcher before = story.fetcher;
    FetchAnswer old = story.answer({Story::records()});
    old.request_id.value -= 1;
    story.fetcher.on_fetch_answer(old, story.now, story.next());
    story.fetcher.on_manifest_answer({story.fetch.header.request_id, kEpoch, ErrorCode::kNone, kManifest}, story.now,
                                     story.effects);
    story.fetcher.on_epoch_end_answer({story.fetch.header.request_id, kEpoch, ErrorCode::kNone, {}}, story.now,
                                      story.effects);
    CHECK(story.effects.empty());
    CHECK(story.fetcher == before);

    // A former life's answer, as its requests were numbered like this one's once.
    story.fetcher.number_requests_from(RequestId(1'000));
    story.fetcher.on_fetch_answer(story.answer({Story::records()}), story.now, story.next());
    CHECK(story.effects.empty());
    story.fetcher.number_requests_from(story.fetch.header.request_id);

    story.fetcher.follow(kLeader, LeaderEpoch(6), story.now, story.next());
    story.fetcher.on_fetch_answer(story.answer({Story::records()}), story.now, story.next());
    CHECK(story.effects.empty());
    story.fetcher.follow(BrokerId(3), LeaderEpoch(4), story.now, story.effects);
    CHECK(story.fetcher.leader_epoch() == LeaderEpoch(6));
}

TEST_CASE("F3: refused for its epoch, or answered under another one, it asks again later (KAFKA-7786)") {
    for (const ErrorCode code :
         {ErrorCode::kFencedEpoch, ErrorCode::kUnknownEpoch, ErrorCode::kNotLeader, ErrorCode::kNone}) {
        Story story;
        story.reach_question();
        const RequestId id = sent<EpochEndRequest>(story.effects).header.request_id;
        story.fetcher.on_epoch_end_answer({id, LeaderEpoch(9), code, {}}, story.now, story.next());
        CHECK(story.fetcher.phase() == FetchPhase::kBackingOff);
        story.now = at_ms(60);
        story.fetcher.on_timer(story.now, story.next());
        sent<ManifestRequest>(story.effects);
    }
}

TEST_CASE("F4: an append that does not fit restarts at F1 with a new handshake, never a guess") {
    Story story;
    story.reach_fetch();
    story.fetcher.on_fetch_answer(story.answer({Story::records()}), story.now, story.next());
    story.fetcher.on_append_failed(kOne, story.now, story.next());
    CHECK(story.fetcher.phase() == FetchPhase::kBackingOff);
    story.fetcher.on_answer_applied(story.now, story.next());
    CHECK(story.effects.empty());
    story.fetcher.on_timer(at_ms(60), story.next());
    story.reach_question();
    sent<EpochEndRequest>(story.effects);
}

TEST_CASE("a diverging partition asks the truncation question again; a ready one does not") {
    Story story;
    story.reach_fetch();
    PartitionAnswer diverging{kOne, ErrorCode::kDiverging, Offset(0), Offset(0), {}};
    story.fetcher.on_fetch_answer(story.answer({diverging}), story.now, story.next());
    story.fetcher.on_timer(at_ms(60), story.next());
    story.reach_question();
    sent<EpochEndRequest>(story.effects);

    Story ready;
    ready.reach_fetch();
    ready.fetcher.on_connection_lost(kLeader, ready.now, ready.next());
    ready.fetcher.on_timer(at_ms(60), ready.next());
    ready.give_manifest();
    ready.fetcher.on_reconciled({local_of(kOne, {{LeaderEpoch(3), Offset(0)}}, 10)}, ready.now, ready.next());
    sent<FetchRequest>(ready.effects);
}

TEST_CASE("I10: a new life tells nothing of the former one's copies: every partition is looked at again first") {
    Story story;
    story.reach_fetch();
    story.fetcher.on_incarnation_renewed(Incarnation(10));
    story.next();
    story.report(10, 10);
    CHECK(story.effects.empty());
    story.fetcher.on_fetch_answer(story.answer({Story::records()}), story.now, story.next());
    CHECK(all_of<Append>(story.effects).empty());
    CHECK(sent<ManifestRequest>(story.effects).header.follower == Replica{BrokerId(2), Incarnation(10)});
    story.give_manifest();
    story.fetcher.on_reconciled({local_of(kOne, {}, 0)}, story.now, story.next());
    const FetchRequest fetch = sent<FetchRequest>(story.effects);
    CHECK(fetch.partitions[0].fetch_offset == Offset(0));
    CHECK(fetch.partitions[0].durable_end_offset == Offset(0));
}

TEST_CASE("a copy that was reset between two manifests is fetched from where it is now") {
    Story story;
    story.reach_fetch();
    story.fetcher.on_connection_lost(kLeader, story.now, story.next());
    story.fetcher.on_timer(at_ms(60), story.next());
    story.give_manifest();
    story.fetcher.on_reconciled({local_of(kOne, {}, 0)}, story.now, story.next());
    const FetchRequest fetch = sent<FetchRequest>(story.effects);
    CHECK(fetch.partitions[0].fetch_offset == Offset(0));
    CHECK(fetch.partitions[0].durable_end_offset == Offset(0));
}

TEST_CASE("L7: behind the leader's log start it resets, then fetches from there") {
    Story story;
    story.reach_fetch();
    PartitionAnswer behind{kOne, ErrorCode::kBehindLogStart, Offset(40), Offset(25), {}};
    story.fetcher.on_fetch_answer(story.answer({behind}), story.now, story.next());
    CHECK(all_of<Reset>(story.effects) == std::vector<Reset>{{kOne, Offset(25)}});
    story.fetcher.on_log_cut({kOne, LeaderEpoch(0), Offset(25), Offset(25), Offset(25), Offset(25)}, story.now,
                             story.next());
    story.fetcher.on_answer_applied(story.now, story.effects);
    CHECK(sent<FetchRequest>(story.effects).partitions[0].fetch_offset == Offset(25));

    Story lied_to;  // the log reaches past that start
    lied_to.reach_fetch();
    behind.log_start_offset = Offset(10);
    lied_to.fetcher.on_fetch_answer(lied_to.answer({behind}), lied_to.now, lied_to.next());
    CHECK(all_of<Reset>(lied_to.effects).empty());
    CHECK(lied_to.fetcher.phase() == FetchPhase::kBackingOff);
}

TEST_CASE("F1: another digest in an answer asks for the manifest once the records are in") {
    Story story;
    story.reach_fetch();
    FetchAnswer answer = story.answer({Story::records()});
    answer.manifest_digest = 1;
    story.fetcher.on_fetch_answer(answer, story.now, story.next());
    CHECK(all_of<Append>(story.effects).size() == 1);
    story.report(14, 10);
    story.fetcher.on_answer_applied(story.now, story.next());
    sent<ManifestRequest>(story.effects);
}

TEST_CASE("a partition the leader cannot read is left out for a while, so the others do not spin") {
    Story story;
    story.reach_fetch();
    PartitionAnswer broken{kOne, ErrorCode::kStorageError, Offset(0), Offset(0), {}};
    story.fetcher.on_fetch_answer(story.answer({broken}), story.now, story.next());
    story.fetch = sent<FetchRequest>(story.effects);
    CHECK(story.fetch.partitions.empty());
    story.now = at_ms(60);
    story.fetcher.on_fetch_answer(story.answer({}), story.now, story.next());
    CHECK(sent<FetchRequest>(story.effects).partitions.size() == 1);
}

TEST_CASE("a request without an answer is given up and started over; a timer that came early is set again") {
    Story story;
    story.reach_fetch();
    story.fetcher.on_timer(at_ms(1499), story.next());
    CHECK(story.fetcher.phase() == FetchPhase::kFetching);
    CHECK(all_of<SetFetchTimer>(story.effects).size() == 1);
    story.fetcher.on_timer(at_ms(1500), story.next());
    CHECK(story.fetcher.phase() == FetchPhase::kBackingOff);
    story.fetcher.stop();
    story.fetcher.on_timer(at_ms(2000), story.next());
    CHECK(story.effects.empty());
}

TEST_CASE("an answer that leaves a question open backs off instead of asking for ever") {
    Story story;
    story.reach_question();
    const RequestId id = sent<EpochEndRequest>(story.effects).header.request_id;
    story.fetcher.on_epoch_end_answer({id, kEpoch, ErrorCode::kNone, {}}, story.now, story.next());
    CHECK(story.fetcher.phase() == FetchPhase::kBackingOff);
}

// --- against a model leader ----------------------------------------------------------------------------------

namespace {

/// A record is one byte, its epoch; so a batch shows where it came from and a log is a string.
struct Model {
    struct Log {
        std::string records;
        std::int64_t durable = 0;
        std::int64_t high_watermark = 0;
        [[nodiscard]] std::vector<EpochStart> history() const {
            std::vector<EpochStart> found;
            for (std::size_t i = 0; i < records.size(); ++i)
                if (i == 0 || records[i] != records[i - 1])
                    found.push_back({LeaderEpoch(records[i]), Offset(static_cast<std::int64_t>(i))});
            return found;
        }
        [[nodiscard]] std::int64_t end() const { return static_cast<std::int64_t>(records.size()); }
    };

    Log leader;
    Log follower;
    Fetcher fetcher{config_of()};
    ParkedFetches parked{4, milliseconds(5)};
    std::vector<Message> to_leader;
    std::vector<Message> to_follower;
    std::int64_t position = -1;  // what the leader counts
    std::int64_t message_count = 0;
    Instant now = at_ms(0);
    std::optional<Instant> timer;

    [[nodiscard]] LocalEnds ends() const {
        const LeaderEpoch last(follower.records.empty() ? 0 : follower.records.back());
        return {
            kOne, last, Offset(0), Offset(follower.end()), Offset(follower.durable), Offset(follower.high_watermark)};
    }
    void carry_out(FetchEffects effects) {
        for (std::size_t i = 0; i < effects.size(); ++i) {
            const FetchEffect effect = effects[i];
            if (const auto* send = std::get_if<SendToLeader>(&effect)) to_leader.push_back(send->message);
            if (const auto* set = std::get_if<SetFetchTimer>(&effect)) timer = now + set->max;
            if (std::holds_alternative<ApplyManifest>(effect))
                fetcher.on_reconciled({{kOne, follower.history(), Offset(0), Offset(follower.end()),
                                        Offset(follower.durable), Offset(follower.high_watermark)}},
                                      now, effects);
            if (const auto* cut = std::get_if<Truncate>(&effect)) {
                RC_ASSERT(cut->offset.value >= follower.high_watermark);
                follower.records.resize(static_cast<std::size_t>(cut->offset.value));
                follower.durable = std::min(follower.durable, follower.end());
                fetcher.on_log_cut(ends(), now, effects);
            }
            if (const auto* reset = std::get_if<Reset>(&effect)) {
                RC_ASSERT(reset->log_start_offset == Offset(0));
                follower = Log{};
                fetcher.on_log_cut(ends(), now, effects);
            }
            if (const auto* append = std::get_if<Append>(&effect)) take(*append, effects);
            if (std::holds_alternative<AnswerApplied>(effect)) fetcher.on_answer_applied(now, effects);
        }
    }
    void take(const Append& append, FetchEffects& effects) {
        RC_ASSERT(append.at.value == follower.end());
        follower.records += append.batches.text();
        follower.high_watermark =
            std::max(follower.high_watermark, std::min(append.leader_high_watermark.value, follower.end()));
        const LocalEnds changed = ends();
        fetcher.on_local_logs_changed(std::span(&changed, 1), now, effects);
    }
    void sync() {
        if (follower.durable == follower.end()) return;
        follower.durable = follower.end();
        const LocalEnds changed = ends();
        FetchEffects effects;
        fetcher.on_local_logs_changed(std::span(&changed, 1), now, effects);
        carry_out(std::move(effects));
    }
    void count(Offset durable) {
        position = durable.value;
        const std::int64_t mark = std::max(leader.high_watermark, std::min(position, leader.end()));
        if (mark == leader.high_watermark) return;
        leader.high_watermark = mark;
        std::vector<FetchRequest> woken;
        parked.on_news(kOne, Offset(mark), Offset(0), now, woken);
        for (const FetchRequest& request : woken) answer(request);
    }
    void answer(const FetchRequest& request) {
        FetchAnswer made{request.header.request_id, kEpoch, ErrorCode::kNone, digest_of(kManifest), false, {}};
        for (const FetchPartition& asked : request.partitions) {
            const std::vector<EpochStart> history = leader.history();
            const LeaderView view{kOne, history, Offset(0), Offset(leader.end()), Offset(leader.high_watermark), true};
            const PartitionJudgement judgement = judge_partition(asked, &view);
            Bytes batches;
            if (judgement.has_records)
                batches = Bytes::copy_of(leader.records.substr(static_cast<std::size_t>(asked.fetch_offset.value), 3));
            made.has_more =
                made.has_more || asked.fetch_offset.value + static_cast<std::int64_t>(batches.size()) < leader.end();
            made.partitions.push_back({kOne, judgement.code, Offset(leader.high_watermark), Offset(0), batches});
        }
        to_follower.emplace_back(made);
    }
    void serve(const Message& message) {
        const std::vector<EpochStart> history = leader.history();
        const LeaderView view{kOne, history, Offset(0), Offset(leader.end()), Offset(leader.high_watermark), true};
        if (const auto* ask = std::get_if<ManifestRequest>(&message))
            to_follower.emplace_back(ManifestAnswer{ask->header.request_id, kEpoch, ErrorCode::kNone, kManifest});
        if (const auto* ask = std::get_if<EpochEndRequest>(&message)) {
            EpochEndAnswer made{ask->header.request_id, kEpoch, ErrorCode::kNone, {}};
            for (const EpochEndQuestion& question : ask->questions)
                made.ends.push_back(answer_epoch_end(question, &view));
            to_follower.emplace_back(made);
        }
        if (const auto* told = std::get_if<PositionUpdate>(&message))
            for (const auto& one : told->positions)
                if (is_position_valid(one.durable_end_offset, one.last_fetched_epoch, &view))
                    count(one.durable_end_offset);
        if (const auto* ask = std::get_if<FetchRequest>(&message)) {
            for (const FetchPartition& asked : ask->partitions)
                if (judge_partition(asked, &view).is_position_valid) count(asked.durable_end_offset);
            LeaderView moved = view;
            moved.high_watermark = Offset(leader.high_watermark);
            const std::vector<const LeaderView*> views(ask->partitions.size(), &moved);
            const FetchPlan plan = plan_fetch(*ask, views);
            if (!plan.may_park() || !parked.park(*ask, plan.has_other_news, milliseconds(500), now)) answer(*ask);
        }
    }
    void append(int count_of) {
        leader.records.append(static_cast<std::size_t>(count_of), static_cast<char>(kEpoch.value));
        std::vector<FetchRequest> woken;
        parked.on_appended(kOne, Offset(leader.end()), woken);
        for (const FetchRequest& request : woken) answer(request);
    }
    void deliver_to_follower(const Message& message) {
        FetchEffects effects;
        if (const auto* manifest = std::get_if<ManifestAnswer>(&message))
            fetcher.on_manifest_answer(*manifest, now, effects);
        if (const auto* end = std::get_if<EpochEndAnswer>(&message)) fetcher.on_epoch_end_answer(*end, now, effects);
        if (const auto* fetched = std::get_if<FetchAnswer>(&message)) fetcher.on_fetch_answer(*fetched, now, effects);
        carry_out(std::move(effects));
    }
    /// Delivers what is under way; `is_lost` says for each message whether it is dropped.
    template <typename IsLost>
    void exchange(IsLost&& is_lost) {
        std::vector<Message> requests;
        requests.swap(to_leader);
        message_count += static_cast<std::int64_t>(requests.size());
        for (const Message& message : requests)
            if (!is_lost()) serve(message);
        std::vector<Message> answers;
        answers.swap(to_follower);
        message_count += static_cast<std::int64_t>(answers.size());
        for (const Message& message : answers)
            if (!is_lost()) deliver_to_follower(message);
    }
    void pass_time(Duration time) {
        now = now + time;
        std::vector<FetchRequest> woken;
        parked.expire(now, woken);
        for (const FetchRequest& request : woken) answer(request);
        if (!timer || *timer > now) return;
        timer.reset();
        FetchEffects effects;
        fetcher.on_timer(now, effects);
        carry_out(std::move(effects));
    }
    void start() {
        FetchEffects effects;
        fetcher.follow(kLeader, kEpoch, now, effects);
        carry_out(std::move(effects));
    }
    [[nodiscard]] bool is_in_step() const {
        return follower.records == leader.records && follower.durable == leader.end() && position == leader.end() &&
               follower.high_watermark == leader.high_watermark;
    }
};

std::string log_of(const std::string& shared, const std::vector<std::uint8_t>& steps, char first_epoch) {
    std::string log = shared;
    char epoch = first_epoch;
    for (const std::uint8_t step : steps) {
        epoch = static_cast<char>(std::min<int>(4, epoch + 2 * (step % 2)));
        log += epoch;
    }
    return log;
}

}  // namespace

TEST_CASE("whatever the two logs and whichever messages are lost, the follower ends up a durable copy of the leader") {
    check_law([](std::uint8_t shared, std::vector<std::uint8_t> own, std::vector<std::uint8_t> theirs) {
        Model model;
        const std::string prefix(shared % 5, '\1');
        model.follower.records = log_of(prefix, own, '\2');  // epochs 2 and 4
        model.leader.records = log_of(prefix, theirs, '\3');
        // Each epoch was one broker's: what the leader wrote alone is of epoch 3.
        std::replace(model.leader.records.begin(), model.leader.records.end(), '\4', '\3');
        model.follower.durable = model.follower.end();
        model.follower.high_watermark =
            *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(prefix.size()) + 1);
        model.leader.high_watermark = model.follower.high_watermark;
        model.start();
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
        for (const int step : steps) {
            if (step <= 2) model.exchange([] { return *rc::gen::inRange(0, 4) == 0; });
            if (step == 3) model.append(*rc::gen::inRange(1, 6));
            if (step == 4) model.sync();
            if (step == 5) model.pass_time(milliseconds(*rc::gen::inRange(1, 900)));
            // I1: what is counted is really there.
            if (model.position >= 0) RC_ASSERT(model.position <= model.follower.durable);
        }
        for (int i = 0; i < 40 && !model.is_in_step(); ++i) {
            for (int j = 0; j < 6; ++j) model.exchange([] { return false; });
            model.sync();
            model.pass_time(milliseconds(600));
        }
        RC_ASSERT(model.is_in_step());
    });
}

TEST_CASE("a record costs two messages a follower, four when nothing else carries the high watermark") {
    Model model;
    model.start();
    const auto settle = [&model] {
        for (int i = 0; i < 8; ++i) {
            model.exchange([] { return false; });
            model.sync();
        }
    };
    settle();
    REQUIRE(model.fetcher.phase() == FetchPhase::kFetching);
    model.message_count = 0;
    for (int i = 0; i < 100; ++i) {
        model.append(1);
        settle();
    }
    CHECK(model.position == model.leader.end());
    CHECK(model.message_count == 200);
    model.pass_time(milliseconds(5));
    settle();
    CHECK(model.is_in_step());
    CHECK(model.message_count == 202);
}

}  // namespace tidelock::replication
