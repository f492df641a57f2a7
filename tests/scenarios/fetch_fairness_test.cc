// Whether every partition of a follower has its turn (F1).
#include "scenarios/fetch_fairness.h"

#include <catch2/catch.hpp>

#include "tests/scenarios/settled_group.h"

using namespace tidelock;
using namespace tidelock::scenarios;
using Catch::Matchers::Contains;

namespace {

const Replica kFollower{BrokerId(9), Incarnation(1)};

/// A follower that fetches two partitions; the leader has records of both that it has not.
struct Fetching : SettledGroup {
    Fetching() {
        for (const auto& [tp, partition] : broker().partitions)
            if (broker().logs.view(tp)->log_end_offset > Offset(1)) partitions.push_back(tp);
        REQUIRE(partitions.size() >= 2);
        partitions.resize(2);
    }
    replication::FetchRequest request(std::int64_t first, std::int64_t second = 0) const {
        replication::FetchRequest fetch;
        fetch.header.follower = kFollower;
        for (const auto& [tp, end] : {std::pair{partitions[0], first}, std::pair{partitions[1], second}})
            fetch.partitions.push_back({tp, Offset(end), LeaderEpoch(1), Offset(end), Offset(0), Offset(0)});
        return fetch;
    }
    /// With a batch of that partition only.
    void answer(std::size_t partition, replication::ErrorCode code = replication::ErrorCode::kNone) {
        replication::FetchAnswer fetched;
        const Bytes batches = Bytes::copy_of(std::vector<std::byte>(3, std::byte{7}));
        fetched.partitions.push_back({partitions[partition], code, Offset(0), Offset(0), batches});
        fairness.on_answer(kFollower.broker, fetched, broker());
    }
    /// Rounds until somebody is found starving; 0: nobody within a hundred.
    template <typename Round>
    int rounds_until_starving(const Round& round) {
        for (std::int64_t i = 1; i <= 100; ++i)
            if (round(i)) return static_cast<int>(i);
        return 0;
    }

    std::vector<TopicPartition> partitions;
    FetchFairness fairness;
};

}  // namespace

TEST_CASE("a partition that never has its turn while the others have is found, once") {
    Fetching group;
    std::string what;
    const int rounds = group.rounds_until_starving([&](std::int64_t i) {
        const auto starving = group.fairness.on_request(group.request(i), group.broker());
        group.answer(0);
        what = starving.value_or("");
        return starving.has_value();
    });
    REQUIRE(rounds == 1 + static_cast<int>(FetchFairness::turns_missed_max(2)));
    REQUIRE_THAT(what, Contains("broker 9 for") && Contains("of other partitions only"));
    for (std::int64_t i = 100; i < 200; ++i) {
        REQUIRE_FALSE(group.fairness.on_request(group.request(i), group.broker()));
        group.answer(0);
    }
}

TEST_CASE("a partition that has its turn now and then does not starve") {
    Fetching group;
    REQUIRE(group.rounds_until_starving([&](std::int64_t i) {
        const bool is_found = group.fairness.on_request(group.request(i), group.broker()).has_value();
        group.answer(i % 10 == 0 ? 1 : 0);
        return is_found;
    }) == 0);
}

TEST_CASE("answers that got lost, errors and another life of the follower count for nothing") {
    Fetching group;
    REQUIRE(group.rounds_until_starving([&](std::int64_t) {
        const bool is_found = group.fairness.on_request(group.request(1), group.broker()).has_value();
        group.answer(0);  // lost: the follower asks for the same again
        return is_found;
    }) == 0);
    REQUIRE(group.rounds_until_starving([&](std::int64_t i) {
        const bool is_found = group.fairness.on_request(group.request(i), group.broker()).has_value();
        group.answer(i % 2 == 0 ? 1 : 0, replication::ErrorCode::kStorageError);
        return is_found;
    }) == 0);
    REQUIRE(group.rounds_until_starving([&](std::int64_t i) {
        replication::FetchRequest fetch = group.request(i);
        fetch.header.follower.incarnation = Incarnation(static_cast<std::uint64_t>(1 + i / 5));
        const bool is_found = group.fairness.on_request(fetch, group.broker()).has_value();
        group.answer(0);
        return is_found;
    }) == 0);
}
