/// A whole world, running fibers included, as a copy of the arena. Restoring puts it back in place: every pointer into
/// the world is valid again, and the run goes on bit for bit as it did (or otherwise, after World::branch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidelock::sim {

class World;

/// Owns its copy outside the arena. Only where the arena is enabled; only between events, from outside every fiber.
/// Not covered: what lies outside the arena (trace sinks, the caller's own variables).
class Snapshot {
  public:
    /// Copies everything allocated in the arena but the dead parts of fiber stacks.
    static Snapshot take(const World& world);
    ~Snapshot();
    Snapshot(Snapshot&& other) noexcept;
    Snapshot& operator=(Snapshot&& other) noexcept;

    /// The arena is again what it was. May be done any number of times.
    void restore() const;
    [[nodiscard]] std::size_t copied_bytes() const { return copied_bytes_; }

  private:
    struct Piece {
        std::byte* at;
        std::size_t size;
    };
    Snapshot() = default;

    Piece* pieces_ = nullptr;
    std::size_t piece_count_ = 0;
    std::byte* copy_ = nullptr;
    std::size_t copied_bytes_ = 0;
};

}  // namespace tidelock::sim
