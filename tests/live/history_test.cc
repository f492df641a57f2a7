// What was seen is told to the checker by time, however it came in.
#include "tools/live/history.h"

#include <catch2/catch.hpp>

#include "scenarios/cluster.h"

using namespace tidelock;
using namespace tidelock::live;

namespace {

constexpr BrokerId kOne{1};
constexpr BrokerId kTwo{2};

checker::Settings three_brokers() {
    checker::Settings settings;
    settings.members = {kOne, kTwo, BrokerId(3)};
    return settings;
}

SeenObservation claim(BrokerId broker, std::int32_t epoch) {
    return {broker, 1, broker::ClaimCommitted{LeaderEpoch(epoch)}};
}

History two_claims(std::int32_t first_epoch, std::int32_t second_epoch) {
    History history;
    // Read from two files, one after the other.
    history.add(300, claim(kTwo, second_epoch));
    history.add(100, checker::HostFact(checker::BrokerBooted{kOne, 1}));
    history.add(100, checker::HostFact(checker::BrokerBooted{kTwo, 1}));
    history.add(200, claim(kOne, first_epoch));
    return history;
}

}  // namespace

TEST_CASE("two brokers that lead in one epoch are found in what they wrote down") {
    checker::Checker fine(three_brokers());
    two_claims(1, 2).tell(fine);
    REQUIRE(fine.violations().empty());
    checker::Checker broken(three_brokers());
    two_claims(4, 4).tell(broken);
    REQUIRE_FALSE(broken.violations().empty());
    REQUIRE(broken.violations().front().time_ns == 300);
}
