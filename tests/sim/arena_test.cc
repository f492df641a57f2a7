/// One region, fixed addresses, reset in no time.
#include "sim/arena.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "sim/rng.h"

using namespace tidelock::sim;

namespace {

struct alignas(64) Wide {
    std::byte content[200];
};

/// Allocates and frees in a fixed pattern; returns the addresses seen.
std::vector<std::uintptr_t> addresses_of_a_run() {
    std::vector<std::uintptr_t> seen;
    seen.reserve(1'000);
    Arena::reset();
    const ArenaScope scope;
    Rng rng(7);
    std::vector<std::unique_ptr<std::byte[]>> blocks;
    for (int i = 0; i < 500; ++i) {
        const std::size_t size = rng.below(5'000) + 1;
        blocks.push_back(std::make_unique<std::byte[]>(size));
        seen.push_back(reinterpret_cast<std::uintptr_t>(blocks.back().get()));
        if (rng.chance(kMillion / 3))
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(rng.below(blocks.size())));
    }
    return seen;
}

}  // namespace

TEST_CASE("after a reset the same allocations get the same addresses") {
    if (!kArenaEnabled) return;
    const std::vector<std::uintptr_t> first = addresses_of_a_run();
    const std::vector<std::uintptr_t> second = addresses_of_a_run();
    REQUIRE(first == second);
    REQUIRE(std::all_of(first.begin(), first.end(),
                        [](std::uintptr_t at) { return Arena::contains(reinterpret_cast<void*>(at)); }));
}

TEST_CASE("allocation goes to the arena exactly while a scope is open and not paused") {
    if (!kArenaEnabled) return;
    Arena::reset();
    const auto is_inside = [] {
        const std::unique_ptr<std::string> probe = std::make_unique<std::string>();
        return Arena::contains(probe.get());
    };
    REQUIRE_FALSE(is_inside());
    {
        const ArenaScope scope;
        const bool inside = is_inside();
        bool inside_when_paused = true;
        {
            const ArenaPause pause;
            inside_when_paused = is_inside();
        }
        const bool inside_again = is_inside();
        const ArenaPause pause;
        REQUIRE(inside);
        REQUIRE_FALSE(inside_when_paused);
        REQUIRE(inside_again);
    }
    REQUIRE_FALSE(is_inside());
}

TEST_CASE("delete decides by address: blocks may be freed on the other side of a scope") {
    if (!kArenaEnabled) return;
    Arena::reset();
    std::unique_ptr<int> outer = std::make_unique<int>(1);
    std::unique_ptr<int> inner;
    const std::size_t live_before = Arena::live_bytes();
    {
        const ArenaScope scope;
        outer.reset();
        inner = std::make_unique<int>(2);
    }
    REQUIRE(Arena::contains(inner.get()));
    REQUIRE(Arena::live_bytes() > live_before);
    inner.reset();
    REQUIRE(Arena::live_bytes() == live_before);
}

TEST_CASE("blocks are aligned, do not overlap and keep their content, at every size") {
    if (!kArenaEnabled) return;
    Arena::reset();
    const ArenaScope scope;
    struct Block {
        std::byte* at;
        std::size_t size;
        std::byte fill;
    };
    std::vector<Block> blocks;
    Rng rng(3);
    bool all_aligned = true;
    bool all_intact = true;
    const auto check_and_free = [&all_intact](const Block& block) {
        for (std::size_t i = 0; i < block.size; ++i) all_intact = all_intact && block.at[i] == block.fill;
        Arena::release(block.at);
    };
    for (int i = 0; i < 4'000; ++i) {
        const std::size_t size = rng.below(std::size_t{1} << rng.below(17)) + 1;
        const std::size_t alignment = std::size_t{16} << rng.below(4);
        Block block{static_cast<std::byte*>(Arena::allocate(size, alignment)), size, std::byte(i & 0xFF)};
        all_aligned = all_aligned && reinterpret_cast<std::uintptr_t>(block.at) % alignment == 0;
        std::memset(block.at, i & 0xFF, size);
        blocks.push_back(block);
        if (rng.chance(kMillion / 2)) {
            const std::size_t victim = rng.below(blocks.size());
            check_and_free(blocks[victim]);
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
        }
    }
    for (const Block& block : blocks) check_and_free(block);
    const ArenaPause pause;
    REQUIRE(all_aligned);
    REQUIRE(all_intact);
}

TEST_CASE("freed memory is used again: a loop that frees what it allocates does not grow") {
    if (!kArenaEnabled) return;
    Arena::reset();
    std::size_t used_early = 0;
    std::size_t used_late = 0;
    {
        const ArenaScope scope;
        for (int i = 0; i < 1'000; ++i) {
            const std::vector<std::byte> block(static_cast<std::size_t>(i % 10) * 1'000 + 1);
            const auto wide = std::make_unique<Wide>();
            if (i == 10) used_early = Arena::used_bytes();
        }
        used_late = Arena::used_bytes();
    }
    REQUIRE(used_late == used_early);
    REQUIRE(Arena::peak_bytes() >= used_late);
}
