/// The future of a world: events ordered by (virtual time, seeded tie-break, sequence). A 4-ary heap of small keys over
/// a pool of events; cancelling forgets the event at once and its key when it comes up (or when stale keys outnumber
/// the rest).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/event.h"
#include "sim/rng.h"

namespace tidelock::sim {

/// Names a pushed event until it is popped or cancelled; afterwards it names nothing, never another event.
struct EventHandle {
    std::uint32_t slot = UINT32_MAX;
    std::uint32_t generation = 0;
    bool operator==(const EventHandle&) const = default;
};

class EventQueue {
  public:
    /// Ties in time are broken by numbers drawn from `tie_break`.
    explicit EventQueue(Rng tie_break);

    EventHandle push(TimeNs at, Event event);
    /// Forgets the event; false if it was popped or cancelled already.
    bool cancel(EventHandle handle);
    [[nodiscard]] bool is_pending(EventHandle handle) const {
        return handle.slot < slots_.size() && slots_[handle.slot].generation == handle.generation;
    }

    /// The time of the earliest event; empty if there is none.
    [[nodiscard]] std::optional<TimeNs> next_time();
    /// Takes the earliest event. There must be one.
    Event pop();

    [[nodiscard]] std::size_t size() const { return pending_count_; }
    [[nodiscard]] bool empty() const { return pending_count_ == 0; }
    /// From now on ties are broken by other numbers (a branch of a snapshot).
    void replace_tie_break(Rng tie_break) { tie_break_ = tie_break; }

  private:
    struct Key {
        std::int64_t time;
        std::uint64_t order;  // 32 bits of tie-break, 32 of sequence
        std::uint32_t slot;
        std::uint32_t generation;
    };
    struct Slot {
        Event event;
        std::uint32_t generation = 0;
        std::uint32_t next_free = UINT32_MAX;
    };

    static bool earlier(const Key& a, const Key& b) { return a.time != b.time ? a.time < b.time : a.order < b.order; }
    std::uint32_t take_slot();
    void give_back(std::uint32_t slot);
    void sift_up(std::size_t hole, Key key);
    void sift_down(std::size_t hole, Key key);
    void remove_top();
    void drop_stale_top();
    void compact();
    [[nodiscard]] bool is_stale(const Key& key) const { return slots_[key.slot].generation != key.generation; }

    std::vector<Key> heap_;
    std::vector<Slot> slots_;
    Rng tie_break_;
    std::uint32_t first_free_ = UINT32_MAX;
    std::uint32_t sequence_ = 0;
    std::size_t pending_count_ = 0;
};

}  // namespace tidelock::sim
