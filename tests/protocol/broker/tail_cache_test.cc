// The newest batches of a partition in memory: whole batches, contiguous, and none that hides another from a reader.
#include "protocol/broker/tail_cache.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace tidelock;
using broker::TailCache;

namespace {

constexpr std::size_t kBatchBytes = 8;

Bytes batch(char fill) {
    return Bytes::build(kBatchBytes,
                        [&](std::span<std::byte> into) { std::ranges::fill(into, static_cast<std::byte>(fill)); });
}

/// Batches a, b and c with ten records each, from offset 100 on.
TailCache three_batches() {
    TailCache cache(1'000);
    cache.append(Offset{100}, Offset{110}, batch('a'));
    cache.append(Offset{110}, Offset{120}, batch('b'));
    cache.append(Offset{120}, Offset{130}, batch('c'));
    return cache;
}

}  // namespace

TEST_CASE("a batch across the bound does not hide the whole ones before it", "[I7]") {
    const auto found = three_batches().find(Offset{100}, Offset{125}, 1'000);
    REQUIRE(found);
    CHECK(found->base_offset == Offset{100});
    CHECK(found->next_offset == Offset{120});
    CHECK(found->batches.size() == 2 * kBatchBytes);
}

TEST_CASE("the batch that holds the first offset comes whatever its end and size", "[I7]") {
    const auto found = three_batches().find(Offset{125}, Offset{126}, 1);
    REQUIRE(found);
    CHECK(found->base_offset == Offset{120});
    CHECK(found->next_offset == Offset{130});
}

TEST_CASE("no more bytes than asked for, but one batch", "[F3]") {
    const auto found = three_batches().find(Offset{100}, Offset{130}, 2 * kBatchBytes + 1);
    REQUIRE(found);
    CHECK(found->next_offset == Offset{120});
}

TEST_CASE("what is older than the cache, or past its end, is not found in it", "[F3]") {
    CHECK_FALSE(three_batches().find(Offset{99}, Offset{130}, 1'000));
    CHECK_FALSE(three_batches().find(Offset{130}, Offset{140}, 1'000));
}

TEST_CASE("what is cut from the log is cut from the cache, whole batches at a time", "[G3]") {
    TailCache cache = three_batches();
    cache.truncate(Offset{115});
    CHECK_FALSE(cache.find(Offset{110}, Offset{130}, 1'000));
    CHECK(cache.find(Offset{109}, Offset{130}, 1'000)->next_offset == Offset{110});
}

TEST_CASE("a batch that does not continue the newest one begins the cache anew", "[F3]") {
    TailCache cache = three_batches();
    cache.append(Offset{200}, Offset{210}, batch('d'));
    CHECK_FALSE(cache.find(Offset{120}, Offset{300}, 1'000));
    CHECK(cache.find(Offset{205}, Offset{300}, 1'000)->base_offset == Offset{200});
}
