/// Chance is named, integer, and the same everywhere.
#include "sim/rng.h"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/choice.h"
#include "sim/distribution.h"
#include "tests/law.h"

using namespace tidelock;
using namespace tidelock::sim;

TEST_CASE("a stream is a function of seed, purpose and entity") {
    Rng one(1, "delay", 7);
    REQUIRE(one == Rng(1, "delay", 7));
    REQUIRE_FALSE(one == Rng(2, "delay", 7));
    REQUIRE_FALSE(one == Rng(1, "loss", 7));
    REQUIRE_FALSE(one == Rng(1, "delay", 8));
}

TEST_CASE("the numbers of a stream are pinned: another compiler must draw the same") {
    Rng stream(42, "pinned", 0);
    const std::uint64_t first = stream.next();
    const std::uint64_t second = stream.next();
    REQUIRE(first == 3374160115288336875ULL);
    REQUIRE(second == 905396903349276303ULL);
}

TEST_CASE("bounded draws stay inside their bounds and reach both ends") {
    check_law("between", [] {
        const auto low = *rc::gen::inRange<std::int64_t>(-1000, 1000);
        const auto high = *rc::gen::inRange<std::int64_t>(low, low + 50);
        Rng stream(*rc::gen::arbitrary<std::uint64_t>());
        const std::int64_t drawn = stream.between(low, high);
        RC_ASSERT(drawn >= low);
        RC_ASSERT(drawn <= high);
    });
    Rng stream(3);
    bool saw_low = false;
    bool saw_high = false;
    for (int i = 0; i < 200; ++i) {
        const std::int64_t drawn = stream.between(5, 8);
        saw_low = saw_low || drawn == 5;
        saw_high = saw_high || drawn == 8;
    }
    REQUIRE(saw_low);
    REQUIRE(saw_high);
    REQUIRE_NOTHROW(stream.between(INT64_MIN, INT64_MAX));
}

TEST_CASE("a chance comes true about as often as it says") {
    Rng stream(9);
    int never = 0;
    int tenth = 0;
    int always = 0;
    for (int i = 0; i < 100'000; ++i) {
        never += stream.chance(0) ? 1 : 0;
        tenth += stream.chance(kMillion / 10) ? 1 : 0;
        always += stream.chance(kMillion) ? 1 : 0;
    }
    REQUIRE(never == 0);
    REQUIRE(always == 100'000);
    REQUIRE(tenth > 9'500);
    REQUIRE(tenth < 10'500);
}

TEST_CASE("exponential draws have about their mean and no floating point") {
    Rng stream(11);
    std::uint64_t sum = 0;
    std::uint64_t above_mean = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t drawn = stream.exponential(1'000'000);
        sum += drawn;
        above_mean += drawn > 1'000'000 ? 1 : 0;
    }
    REQUIRE(sum / 100'000 > 940'000);
    REQUIRE(sum / 100'000 < 1'060'000);
    // 1/e of them lie above the mean.
    REQUIRE(above_mean > 35'000);
    REQUIRE(above_mean < 40'000);
    REQUIRE(scaled_exponential(0, 1'000) <= 45'000);
    REQUIRE(scaled_exponential(UINT64_MAX, 1'000) == 0);
}

TEST_CASE("distributions stay between low and high and take one draw whatever the shape") {
    const Distribution shapes[] = {Distribution::fixed(microseconds(5)),
                                   Distribution::uniform(microseconds(5), microseconds(9)),
                                   Distribution::long_tail(microseconds(5), microseconds(20), milliseconds(1))};
    for (const Distribution& shape : shapes) {
        Rng used(4);
        Rng counted(4);
        for (int i = 0; i < 10'000; ++i) {
            const Duration drawn = shape.draw(used);
            counted.next();
            REQUIRE(drawn >= shape.low);
            REQUIRE(drawn <= shape.high);
        }
        REQUIRE(used == counted);
    }
}

TEST_CASE("a long tail is mostly near its mean and sometimes far beyond") {
    const Distribution shape = Distribution::long_tail(microseconds(0), microseconds(100), seconds(1));
    Rng stream(5);
    int below_five_means = 0;
    int beyond_twenty_means = 0;
    for (int i = 0; i < 100'000; ++i) {
        const Duration drawn = shape.draw(stream);
        below_five_means += drawn < microseconds(500) ? 1 : 0;
        beyond_twenty_means += drawn > microseconds(2'000) ? 1 : 0;
    }
    REQUIRE(below_five_means > 97'000);
    REQUIRE(beyond_twenty_means > 10);
}

namespace {

constexpr std::string_view kThreePoints[] = {"skip the cache", "answer late", "tiny batch"};
constexpr std::string_view kFourPoints[] = {"new one", "skip the cache", "answer late", "tiny batch"};

std::vector<bool> fired(ChoicePoints& points, std::size_t point) {
    std::vector<bool> answers;
    for (int i = 0; i < 200; ++i) answers.push_back(points.fires(point));
    return answers;
}

}  // namespace

TEST_CASE("choice points: each seed switches on some, and a new point shifts no other") {
    int on_count = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        ChoicePoints before(kThreePoints, ChoiceConfig{}, seed);
        ChoicePoints after(kFourPoints, ChoiceConfig{}, seed);
        for (std::size_t point = 0; point < 3; ++point) {
            on_count += before.is_switched_on(point) ? 1 : 0;
            REQUIRE(fired(before, point) == fired(after, point + 1));
        }
    }
    REQUIRE(on_count > 100);
    REQUIRE(on_count < 200);
}

TEST_CASE("choice points that are switched off never fire, others are counted") {
    ChoiceConfig certain{kMillion, kMillion, kMillion};
    ChoicePoints points(kThreePoints, certain, 1);
    REQUIRE(points.fires(2));
    REQUIRE(points.fired_count(2) == 1);
    points.switch_all_off();
    REQUIRE_FALSE(points.fires(2));
    REQUIRE(points.fired_count(2) == 1);
}

TEST_CASE("marks count what was reached") {
    Marks marks(kThreePoints);
    marks.reached(1);
    marks.reached(1);
    REQUIRE(marks.count(0) == 0);
    REQUIRE(marks.count(1) == 2);
}
