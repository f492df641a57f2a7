// V14 and V21, and V10 as clients see it: offsets that do not go back, and answers that fit together.
#include <algorithm>

#include "tests/checker/story.h"

namespace tidelock::checker {
namespace {

using Catch::Matchers::Contains;

// --- client calls -------------------------------------------------------------------------------------------------

/// Client calls, one after the other unless times are given.
struct ClientStory {
    /// Retention leaves `retention_records_min` records; none: there is no retention.
    explicit ClientStory(std::optional<std::int64_t> retention_records_min = std::nullopt)
        : checker([&] {
              Settings settings = Story::group_of_three();
              settings.retention_enabled = retention_records_min.has_value();
              settings.retention_records_min = retention_records_min.value_or(0);
              return settings;
          }()) {}

    Checker checker;
    std::int64_t now = 0;
    std::int64_t calls = 0;
    FinalRead last_read{kClientX0, true, Offset(0), {}};

    template <typename Operation>
    ClientStory& call(Operation operation, Outcome outcome = Outcome::kOk, std::int64_t invoked_ns = -1) {
        const std::int64_t invoked = invoked_ns >= 0 ? invoked_ns : ++now;
        checker.on_call(ClientCall{ClientId(1), ++calls, invoked, ++now, outcome, std::move(operation)});
        return *this;
    }
    ClientStory& produce(std::uint64_t value, std::int64_t offset, Acks acks = Acks::kAll, std::int64_t producer = 5) {
        return call(ProduceCall{kClientX0, ProducerId(producer), ProducerEpoch(0), 0, acks, {value}, Offset(offset)});
    }
    ClientStory& try_produce(std::uint64_t value, Outcome outcome, std::int64_t producer = 5) {
        return call(ProduceCall{kClientX0, ProducerId(producer), ProducerEpoch(0), 0, Acks::kAll, {value}, {}},
                    outcome);
    }
    ClientStory& fetch(std::int64_t from, std::vector<ReadRecord> records, std::int64_t high_watermark = 100) {
        return call(FetchCall{kClientX0, Offset(from), false, std::move(records), Offset(high_watermark)});
    }
    ClientStory& commit(std::int64_t offset, Outcome outcome = Outcome::kOk, std::int64_t invoked_ns = -1) {
        return call(OffsetCommitCall{ClientGroup(1), kClientX0, Offset(offset)}, outcome, invoked_ns);
    }
    ClientStory& fetch_offset(std::optional<Offset> offset, std::int64_t invoked_ns = -1) {
        return call(OffsetFetchCall{ClientGroup(1), kClientX0, offset}, Outcome::kOk, invoked_ns);
    }
    ClientStory& end(std::vector<ReadRecord> records, std::int64_t log_start = 0) {
        FinalView view;
        view.judge_progress = false;
        view.reads.push_back(FinalRead{kClientX0, true, Offset(log_start), std::move(records)});
        checker.at_end(++now, view);
        return *this;
    }
    [[nodiscard]] std::string message() const {
        return checker.violations().empty() ? std::string() : checker.violations().front().message;
    }
    [[nodiscard]] bool is_clean() const { return checker.violations().empty(); }
};

ReadRecord at(std::int64_t offset, std::uint64_t value) {
    return ReadRecord{Offset(offset), value};
}

TEST_CASE("V21: what was called written already is there at the end") {
    ClientStory story;
    const auto told_written = [&](std::uint64_t value) {
        ProduceCall call{kClientX0, ProducerId(5), ProducerEpoch(0), 0, Acks::kAll, {value}, {}};
        call.error = clients::ErrorCode::kDuplicateSequence;
        story.call(call);
    };
    story.produce(0xa, 0);
    told_written(0xb);
    SECTION("it is") {
        REQUIRE(story.end({at(0, 0xa), at(1, 0xb)}).is_clean());
    }
    SECTION("it is not") {
        REQUIRE_THAT(story.end({at(0, 0xa)}).message(), Contains("lost write") && Contains("value b is in"));
    }
}

TEST_CASE("V21: acknowledged records are there at the end") {
    ClientStory story;
    story.produce(0xa, 0).produce(0xb, 1);
    SECTION("all") {
        REQUIRE(story.end({at(0, 0xa), at(1, 0xb)}).is_clean());
    }
    SECTION("one lost") {
        REQUIRE_THAT(story.end({at(1, 0xb)}).message(), Contains("lost write") && Contains("offset 0 held value a"));
    }
    SECTION("one unseen") {
        REQUIRE_THAT(story.end({at(0, 0xa)}).message(), Contains("unseen") && Contains("offset 1"));
    }
    SECTION("one replaced") {
        story.try_produce(0xc, Outcome::kUnknown);
        REQUIRE_THAT(story.end({at(0, 0xa), at(1, 0xc)}).message(),
                     Contains("lost write") && Contains("value c is there"));
    }
    SECTION("one deleted on request") {
        story.call(DeleteRecordsCall{kClientX0, Offset(1)});
        REQUIRE(story.end({at(1, 0xb)}, 1).is_clean());
    }
    SECTION("the log start moved without a request") {
        REQUIRE_FALSE(story.end({at(1, 0xb)}, 1).is_clean());
    }
    SECTION("the topic deleted") {
        story.call(DeleteTopicCall{ClientTopic(1)});
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("the topic perhaps deleted") {
        story.call(DeleteTopicCall{ClientTopic(1)}, Outcome::kUnknown);
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("the topic not deleted for sure") {
        story.call(DeleteTopicCall{ClientTopic(1)}, Outcome::kFailed);
        REQUIRE_FALSE(story.end({}).is_clean());
    }
}

TEST_CASE("V21: deleted records stay deleted (L7)") {
    struct Case {
        Outcome outcome;
        std::int64_t log_start;
        bool is_clean;
    };
    for (const Case& each : {Case{Outcome::kOk, 2, true}, Case{Outcome::kOk, 3, true}, Case{Outcome::kOk, 1, false},
                             Case{Outcome::kUnknown, 1, true}, Case{Outcome::kFailed, 0, true}}) {
        ClientStory story(0);
        story.produce(0xa, 0).produce(0xb, 1).produce(0xc, 2).produce(0xd, 3);
        story.call(DeleteRecordsCall{kClientX0, Offset(2)}, each.outcome);
        std::vector<ReadRecord> left;
        for (std::int64_t offset = each.log_start; offset < 4; ++offset)
            left.push_back(at(offset, 0xa + static_cast<std::uint64_t>(offset)));
        story.end(left, each.log_start);
        REQUIRE(story.is_clean() == each.is_clean);
        if (!each.is_clean) REQUIRE_THAT(story.message(), Contains("deleted records are back"));
    }
    ClientStory recreated;
    recreated.produce(0xa, 0).call(DeleteRecordsCall{kClientX0, Offset(1)});
    recreated.call(DeleteTopicCall{ClientTopic(1)}).call(CreateTopicCall{ClientTopic(1), 1}).produce(0xb, 0);
    REQUIRE(recreated.end({at(0, 0xb)}).is_clean());
}

TEST_CASE("V21: a log start hides no record that retention has to leave") {
    for (const std::int64_t start : {2, 3}) {
        ClientStory story(2);
        story.produce(0xa, 0).produce(0xb, 1).produce(0xc, 2).produce(0xd, 3);
        std::vector<ReadRecord> left;
        for (std::int64_t offset = start; offset < 4; ++offset)
            left.push_back(at(offset, 0xa + static_cast<std::uint64_t>(offset)));
        story.end(left, start);
        REQUIRE(story.is_clean() == (start == 2));
    }
}

TEST_CASE("V10: a new producer id is nobody else's") {
    ClientStory story;
    story.call(InitProducerIdCall{ProducerId(7)}).call(InitProducerIdCall{ProducerId(8)});
    story.call(InitProducerIdCall{}, Outcome::kUnknown).call(InitProducerIdCall{}, Outcome::kUnknown);
    REQUIRE(story.is_clean());
    REQUIRE_THAT(story.call(InitProducerIdCall{ProducerId(7)}).message(), Contains("which call 1 had been given"));
}

TEST_CASE("V21: a topic change that was answered is not taken back") {
    ClientStory story;
    story.call(CreateTopicCall{ClientTopic(1), 1}).call(GrowTopicCall{ClientTopic(1), 2});
    story.call(CreateTopicCall{ClientTopic(2), 1}).call(DeleteTopicCall{ClientTopic(2)}, Outcome::kUnknown);
    FinalView view;
    view.reads.push_back(FinalRead{kClientX0, true, Offset(0), {}});
    const auto has_lost_topic = [&story] {
        const std::vector<Violation>& all = story.checker.violations();
        return std::any_of(all.begin(), all.end(), [](const Violation& violation) {
            return violation.message.starts_with("lost topic: topic 1 was created with 2 partition(s)");
        });
    };
    SECTION("both partitions are read at the end") {
        view.reads.push_back(FinalRead{{ClientTopic(1), PartitionIndex(1)}, true, Offset(0), {}});
        story.checker.at_end(++story.now, view);
        REQUIRE_FALSE(has_lost_topic());
    }
    SECTION("one of them is") {
        story.checker.at_end(++story.now, view);
        REQUIRE(has_lost_topic());
    }
    SECTION("one of them is, in a run whose progress is not judged") {
        view.judge_progress = false;
        story.checker.at_end(++story.now, view);
        REQUIRE(has_lost_topic());
    }
    SECTION("the reading did not end") {
        view.is_everything_read = false;
        story.checker.at_end(++story.now, view);
        REQUIRE_FALSE(has_lost_topic());
    }
    SECTION("the last change was answered before the topics were listed, or after") {
        view.judge_progress = false;
        for (const std::int64_t after_ns : {1, 0}) {
            ClientStory late;
            late.call(CreateTopicCall{ClientTopic(1), 1}).call(GrowTopicCall{ClientTopic(1), 2});
            view.topics_listed_ns = late.now + after_ns;
            late.checker.at_end(++late.now, view);
            REQUIRE(late.is_clean() == (after_ns == 0));
        }
    }
}

TEST_CASE("V21: what was read stays, acks=leader may be lost unread") {
    ClientStory story;
    story.produce(0xa, 0, Acks::kLeader);
    SECTION("unread") {
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("read") {
        REQUIRE_FALSE(story.fetch(0, {at(0, 0xa)}).end({}).is_clean());
    }
}

TEST_CASE("V21: an answer from before a deletion tells nothing of the topic's next life") {
    for (const bool asked_before : {true, false}) {
        ClientStory story;
        const std::int64_t before_ns = ++story.now;
        story.call(DeleteTopicCall{ClientTopic(1)});
        const ProduceCall late{kClientX0, ProducerId(5), ProducerEpoch(0), 0, Acks::kAll, {0xa}, Offset(0)};
        story.call(late, Outcome::kOk, asked_before ? before_ns : ++story.now);
        REQUIRE(story.produce(0xb, 0, Acks::kAll, 6).is_clean() == asked_before);
    }
}

TEST_CASE("V21: what was shown to be in range is not refused as out of range") {
    const auto refused = [](std::int64_t from, std::int64_t log_start) {
        return FetchCall{kClientX0, Offset(from), false, {}, Offset(0), Offset(log_start)};
    };
    ClientStory story;
    story.fetch(0, {}, 5);
    SECTION("the shown end itself") {
        REQUIRE_THAT(story.call(refused(5, 0), Outcome::kFailed).message(),
                     Contains("refused in range") && Contains("high watermark 5"));
    }
    SECTION("beyond it nobody knows") {
        REQUIRE(story.call(refused(6, 0), Outcome::kFailed).is_clean());
    }
    SECTION("below the log start it is out of range") {
        REQUIRE(story.call(refused(3, 4), Outcome::kFailed).is_clean());
        REQUIRE_FALSE(story.call(refused(4, 4), Outcome::kFailed).is_clean());
    }
    SECTION("it had asked before") {
        REQUIRE(story.call(refused(5, 0), Outcome::kFailed, 0).is_clean());
    }
    SECTION("a topic created again is another one") {
        story.call(DeleteTopicCall{ClientTopic(1)});
        REQUIRE(story.call(refused(5, 0), Outcome::kFailed).is_clean());
    }
}

TEST_CASE("V21: what was shown to be there is not refused to be deleted as past the end") {
    const auto is_clean = [](std::int64_t before, bool is_refused_as_past_end) {
        ClientStory story;
        story.fetch(0, {}, 5);
        return story.call(DeleteRecordsCall{kClientX0, Offset(before), is_refused_as_past_end}, Outcome::kFailed)
            .is_clean();
    };
    REQUIRE_FALSE(is_clean(5, true));
    REQUIRE(is_clean(6, true));   // beyond it nobody knows
    REQUIRE(is_clean(5, false));  // refused for another reason
}

TEST_CASE("V21: an offset has one value") {
    ClientStory story;
    story.produce(0xa, 0).produce(0xb, 1);
    REQUIRE_THAT(story.fetch(0, {at(0, 0xb)}).message(), Contains("inconsistent offset"));
}

TEST_CASE("V21: a value is there once, unless its producer could not know") {
    ClientStory story;
    SECTION("sent once") {
        story.produce(0xa, 0).fetch(0, {at(0, 0xa), at(1, 0xa)});
        REQUIRE_THAT(story.end({at(0, 0xa), at(1, 0xa)}).message(),
                     Contains("duplicate") && Contains("again at offset 1"));
    }
    SECTION("retried by an idempotent producer") {
        story.try_produce(0xa, Outcome::kUnknown).produce(0xa, 1);
        REQUIRE_FALSE(story.end({at(0, 0xa), at(1, 0xa)}).is_clean());
    }
    SECTION("retried by another session of it") {
        story.try_produce(0xa, Outcome::kUnknown, 5).produce(0xa, 1, Acks::kAll, 6);
        REQUIRE(story.end({at(0, 0xa), at(1, 0xa)}).is_clean());
    }
    SECTION("retried without idempotence") {
        story.try_produce(0xa, Outcome::kUnknown, -1).produce(0xa, 1, Acks::kAll, -1);
        REQUIRE(story.end({at(0, 0xa), at(1, 0xa)}).is_clean());
    }
    SECTION("sent once without idempotence") {
        story.produce(0xa, 0, Acks::kAll, -1);
        REQUIRE_FALSE(story.end({at(0, 0xa), at(1, 0xa)}).is_clean());
    }
    SECTION("acknowledged at two offsets") {
        story.produce(0xa, 0).produce(0xa, 1);
        REQUIRE_THAT(story.message(), Contains("duplicate") && Contains("offset 1, after offset 0"));
    }
    SECTION("acknowledged in two lives of a topic, as who writes by name may be") {
        story.produce(0xb, 0).produce(0xa, 1);
        story.call(DeleteTopicCall{ClientTopic(1)}).call(CreateTopicCall{ClientTopic(1), 1}).produce(0xa, 0);
        REQUIRE(story.is_clean());
        SECTION("and once more in the second") {
            story.produce(0xa, 1);
            REQUIRE_THAT(story.message(), Contains("duplicate") && Contains("offset 1, after offset 0"));
        }
    }
    SECTION("acknowledged twice at one offset") {
        story.produce(0xa, 0).produce(0xb, 1).produce(0xa, 0);
        REQUIRE(story.end({at(0, 0xa), at(1, 0xb)}).is_clean());
    }
}

TEST_CASE("V21: what was read is found by its time as long as it is there") {
    ClientStory story;
    story.produce(0xa, 0).produce(0xb, 1).fetch(0, {at(0, 0xa), at(1, 0xb)});
    // Asked for the time of the record at offset 1.
    TimeLookupCall lookup{kClientX0, 20, Offset(1), story.now};
    SECTION("it is") {
        lookup.offset = Offset(1);
        REQUIRE(story.call(lookup).is_clean());
    }
    SECTION("an earlier one is, that nobody has read") {
        lookup.offset = Offset(0);
        REQUIRE(story.call(lookup).is_clean());
    }
    SECTION("an earlier one is, that is known to be older") {
        lookup.offset = Offset(0);
        lookup.is_too_early = true;
        REQUIRE_THAT(story.call(lookup).message(), Contains("wrong offset for a time") && Contains("an older record"));
    }
    SECTION("a later one is") {
        lookup.offset = Offset(2);
        REQUIRE_THAT(story.call(lookup).message(), Contains("wrong offset for a time") && Contains("one at offset 1"));
    }
    SECTION("none is") {
        REQUIRE_THAT(story.call(lookup).message(), Contains("was told none"));
    }
    SECTION("none is, where the log starts past it") {
        lookup.log_start = Offset(2);
        REQUIRE(story.call(lookup).is_clean());
    }
    SECTION("none is, in the topic's next life") {
        story.call(DeleteTopicCall{ClientTopic(1)}).call(CreateTopicCall{ClientTopic(1), 1});
        REQUIRE(story.call(lookup).is_clean());
    }
}

TEST_CASE("V21: the epoch of what was read does not end before that (KIP-320)") {
    ClientStory story;
    story.produce(0xa, 0).produce(0xb, 1).fetch(0, {at(0, 0xa), at(1, 0xb)});
    EpochEndCall asked{kClientX0, Offset(2), story.now};
    SECTION("it ends there") {
        asked.end = Offset(2);
        REQUIRE(story.call(asked).is_clean());
    }
    SECTION("it ends before") {
        asked.end = Offset(1);
        REQUIRE_THAT(story.call(asked).message(), Contains("told to be cut") && Contains("had read up to 2"));
    }
    SECTION("it ends before, in the topic's next life") {
        story.call(DeleteTopicCall{ClientTopic(1)}).call(CreateTopicCall{ClientTopic(1), 1});
        REQUIRE(story.call(asked).is_clean());
    }
}

TEST_CASE("V21: only what was sent, and not what failed for sure, is read") {
    ClientStory story;
    SECTION("never sent") {
        REQUIRE_THAT(story.end({at(0, 0xa)}).message(), Contains("nobody ever sent"));
    }
    SECTION("failed for sure") {
        REQUIRE_THAT(story.try_produce(0xa, Outcome::kFailed).end({at(0, 0xa)}).message(), Contains("failed for sure"));
    }
    SECTION("outcome unknown") {
        REQUIRE(story.try_produce(0xa, Outcome::kUnknown).end({at(0, 0xa)}).is_clean());
    }
    SECTION("read before its produce returned") {
        story.fetch(0, {at(0, 0xa)})
            .call(ProduceCall{kClientX0, ProducerId(5), {}, 0, Acks::kAll, {0xa}, Offset(0)}, Outcome::kOk, 0);
        REQUIRE(story.end({at(0, 0xa)}).is_clean());
    }
    SECTION("sent to another partition") {
        story.call(
            ProduceCall{{ClientTopic(1), PartitionIndex(1)}, ProducerId(5), {}, 0, Acks::kAll, {0xa}, Offset(0)});
        REQUIRE_THAT(story.end({at(0, 0xa)}).message(), Contains("misplaced"));
    }
    SECTION("past the high watermark told") {
        story.produce(0xa, 0).fetch(0, {at(0, 0xa)}, 0);
        REQUIRE_THAT(story.message(), Contains("dirty read"));
    }
}

TEST_CASE("V21: polls go forward and skip nothing") {
    ClientStory story;
    story.produce(0xa, 0).produce(0xb, 1).produce(0xc, 2);
    SECTION("in order") {
        REQUIRE(story.fetch(0, {at(0, 0xa), at(1, 0xb)}).fetch(2, {at(2, 0xc)}).is_clean());
    }
    SECTION("backwards") {
        REQUIRE_THAT(story.fetch(1, {at(0, 0xa)}).message(), Contains("non-monotonic poll"));
    }
    SECTION("a hole") {
        REQUIRE_THAT(story.fetch(0, {at(0, 0xa), at(2, 0xc)}).message(),
                     Contains("poll skip") && Contains("past offset 1"));
    }
    SECTION("a hole at the start") {
        REQUIRE_FALSE(story.fetch(0, {at(1, 0xb)}).is_clean());
    }
    SECTION("a hole where records were deleted") {
        story.call(DeleteRecordsCall{kClientX0, Offset(1)}).fetch(0, {at(1, 0xb)});
        REQUIRE(story.is_clean());
    }
}

TEST_CASE("V21: who sends later gets a higher offset") {
    ClientStory story;
    story.produce(0xa, 5);
    SECTION("lower") {
        REQUIRE_THAT(story.produce(0xb, 4).message(), Contains("non-monotonic send"));
    }
    SECTION("higher") {
        REQUIRE(story.produce(0xb, 6).is_clean());
    }
    SECTION("lower, but sent at the same time") {
        story.call(ProduceCall{kClientX0, ProducerId(6), {}, 0, Acks::kAll, {0xb}, Offset(4)}, Outcome::kOk, 0);
        REQUIRE(story.is_clean());
    }
}

// --- V10 again: what clients are told of their producers ----------------------------------------------------------

/// Producer 9 sends one record.
ProduceCall sequenced(std::int32_t sequence, clients::ErrorCode error = clients::ErrorCode::kNone,
                      Acks acks = Acks::kAll, std::int16_t epoch = 0) {
    ProduceCall produce{kClientX0, ProducerId(9), ProducerEpoch(epoch), sequence, acks, {}, {}, error};
    produce.values.push_back(static_cast<std::uint64_t>(sequence) + 1);
    return produce;
}

TEST_CASE("T2: a producer that was acknowledged is not forgotten") {
    using enum clients::ErrorCode;
    ClientStory story;
    story.call(sequenced(0)).call(sequenced(1));
    for (const clients::ErrorCode error : {kUnknownProducerId, kOutOfOrderSequence}) {
        DYNAMIC_SECTION(clients::to_text(error)) {
            SECTION("the next one") {
                REQUIRE_THAT(story.call(sequenced(2, error), Outcome::kFailed).message(),
                             Contains("all before sequence 2 was acknowledged"));
            }
            SECTION("one that comes again") {
                REQUIRE_FALSE(story.call(sequenced(0, error), Outcome::kFailed).is_clean());
            }
            SECTION("a gap") {
                REQUIRE(story.call(sequenced(3, error), Outcome::kFailed).is_clean());
            }
            SECTION("another life of the producer") {
                story.call(sequenced(2, error, Acks::kAll, 1), Outcome::kFailed);
                REQUIRE(story.is_clean());
            }
            SECTION("sent before it was acknowledged") {
                REQUIRE(story.call(sequenced(2, error), Outcome::kFailed, 0).is_clean());
            }
            SECTION("after its topic was deleted") {
                story.call(DeleteTopicCall{ClientTopic(1)}).call(sequenced(2, error), Outcome::kFailed);
                REQUIRE(story.is_clean());
            }
        }
    }
    SECTION("another error says nothing of the kind") {
        REQUIRE(story.call(sequenced(2, kNotEnoughReplicas), Outcome::kFailed).is_clean());
    }
    SECTION("what only the leader acknowledged may be lost") {
        ClientStory other;
        other.call(sequenced(0, kNone, Acks::kLeader));
        other.call(sequenced(1, kUnknownProducerId, Acks::kLeader), Outcome::kFailed);
        REQUIRE(other.is_clean());
    }
}

// --- V14 offsets-monotonic ----------------------------------------------------------------------------------------

TEST_CASE("V14: an offset fetch answers at least what was acknowledged before") {
    ClientStory story;
    story.commit(10).commit(20);
    SECTION("the last") {
        REQUIRE(story.fetch_offset(Offset(20)).end({}).is_clean());
    }
    SECTION("an older one") {
        REQUIRE_THAT(story.fetch_offset(Offset(10)).end({}).message(),
                     Contains("was told the committed offset 10, but a commit of 20 had been acknowledged"));
    }
    SECTION("none") {
        REQUIRE_FALSE(story.fetch_offset(std::nullopt).end({}).is_clean());
    }
    SECTION("asked before the last was acknowledged") {
        REQUIRE(story.fetch_offset(Offset(10), 3).end({}).is_clean());
    }
    SECTION("an explicit step back") {
        REQUIRE(story.commit(5).fetch_offset(Offset(5)).end({}).is_clean());
    }
    SECTION("a step back that failed for sure") {
        REQUIRE_FALSE(story.commit(5, Outcome::kFailed).fetch_offset(Offset(5)).end({}).is_clean());
    }
    SECTION("a step back of unknown outcome") {
        REQUIRE(story.commit(5, Outcome::kUnknown).fetch_offset(Offset(5)).fetch_offset(Offset(20)).end({}).is_clean());
        REQUIRE_FALSE(story.fetch_offset(Offset(6)).end({}).is_clean());
    }
    SECTION("a step back that returned after the fetch") {
        const std::int64_t invoked = story.now;
        story.fetch_offset(Offset(5)).commit(5, Outcome::kOk, invoked);
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("concurrent commits, either may be the last") {
        story.commit(15, Outcome::kOk, 3);
        REQUIRE(story.fetch_offset(Offset(15)).fetch_offset(Offset(20)).end({}).is_clean());
    }
    SECTION("the topic was being deleted while it was asked") {
        const std::int64_t invoked = story.now;
        story.fetch_offset(std::nullopt).call(DeleteTopicCall{ClientTopic(1)}, Outcome::kOk, invoked);
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("the topic was deleted after it was asked") {
        story.fetch_offset(std::nullopt).call(DeleteTopicCall{ClientTopic(1)});
        REQUIRE_FALSE(story.end({}).is_clean());
    }
    SECTION("the topic was deleted") {
        REQUIRE(story.call(DeleteTopicCall{ClientTopic(1)}).fetch_offset(std::nullopt).end({}).is_clean());
    }
}

// A commit is answered after the deletion it was under way with: it was the deleted topic's, or the next one's.
TEST_CASE("V14: a commit says nothing of the next topic if it was asked before the deletion returned") {
    for (const bool was_under_way : {true, false}) {
        ClientStory story;
        story.call(DeleteTopicCall{ClientTopic(1)});
        const std::int64_t after = ++story.now;
        story.commit(4, Outcome::kOk, was_under_way ? 0 : after).fetch_offset(std::nullopt);
        REQUIRE(story.end({}).is_clean() == was_under_way);
    }
}

TEST_CASE("V14: a commit that may have been the deleted topic's takes no promise back") {
    for (const bool is_shown : {true, false}) {
        ClientStory story;
        story.call(DeleteTopicCall{ClientTopic(1)}).commit(4, Outcome::kOk, 0).commit(10);
        story.fetch_offset(Offset(is_shown ? 4 : 5));
        REQUIRE(story.end({}).is_clean() == is_shown);
    }
}

TEST_CASE("V14: what a fetch was told says nothing of the next topic if it asked before the deletion returned") {
    for (const bool was_under_way : {true, false}) {
        ClientStory story;
        story.call(DeleteTopicCall{ClientTopic(1)});
        const std::int64_t after = ++story.now;
        story.fetch_offset(Offset(4), was_under_way ? 0 : after).fetch_offset(std::nullopt);
        REQUIRE(story.end({}).is_clean() == was_under_way);
    }
}

TEST_CASE("V14: a deletion of unknown outcome may take commits later, and explains no lower one") {
    for (const Outcome outcome : {Outcome::kOk, Outcome::kUnknown, Outcome::kFailed}) {
        ClientStory vanished;
        vanished.call(DeleteTopicCall{ClientTopic(1)}, outcome).commit(10).fetch_offset(std::nullopt);
        REQUIRE(vanished.end({}).is_clean() == (outcome == Outcome::kUnknown));
        ClientStory lower;
        lower.call(DeleteTopicCall{ClientTopic(1)}, outcome).commit(10).fetch_offset(Offset(5));
        REQUIRE_FALSE(lower.end({}).is_clean());
        ClientStory other_topic;
        other_topic.call(DeleteTopicCall{ClientTopic(2)}, outcome).commit(10).fetch_offset(std::nullopt);
        REQUIRE_FALSE(other_topic.end({}).is_clean());
    }
}

TEST_CASE("V14: an offset that was shown does not go back, acknowledged or not") {
    ClientStory story;
    story.commit(10);
    SECTION("the commit behind it is still under way") {
        story.fetch_offset(Offset(20)).fetch_offset(Offset(20)).commit(20, Outcome::kUnknown, 0);
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("it goes back") {
        story.fetch_offset(Offset(20)).fetch_offset(Offset(10)).commit(20, Outcome::kUnknown, 0);
        REQUIRE_THAT(story.end({}).message(), Contains("was told the committed offset 10") && Contains("20"));
    }
    SECTION("it goes back by a commit that was under way") {
        const std::int64_t invoked = story.now;
        story.fetch_offset(Offset(20)).fetch_offset(Offset(15)).commit(15, Outcome::kOk, invoked);
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("a commit acknowledged while it was asked for may have come after what it saw") {
        const std::int64_t invoked = story.now;
        story.commit(15).fetch_offset(Offset(20), invoked).fetch_offset(Offset(15));
        REQUIRE(story.end({}).is_clean());
    }
    SECTION("another fetch at the same time explains nothing") {
        const std::int64_t invoked = ++story.now;
        story.fetch_offset(Offset(20)).fetch_offset(Offset(30), invoked).fetch_offset(Offset(20));
        REQUIRE_FALSE(story.end({}).is_clean());
    }
}

TEST_CASE("V14: an offset shown before any commit was acknowledged does not vanish") {
    for (const bool vanishes : {false, true}) {
        ClientStory story;
        story.fetch_offset(std::nullopt).fetch_offset(Offset(20));
        story.fetch_offset(vanishes ? std::nullopt : std::optional(Offset(20)));
        REQUIRE(story.end({}).is_clean() == !vanishes);
    }
}

TEST_CASE("V21: the last read misses only what was told after its last request had left") {
    for (const bool told_before : {false, true}) {
        ClientStory story;
        story.produce(0xa, 0);
        const std::int64_t before = story.now + 1;
        story.produce(0xb, 1);
        FinalView view;
        view.judge_progress = false;
        FinalRead read{kClientX0, true, Offset(0), {at(0, 0xa)}};
        read.last_invoked_ns = told_before ? story.now + 1 : before;
        view.reads.push_back(read);
        story.checker.at_end(++story.now, view);
        REQUIRE(story.is_clean() == !told_before);
    }
}

TEST_CASE("V21: a hole in the last read is a lost write, whenever it was told") {
    ClientStory story;
    story.produce(0xa, 0).produce(0xb, 1).produce(0xc, 2);
    FinalView view;
    view.judge_progress = false;
    FinalRead read{kClientX0, true, Offset(0), {at(0, 0xa), at(2, 0xc)}};
    read.last_invoked_ns = 1;
    view.reads.push_back(read);
    story.checker.at_end(++story.now, view);
    REQUIRE_THAT(story.message(), Contains("lost write"));
}

TEST_CASE("V21: what is deleted while the last reading goes on may have been read before") {
    const auto is_clean = [](bool deleted_before) {
        ClientStory story;
        story.produce(0xa, 0);
        const std::int64_t began_ns = ++story.now;
        story.call(DeleteRecordsCall{kClientX0, Offset(1)});
        FinalView view;
        view.judge_progress = false;
        FinalRead read{kClientX0, true, Offset(0), {at(0, 0xa)}};
        read.first_invoked_ns = deleted_before ? ++story.now : began_ns;
        view.reads.push_back(read);
        story.checker.at_end(++story.now, view);
        return story.checker.violations().empty();
    };
    REQUIRE(is_clean(false));
    REQUIRE_FALSE(is_clean(true));
}

TEST_CASE("V21: the earliest offset told is none below which a deletion had been answered") {
    const auto listed = [](Outcome deletion, std::int64_t asked_ns, bool earliest, std::int64_t offset) {
        ClientStory story;
        story.call(DeleteRecordsCall{kClientX0, Offset(5)}, deletion);  // returns at 2 ns
        story.call(ListOffsetsCall{kClientX0, earliest, Offset(offset)}, Outcome::kOk, asked_ns);
        return !story.checker.violations().empty();
    };
    REQUIRE(listed(Outcome::kOk, 3, true, 4));
    REQUIRE_FALSE(listed(Outcome::kOk, 3, true, 5));
    REQUIRE_FALSE(listed(Outcome::kOk, 2, true, 4));       // asked before the deletion was answered
    REQUIRE_FALSE(listed(Outcome::kOk, 3, false, 4));      // not the earliest
    REQUIRE_FALSE(listed(Outcome::kUnknown, 3, true, 4));  // nobody was told that it is done
}

}  // namespace
}  // namespace tidelock::checker
