// The epoch history: strictly rising, and its answers are those of the plain definition (L3, L5).
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

TEST_CASE("an epoch ends where the next one starts, the latest at the log end (L5)") {
    const EpochHistory history = make({{1, 0}, {3, 10}, {4, 25}});
    REQUIRE(history.epoch_end(LeaderEpoch(1), Offset(30)) == EpochEnd{LeaderEpoch(1), Offset(10)});
    REQUIRE(history.epoch_end(LeaderEpoch(2), Offset(30)) == EpochEnd{LeaderEpoch(1), Offset(10)});
    REQUIRE(history.epoch_end(LeaderEpoch(3), Offset(30)) == EpochEnd{LeaderEpoch(3), Offset(25)});
    REQUIRE(history.epoch_end(LeaderEpoch(9), Offset(30)) == EpochEnd{LeaderEpoch(4), Offset(30)});
    REQUIRE_FALSE(history.epoch_end(LeaderEpoch(0), Offset(30)).has_value());
    REQUIRE_FALSE(EpochHistory().epoch_end(LeaderEpoch(5), Offset(30)).has_value());
}

TEST_CASE("an epoch that wrote nothing still has an answer until another starts at its offset (F5)") {
    EpochHistory history = make({{1, 0}, {2, 5}});
    REQUIRE(history.epoch_end(LeaderEpoch(2), Offset(5)) == EpochEnd{LeaderEpoch(2), Offset(5)});
    REQUIRE(history.assign({LeaderEpoch(3), Offset(5)}).has_value());
    REQUIRE(history == make({{1, 0}, {3, 5}}));
    REQUIRE(history.epoch_end(LeaderEpoch(2), Offset(8)) == EpochEnd{LeaderEpoch(1), Offset(5)});
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

TEST_CASE("answers agree with the definition for any history") {
    REQUIRE(rc::check("epoch_end and epoch_at", [](const std::vector<std::uint8_t>& steps) {
        EpochHistory history;
        std::vector<LeaderEpoch> epochs_by_offset;  // the plain model: the epoch of each record
        LeaderEpoch leader_epoch(0);
        for (const std::uint8_t step : steps) {
            leader_epoch = LeaderEpoch(leader_epoch.value + 1 + step % 2);
            const Offset start(static_cast<std::int64_t>(epochs_by_offset.size()));
            RC_ASSERT(history.assign({leader_epoch, start}).has_value());
            for (int i = 0; i < step % 5 + 1; ++i) epochs_by_offset.push_back(leader_epoch);
        }
        const Offset log_end(static_cast<std::int64_t>(epochs_by_offset.size()));
        for (std::size_t i = 0; i < epochs_by_offset.size(); ++i)
            RC_ASSERT(history.epoch_at(Offset(static_cast<std::int64_t>(i))) == epochs_by_offset[i]);
        for (int asked = 0; asked <= leader_epoch.value + 1; ++asked) {
            std::optional<EpochEnd> expected;
            for (std::size_t i = 0; i < epochs_by_offset.size(); ++i)
                if (epochs_by_offset[i].value <= asked)
                    expected = EpochEnd{epochs_by_offset[i], Offset(static_cast<std::int64_t>(i) + 1)};
            RC_ASSERT(history.epoch_end(LeaderEpoch(asked), log_end) == expected);
        }
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
