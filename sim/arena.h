/// Everything a world allocates lives in one region mapped at a fixed address: so addresses repeat from run to run, a
/// world ends by resetting the region, and a snapshot is a copy of the used part of it. Global operator new routes here
/// while an ArenaScope is open; operator delete decides by address. Builds with TIDELOCK_SANITIZED leave it all to
/// malloc.
///
/// Rules: what is allocated inside a scope must not be used after the next `reset`; results are copied out under an
/// ArenaPause (or after the scope). One thread only. Nothing that lives as long as the process (a static table filled
/// at first use) may be first touched inside a scope.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidelock::sim {

#ifdef TIDELOCK_SANITIZED
inline constexpr bool kArenaEnabled = false;
#else
inline constexpr bool kArenaEnabled = true;
#endif

/// The process's only arena. All functions are static: its state lives at the start of the region itself (so that a
/// snapshot includes it), apart from what must survive a reset.
class Arena {
  public:
    static constexpr std::uintptr_t kBase = 0x2000'0000'0000;
    static constexpr std::size_t kReservedBytes = std::size_t{4}
                                                  << 30;  // address space; pages are committed when touched

    /// Forgets everything allocated so far. Microseconds: no page is cleared or given back. Not inside a scope.
    static void reset();
    /// Bytes from the start of the region to the end of what was handed out since the last reset; what a snapshot
    /// covers.
    static std::size_t used_bytes();
    /// The largest `used_bytes` since the process began.
    static std::size_t peak_bytes();
    /// Bytes handed out and not freed.
    static std::size_t live_bytes();
    static bool contains(const void* address) {
        return reinterpret_cast<std::uintptr_t>(address) - kBase < kReservedBytes;
    }
    /// True while allocations route to the arena.
    static bool is_current();

    /// A block aligned to `alignment` (a power of two, at least 16). Never null: a full region ends the process, saying
    /// so.
    static void* allocate(std::size_t size, std::size_t alignment = 16);
    /// Frees a block of this arena. Freeing twice is caught.
    static void release(void* block) noexcept;
};

/// While one is alive, operator new allocates from the arena. Scopes nest.
class ArenaScope {
  public:
    ArenaScope();
    ~ArenaScope();
    ArenaScope(const ArenaScope&) = delete;
    ArenaScope& operator=(const ArenaScope&) = delete;

  private:
    bool was_current_;
};

/// While one is alive, operator new allocates as usual: for results and sinks that outlive the world.
class ArenaPause {
  public:
    ArenaPause();
    ~ArenaPause();
    ArenaPause(const ArenaPause&) = delete;
    ArenaPause& operator=(const ArenaPause&) = delete;

  private:
    bool was_current_;
};

}  // namespace tidelock::sim
