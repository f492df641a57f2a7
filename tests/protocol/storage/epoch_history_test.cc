// The epoch history: strictly rising, and it knows the epoch of every record (L3).
#include "protocol/storage/epoch_history.h"

#include <rapidcheck.h>
#include <catch2/catch.hpp>

namespace tidelock::storage {
namespace {

EpochHistory make(std::initializer_list<std::pair<int, int>> entries) {
    EpochHistory history;
    for (const auto& [leader_epoch, start] : entries)
        REQUIRE(history.assign({LeaderEpoch(leader_epoch), Offset(start)}).has_value());
    return history;
}

TEST_CASE("an epoch that wrote nothing has its entry until another starts at its offset (F5)") {
    EpochHistory history = make({{1, 0}, {2, 5}});
    REQUIRE(history.latest() == EpochStart{LeaderEpoch(2), Offset(5)});
    REQUIRE(history.assign({LeaderEpoch(3), Offset(5)}).has_value());
    REQUIRE(history.entries() == std::vector<EpochStart>{{LeaderEpoch(1), Offset(0)}, {LeaderEpoch(3), Offset(5)}});
}

TEST_CASE("an entry that goes back is refused and changes nothing") {
    EpochHistory history = make({{1, 0}, {3, 10}});
    const EpochHistory before = history;
    REQUIRE(history.assign({LeaderEpoch(3), Offset(10)}).has_value());
    REQUIRE(history.assign({LeaderEpoch(3), Offset(11)}).error() == HistoryRefusal::kEpochWentBack);
    REQUIRE(history.assign({LeaderEpoch(2), Offset(11)}).error() == HistoryRefusal::kEpochWentBack);
    REQUIRE(history.assign({LeaderEpoch(4), Offset(9)}).error() == HistoryRefusal::kOffsetWentBack);
    REQUIRE(history.assign({LeaderEpoch(0), Offset(12)}).error() == HistoryRefusal::kEpochNotPositive);
    REQUIRE(history == before);
}

TEST_CASE("cuts drop exactly the entries that no longer start inside the log") {
    const EpochHistory history = make({{1, 0}, {3, 10}, {4, 25}});
    EpochHistory cut = history;
    cut.truncate_from_end(Offset(10));
    REQUIRE(cut == make({{1, 0}}));
    cut = history;
    cut.drop_past(Offset(10));
    REQUIRE(cut == make({{1, 0}, {3, 10}}));
    cut = history;
    cut.truncate_from_start(Offset(12));
    REQUIRE(cut == make({{3, 10}, {4, 25}}));
    cut.truncate_from_start(Offset(25));
    REQUIRE(cut == make({{4, 25}}));
    cut.truncate_from_start(Offset(99));
    REQUIRE(cut == make({{4, 25}}));
}

TEST_CASE("each record's epoch is the one it was written under, for any history, and so after the round trip") {
    REQUIRE(rc::check("epoch_at and the codec", [](const std::vector<std::uint8_t>& steps) {
        EpochHistory history;
        std::vector<LeaderEpoch> epochs_by_offset;  // the plain model: the epoch of each record
        LeaderEpoch leader_epoch(0);
        for (const std::uint8_t step : steps) {
            leader_epoch = LeaderEpoch(leader_epoch.value + 1 + step % 2);
            const Offset start(static_cast<std::int64_t>(epochs_by_offset.size()));
            RC_ASSERT(history.assign({leader_epoch, start}).has_value());
            for (int i = 0; i < step % 5 + 1; ++i) epochs_by_offset.push_back(leader_epoch);
        }
        for (std::size_t i = 0; i < epochs_by_offset.size(); ++i)
            RC_ASSERT(history.epoch_at(Offset(static_cast<std::int64_t>(i))) == epochs_by_offset[i]);
        ByteWriter out;
        encode(history, out);
        ByteReader in(out.span());
        RC_ASSERT(*decode_epoch_history(in) == history);
    }));
}

TEST_CASE("bytes that are no rising history are refused") {
    ByteWriter out;
    out.u32(2);
    out.i32(5);
    out.i64(10);
    out.i32(4);
    out.i64(20);
    ByteReader in(out.span());
    REQUIRE_FALSE(decode_epoch_history(in).has_value());
    ByteWriter huge;
    huge.u32(0xFFFF'FFFFU);
    ByteReader huge_in(huge.span());
    REQUIRE_FALSE(decode_epoch_history(huge_in).has_value());
}

}  // namespace
}  // namespace tidelock::storage
