#include "sim/event_queue.h"

#include <algorithm>
#include <utility>

#include "protocol/base/check.h"

namespace tidelock::sim {
namespace {

constexpr std::size_t kArity = 4;
constexpr std::size_t kCompactAbove = 64;  // a heap this small is never worth compacting

}  // namespace

EventQueue::EventQueue(Rng tie_break) : tie_break_(tie_break) {
    heap_.reserve(256);
    slots_.reserve(256);
}

EventHandle EventQueue::push(TimeNs at, Event event) {
    const std::uint32_t slot = take_slot();
    slots_[slot].event = std::move(event);
    CHECK(sequence_ != UINT32_MAX);
    const std::uint64_t tie = tie_break_.next() & 0xFFFF'FFFF'0000'0000ULL;
    const Key key{at.value, tie | sequence_++, slot, slots_[slot].generation};
    heap_.emplace_back();
    sift_up(heap_.size() - 1, key);
    ++pending_count_;
    return EventHandle{slot, key.generation};
}

bool EventQueue::cancel(EventHandle handle) {
    if (!is_pending(handle)) return false;
    give_back(handle.slot);
    --pending_count_;
    if (heap_.size() > kCompactAbove && heap_.size() > 2 * pending_count_) compact();
    return true;
}

std::optional<TimeNs> EventQueue::next_time() {
    drop_stale_top();
    if (heap_.empty()) return std::nullopt;
    return TimeNs(heap_.front().time);
}

Event EventQueue::pop() {
    drop_stale_top();
    CHECK(!heap_.empty());
    const std::uint32_t slot = heap_.front().slot;
    remove_top();
    Event event = std::move(slots_[slot].event);
    give_back(slot);
    --pending_count_;
    return event;
}

std::uint32_t EventQueue::take_slot() {
    if (first_free_ == UINT32_MAX) {
        slots_.emplace_back();
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = first_free_;
    first_free_ = slots_[slot].next_free;
    return slot;
}

void EventQueue::give_back(std::uint32_t slot) {
    Slot& freed = slots_[slot];
    if (!freed.event.bytes.empty()) freed.event.bytes = Bytes();
    ++freed.generation;
    freed.next_free = first_free_;
    first_free_ = slot;
}

void EventQueue::sift_up(std::size_t hole, Key key) {
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / kArity;
        if (!earlier(key, heap_[parent])) break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = key;
}

void EventQueue::sift_down(std::size_t hole, Key key) {
    const std::size_t size = heap_.size();
    for (std::size_t child = hole * kArity + 1; child < size; child = hole * kArity + 1) {
        const std::size_t end = std::min(child + kArity, size);
        std::size_t least = child;
        for (std::size_t other = child + 1; other < end; ++other)
            if (earlier(heap_[other], heap_[least])) least = other;
        if (!earlier(heap_[least], key)) break;
        heap_[hole] = heap_[least];
        hole = least;
    }
    heap_[hole] = key;
}

void EventQueue::remove_top() {
    const Key last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
}

void EventQueue::drop_stale_top() {
    while (!heap_.empty() && is_stale(heap_.front())) remove_top();
}

void EventQueue::compact() {
    std::erase_if(heap_, [this](const Key& key) { return is_stale(key); });
    // The order of keys is total, so the heap's shape has no say in the order of pops.
    for (std::size_t node = heap_.size() / kArity + 1; node-- > 0;)
        if (node < heap_.size()) sift_down(node, heap_[node]);
}

}  // namespace tidelock::sim
