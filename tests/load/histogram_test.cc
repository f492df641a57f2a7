// The histogram against sorted values, and the rest of the load generator's arithmetic.
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "tools/bench/load/base64.h"
#include "tools/bench/load/histogram.h"
#include "tools/bench/load/payload.h"
#include "tools/bench/load/report.h"
#include "tools/bench/load/survey.h"

using namespace tidelock::load;

TEST_CASE("an empty histogram has only zeros, a single value is every percentile") {
    Histogram histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.percentile_ns({1, 2}) == 0);
    CHECK(histogram.mean_ns() == 0);
    histogram.add(1'234'567);
    CHECK(histogram.percentile_ns({1, 1000}) == 1'234'567);
    CHECK(histogram.percentile_ns({1, 1}) == 1'234'567);
    CHECK(histogram.max_ns() == 1'234'567);
}

TEST_CASE("small values are exact, the largest has a bucket, what is negative counts as 0") {
    Histogram histogram;
    for (std::int64_t value = 0; value < 256; ++value) histogram.add(value);
    CHECK(histogram.percentile_ns({1, 2}) == 127);
    CHECK(histogram.percentile_ns({1, 256}) == 0);
    CHECK(histogram.percentile_ns({1, 1}) == 255);
    histogram.add(-5);
    histogram.add(std::numeric_limits<std::int64_t>::max());
    CHECK(histogram.max_ns() == std::numeric_limits<std::int64_t>::max());
    CHECK(histogram.percentile_ns({1, 1}) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a percentile is never below the value of that rank, and above it by one part in 128 at most") {
    REQUIRE(rc::check([] {
        auto values = *rc::gen::nonEmpty(
            rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 100'000'000'000)));
        Histogram histogram;
        Histogram half;
        for (std::size_t i = 0; i < values.size(); ++i) (i % 2 == 0 ? histogram : half).add(values[i]);
        histogram.merge(half);
        std::sort(values.begin(), values.end());
        for (const Share share : {Share{1, 2}, Share{9, 10}, Share{99, 100}, Share{999, 1000}, Share{1, 1}}) {
            const auto size = static_cast<std::int64_t>(values.size());
            const std::int64_t rank = std::max<std::int64_t>((size * share.part + share.whole - 1) / share.whole, 1);
            const std::int64_t exact = values[static_cast<std::size_t>(rank - 1)];
            const std::int64_t told = histogram.percentile_ns(share);
            RC_ASSERT(told >= exact);
            RC_ASSERT(told - exact <= exact / 128);
        }
        RC_ASSERT(histogram.count() == values.size());
        RC_ASSERT(histogram.max_ns() == values.back());
    }));
}

TEST_CASE("base64 goes there and back, and refuses what it is not") {
    REQUIRE(rc::check([](const std::string& text) {
        const std::string encoded = to_base64(std::as_bytes(std::span(text)));
        RC_ASSERT(encoded.size() % 4 == 0U);
        RC_ASSERT(from_base64(encoded) == text);
    }));
    CHECK(to_base64(std::as_bytes(std::span("light w", 7))) == "bGlnaHQgdw==");
    CHECK_FALSE(from_base64("abc"));
    CHECK_FALSE(from_base64("ab~="));
}

TEST_CASE("a record says which it is") {
    Payload payload(77, kPayloadBytesMin);
    CHECK(stamp_of(payload.of(5, 9)) == Stamp{77, 5, 9});
    CHECK_FALSE(stamp_of(payload.of(5, 9).first(kPayloadBytesMin - 1)));
}

TEST_CASE("what is read back is held against what was acknowledged") {
    // Records 0 to 4: in place, lost, misplaced, never acknowledged and there, acknowledged and there twice.
    const std::vector<Place> acknowledged = {{0, 10}, {0, 11}, {0, 12}, {0, kNotAcknowledged}, {1, -1}};
    Surveyor surveyor(7, acknowledged);
    surveyor.on_record({7, 0, 0}, {0, 10});
    surveyor.on_record({7, 2, 0}, {0, 13});
    surveyor.on_record({7, 3, 0}, {0, 14});
    surveyor.on_record({7, 4, 0}, {1, 3});
    surveyor.on_record({7, 4, 0}, {1, 4});
    surveyor.on_record({8, 1, 0}, {0, 11});   // of another run
    surveyor.on_record({7, 99, 0}, {0, 15});  // of none of ours
    const Survey survey = surveyor.finish();
    CHECK(survey.found == 4);
    CHECK(survey.lost == 1);
    CHECK(survey.misplaced == 1);
    CHECK(survey.duplicates == 1);
}

TEST_CASE("rates are whole records and megabytes of values a second") {
    Json result;
    add_rates(result, 50'000, 1024, 500'000'000);
    CHECK(result["records_per_second"] == 100'000);
    CHECK(result["megabytes_per_second"] == 102);
    add_rates(result, 0, 1024, 0);
    CHECK(result["records_per_second"] == 0);
}

TEST_CASE("a table has a row for each result, with a dash where there is no figure") {
    Json first = {{"system", "kafka"}, {"records_per_second", 12}, {"notes", {{"name", "tidelock"}, {"load", "x"}}}};
    const std::string table = to_table({first, Json{{"system", "nats"}}});
    CHECK(std::count(table.begin(), table.end(), '\n') == 3);
    CHECK(table.find("tidelock  x") != std::string::npos);
    CHECK(table.find(" 12 ") != std::string::npos);
}
