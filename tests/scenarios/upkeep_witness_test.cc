// What a broker keeps that nothing needs (L7, R8, L2).
#include <catch2/catch.hpp>

#include "protocol/storage/segment_log.h"
#include "scenarios/upkeep_witness.h"
#include "tests/scenarios/settled_group.h"

using namespace tidelock;
using namespace tidelock::scenarios;
using Catch::Matchers::Contains;

namespace {

struct Settled : SettledGroup {
    /// With a file that is none of its own.
    std::string overdue_with(const std::string& file) {
        std::vector<std::string> more = files;
        more.push_back(file);
        const std::vector<std::string> overdue = overdue_upkeep(broker(), more);
        return overdue.size() == 1 ? overdue.front() : "";
    }

    std::vector<std::string> files = disk().list();
};

TEST_CASE("a broker in good order keeps nothing that nothing needs") {
    Settled group;
    REQUIRE(overdue_upkeep(group.broker(), group.files).empty());
}

TEST_CASE("a file that no log, journal or state copy stands behind is kept too long") {
    Settled group;
    const TopicPartition own = group.broker().partitions.begin()->first;
    const auto segment = [](TopicPartition tp, std::int64_t base) {
        return std::string(storage::segment_file_name(tp, Offset(base)).text());
    };
    REQUIRE_THAT(group.overdue_with("checkpoint.99"), Contains("keeps 2 checkpoint journals"));
    REQUIRE_THAT(group.overdue_with("identity.a.new"), Contains("nothing reads it"));
    REQUIRE_THAT(group.overdue_with(segment({TopicId(4711), PartitionIndex(0)}, 0)), Contains("has no such partition"));
    REQUIRE_THAT(group.overdue_with(segment(own, 1'000'000)), Contains("its log ends at"));
    REQUIRE_THAT(group.overdue_with(std::string(storage::index_file_name(own, Offset(1)).text())),
                 Contains("its segment is gone") || Contains("its log ends at"));
}

TEST_CASE("a segment wholly below the log start is kept too long") {
    Settled group;
    broker::Broker broker = group.broker();
    const auto has_records = [&](const auto& each) {
        return broker.logs.view(each.first)->durable_end_offset > Offset(2) &&
               each.second.high_watermark.value() > Offset(2);
    };
    const auto filled = std::ranges::find_if(broker.partitions, has_records);
    REQUIRE(filled != broker.partitions.end());
    broker.logs.set_high_watermark(filled->first, filled->second.high_watermark.value());
    broker.logs.advance_log_start(filled->first, Offset(2));
    REQUIRE(overdue_upkeep(broker, group.files).empty());  // the segment that the log starts in stays
    std::vector<std::string> split = group.files;
    split.emplace_back(storage::segment_file_name(filled->first, Offset(1)).text());
    const std::vector<std::string> overdue = overdue_upkeep(broker, split);
    REQUIRE(overdue.size() == 1);
    REQUIRE_THAT(overdue.front(), Contains("its log starts at 2"));
}

TEST_CASE("a Raft log that ought to be a snapshot is kept too long") {
    Settled group;
    broker::Broker broker = group.broker();
    broker.raft.config.log_entries_max = static_cast<std::uint32_t>(broker.raft.persistent.entries.size());
    REQUIRE(overdue_upkeep(broker, group.files).empty());
    broker.raft.config.log_entries_max -= 1;
    REQUIRE_THAT(overdue_upkeep(broker, group.files).front(), Contains("Raft entries"));
}

TEST_CASE("records past their retention are kept too long") {
    Settled group;
    broker::Broker broker = group.broker();
    for (storage::TopicEntry& topic : broker.topics.topics)
        if (!topic.config.is_internal) topic.config.retention_records_max = 1;
    REQUIRE_THAT(overdue_upkeep(broker, group.files).front(), Contains("of which 1 are to be kept"));
    broker.leading.reset();
    REQUIRE(overdue_upkeep(broker, group.files).empty());  // a follower follows
}

}  // namespace
