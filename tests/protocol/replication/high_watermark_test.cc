// How far a log may be shown (I6, I7).
#include <catch2/catch.hpp>

#include "protocol/replication/high_watermark.h"
#include "tests/law.h"

namespace tidelock::replication {

TEST_CASE("I6: a new leader starts from what it knew, kept inside its log (KAFKA-16452)") {
    CHECK(HighWatermark(Offset(5), Offset(0), Offset(9), HighWatermarkRule::kMonotone).value() == Offset(5));
    CHECK(HighWatermark(Offset(2), Offset(4), Offset(9), HighWatermarkRule::kMonotone).value() == Offset(4));
    CHECK(HighWatermark(Offset(12), Offset(4), Offset(9), HighWatermarkRule::kMonotone).value() == Offset(9));
}

TEST_CASE("I6: it waits while a position is unknown") {
    HighWatermark mark(Offset(5), Offset(0), Offset(9), HighWatermarkRule::kMonotone);
    CHECK_FALSE(mark.advance(std::nullopt));
    CHECK(mark.value() == Offset(5));
    CHECK(mark.advance(Offset(7)));
    CHECK_FALSE(mark.advance(Offset(7)));
}

TEST_CASE("I6: ours never goes back, whatever positions come; the seed's does (D11)") {
    check_law([](const std::vector<std::uint8_t>& positions) {
        HighWatermark ours(Offset(5), Offset(0), Offset(300), HighWatermarkRule::kMonotone);
        Offset before = ours.value();
        for (const std::uint8_t position : positions) {
            ours.advance(Offset(position));
            RC_ASSERT(ours.value() >= before);
            RC_ASSERT(ours.read_bound() >= ours.shown_to_readers());
            before = ours.value();
        }
    });
    HighWatermark seed(Offset(5), Offset(0), Offset(9), HighWatermarkRule::kFollowsMinimum);
    CHECK(seed.read_bound() == Offset(5));
    CHECK(seed.advance(Offset(2)));
    CHECK(seed.read_bound() == Offset(2));
    CHECK(seed.shown_to_readers() == Offset(5));
}

TEST_CASE("a follower takes its leader's watermark as far as its own log reaches") {
    HighWatermark mark(Offset(0), Offset(0), Offset(6), HighWatermarkRule::kMonotone);
    CHECK(mark.follow(Offset(9), Offset(6)));
    CHECK(mark.value() == Offset(6));
    CHECK_FALSE(mark.follow(Offset(3), Offset(6)));
    CHECK(mark.value() == Offset(6));
}

}  // namespace tidelock::replication
