#include "sim/snapshot.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "protocol/base/check.h"
#include "sim/arena.h"
#include "sim/world.h"

namespace tidelock::sim {
namespace {

// Splitting a copy costs more than copying a gap this small.
constexpr std::ptrdiff_t kGapBytesMin = 1024;

std::byte* arena_start() {
    return reinterpret_cast<std::byte*>(Arena::kBase);
}

/// Dead parts of all fiber stacks, by address. The vector's own memory lies outside the arena (the caller pauses it).
std::vector<Fiber::DeadStack> dead_stacks(const World& world) {
    std::vector<Fiber::DeadStack> dead;
    dead.reserve(world.scheduler().tasks().size());
    for (const std::unique_ptr<Task>& task : world.scheduler().tasks()) {
        const Fiber::DeadStack stack = task->fiber->dead_stack();
        if (stack.to - stack.from >= kGapBytesMin) dead.push_back(stack);
    }
    std::sort(dead.begin(), dead.end(),
              [](const Fiber::DeadStack& a, const Fiber::DeadStack& b) { return std::less<>()(a.from, b.from); });
    return dead;
}

}  // namespace

Snapshot Snapshot::take(const World& world) {
    CHECK(kArenaEnabled);
    CHECK(Arena::contains(&world));
    CHECK(world.scheduler().current() == nullptr);
    const ArenaPause pause;
    const std::vector<Fiber::DeadStack> dead = dead_stacks(world);
    Snapshot snapshot;
    snapshot.pieces_ = static_cast<Piece*>(std::malloc(sizeof(Piece) * (dead.size() + 1)));
    std::byte* from = arena_start();
    std::byte* const end = arena_start() + Arena::used_bytes();
    const auto add_piece = [&snapshot, &from](const std::byte* to) {
        const std::size_t size = static_cast<std::size_t>(to - from);
        snapshot.pieces_[snapshot.piece_count_++] = Piece{from, size};
        snapshot.copied_bytes_ += size;
    };
    for (const Fiber::DeadStack& gap : dead) {
        add_piece(gap.from);
        from = arena_start() + (gap.to - arena_start());
    }
    add_piece(end);
    snapshot.copy_ = static_cast<std::byte*>(std::malloc(snapshot.copied_bytes_));
    CHECK(snapshot.copy_ != nullptr);
    std::byte* to = snapshot.copy_;
    for (std::size_t i = 0; i < snapshot.piece_count_; ++i) {
        std::memcpy(to, snapshot.pieces_[i].at, snapshot.pieces_[i].size);
        to += snapshot.pieces_[i].size;
    }
    return snapshot;
}

void Snapshot::restore() const {
    const std::byte* from = copy_;
    for (std::size_t i = 0; i < piece_count_; ++i) {
        std::memcpy(pieces_[i].at, from, pieces_[i].size);
        from += pieces_[i].size;
    }
}

Snapshot::~Snapshot() {
    std::free(pieces_);
    std::free(copy_);
}

Snapshot::Snapshot(Snapshot&& other) noexcept
    : pieces_(std::exchange(other.pieces_, nullptr)),
      piece_count_(std::exchange(other.piece_count_, 0)),
      copy_(std::exchange(other.copy_, nullptr)),
      copied_bytes_(std::exchange(other.copied_bytes_, 0)) {}

Snapshot& Snapshot::operator=(Snapshot&& other) noexcept {
    std::swap(pieces_, other.pieces_);
    std::swap(piece_count_, other.piece_count_);
    std::swap(copy_, other.copy_);
    std::swap(copied_bytes_, other.copied_bytes_);
    return *this;
}

}  // namespace tidelock::sim
