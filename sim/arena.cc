#include "sim/arena.h"

#include <sys/mman.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "protocol/base/check.h"

namespace tidelock::sim {
namespace {

constexpr std::size_t kGranule = 16;
constexpr std::size_t kSmallClassCount = 65;  // blocks of 0 to 1,024 bytes, a class a granule
constexpr std::size_t kClassCount = kSmallClassCount + 4 * 22;
constexpr std::uint32_t kLive = 0x6C69'7665;
constexpr std::uint32_t kFree = 0x6672'6565;
constexpr std::uint32_t kShifted = 0x7368'6674;

/// The eight bytes in front of every block.
struct Header {
    std::uint32_t size_class;  // kShifted: distance to the real block instead
    std::uint32_t state;
};
struct FreeBlock {
    FreeBlock* next;
};

/// At the start of the region, so that a snapshot carries it.
struct State {
    std::size_t used_bytes;
    std::size_t live_bytes;
    FreeBlock* free_blocks[kClassCount];
};
constexpr std::size_t kFirstBlock = (sizeof(State) + sizeof(Header) + kGranule - 1) / kGranule * kGranule;

// Outside the region on purpose: what survives resets and restores.
bool g_is_current = false;
bool g_is_mapped = false;
std::size_t g_peak_bytes = 0;

State& state() {
    return *reinterpret_cast<State*>(Arena::kBase);
}

Header& header_of(void* block) {
    return *(static_cast<Header*>(block) - 1);
}

/// Sizes below include the header. Above 1,024 bytes there are four classes a doubling.
std::size_t class_of(std::size_t block_bytes) {
    if (block_bytes <= 1024) return (block_bytes + kGranule - 1) / kGranule;
    const std::size_t width = std::bit_width(block_bytes - 1);
    const std::size_t quarter = ((block_bytes - 1) >> (width - 3)) & 3;
    return kSmallClassCount + (width - 11) * 4 + quarter;
}

std::size_t class_bytes(std::size_t size_class) {
    if (size_class < kSmallClassCount) return size_class * kGranule;
    const std::size_t above = size_class - kSmallClassCount;
    return (5 + above % 4) << (above / 4 + 8);
}

[[maybe_unused]] void map_region() {
    if (g_is_mapped) return;
    void* const wanted = reinterpret_cast<void*>(Arena::kBase);
    void* const got = ::mmap(wanted, Arena::kReservedBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != wanted) {
        std::perror("cannot map the simulator's arena at its fixed address");
        std::abort();
    }
    g_is_mapped = true;
    state().used_bytes = kFirstBlock;
}

[[noreturn]] void region_is_full() {
    std::fprintf(stderr, "the simulator's arena is full (%zu bytes): a world that grows without bound\n",
                 Arena::kReservedBytes);
    std::abort();
}

void* carve(State& region, std::size_t size_class) {
    const std::size_t bytes = class_bytes(size_class);
    if (Arena::kReservedBytes - region.used_bytes < bytes) region_is_full();
    void* const block = reinterpret_cast<void*>(Arena::kBase + region.used_bytes);
    region.used_bytes += bytes;
    if (region.used_bytes > g_peak_bytes) g_peak_bytes = region.used_bytes;
    return block;
}

void* shifted(void* block, std::size_t alignment) {
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(block);
    const std::uintptr_t aligned = (at + alignment - 1) / alignment * alignment;
    if (aligned == at) return block;
    void* const result = reinterpret_cast<void*>(aligned);
    header_of(result) = Header{static_cast<std::uint32_t>(aligned - at), kShifted};
    return result;
}

}  // namespace

void Arena::reset() {
    CHECK(!g_is_current);
    if (!g_is_mapped) return;
    state() = State{};
    state().used_bytes = kFirstBlock;
}

std::size_t Arena::used_bytes() {
    return g_is_mapped ? state().used_bytes : 0;
}
std::size_t Arena::peak_bytes() {
    return g_peak_bytes;
}
std::size_t Arena::live_bytes() {
    return g_is_mapped ? state().live_bytes : 0;
}
bool Arena::is_current() {
    return g_is_current;
}

void* Arena::allocate(std::size_t size, std::size_t alignment) {
    const std::size_t slack = alignment > kGranule ? alignment : 0;
    if (size >= kReservedBytes / 2) region_is_full();
    const std::size_t size_class = class_of(size + slack + sizeof(Header));
    State& region = state();
    FreeBlock* const reused = region.free_blocks[size_class];
    void* block = reused;
    if (reused != nullptr) {
        region.free_blocks[size_class] = reused->next;
    } else {
        block = carve(region, size_class);
    }
    header_of(block) = Header{static_cast<std::uint32_t>(size_class), kLive};
    region.live_bytes += class_bytes(size_class);
    return slack == 0 ? block : shifted(block, alignment);
}

void Arena::release(void* block) noexcept {
    if (header_of(block).state == kShifted) block = static_cast<std::byte*>(block) - header_of(block).size_class;
    Header& header = header_of(block);
    CHECK(header.state == kLive);
    header.state = kFree;
    State& region = state();
    region.live_bytes -= class_bytes(header.size_class);
    FreeBlock* const freed = static_cast<FreeBlock*>(block);
    freed->next = region.free_blocks[header.size_class];
    region.free_blocks[header.size_class] = freed;
}

ArenaScope::ArenaScope() : was_current_(g_is_current) {
    if constexpr (kArenaEnabled) {
        map_region();
        g_is_current = true;
    }
}
ArenaScope::~ArenaScope() {
    g_is_current = was_current_;
}

ArenaPause::ArenaPause() : was_current_(g_is_current) {
    g_is_current = false;
}
ArenaPause::~ArenaPause() {
    g_is_current = was_current_;
}

}  // namespace tidelock::sim

#ifndef TIDELOCK_SANITIZED

namespace {

void* allocate_anywhere(std::size_t size, std::size_t alignment) {
    if (tidelock::sim::Arena::is_current()) return tidelock::sim::Arena::allocate(size, alignment);
    void* const block = alignment <= 16 ? std::malloc(size == 0 ? 1 : size)
                                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

void release_anywhere(void* block) noexcept {
    if (tidelock::sim::Arena::contains(block)) {
        tidelock::sim::Arena::release(block);
    } else {
        std::free(block);
    }
}

}  // namespace

void* operator new(std::size_t size) {
    return allocate_anywhere(size, 16);
}
void* operator new[](std::size_t size) {
    return allocate_anywhere(size, 16);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate_anywhere(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocate_anywhere(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
    release_anywhere(block);
}
void operator delete[](void* block) noexcept {
    release_anywhere(block);
}
void operator delete(void* block, std::size_t) noexcept {
    release_anywhere(block);
}
void operator delete[](void* block, std::size_t) noexcept {
    release_anywhere(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
    release_anywhere(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
    release_anywhere(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    release_anywhere(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
    release_anywhere(block);
}

#endif
