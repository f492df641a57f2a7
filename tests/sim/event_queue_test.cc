/// The future is popped in the order (time, seeded tie-break, sequence), and only what was not cancelled.
#include "sim/event_queue.h"
#include "tests/law.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

using namespace tidelock;
using namespace tidelock::sim;

namespace {

Event numbered(std::uint64_t number) {
    Event event;
    event.a = number;
    return event;
}

std::vector<std::uint64_t> order_of_ties(std::uint64_t seed) {
    EventQueue queue(Rng(seed, "tie-break", 0));
    for (std::uint64_t i = 0; i < 20; ++i) queue.push(TimeNs(5), numbered(i));
    std::vector<std::uint64_t> order;
    while (!queue.empty()) order.push_back(queue.pop().a);
    return order;
}

}  // namespace

TEST_CASE("ties in time are broken by the seed: same seed same order, another seed another") {
    REQUIRE(order_of_ties(1) == order_of_ties(1));
    REQUIRE(order_of_ties(1) != order_of_ties(2));
    std::vector<std::uint64_t> sorted = order_of_ties(3);
    REQUIRE_FALSE(std::is_sorted(sorted.begin(), sorted.end()));
}

TEST_CASE("pushes, pops and cancels in any mix agree with a sorted list") {
    check_law("queue against model", [] {
        EventQueue queue(Rng(1));
        std::multimap<std::int64_t, std::uint64_t> model;  // time -> number
        std::vector<std::pair<EventHandle, std::uint64_t>> handles;
        const auto steps = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
        std::uint64_t number = 0;
        for (const std::uint32_t step : steps) {
            const std::uint32_t what = step % 4;
            if (what <= 1) {
                const std::int64_t time = static_cast<std::int64_t>(step / 4 % 50);
                handles.emplace_back(queue.push(TimeNs(time), numbered(number)), number);
                model.emplace(time, number++);
            } else if (what == 2 && !handles.empty()) {
                const auto [handle, victim] = handles[step / 4 % handles.size()];
                const auto found = std::find_if(model.begin(), model.end(), [victim = victim](const auto& entry) {
                    return entry.second == victim;
                });
                RC_ASSERT(queue.is_pending(handle) == (found != model.end()));
                RC_ASSERT(queue.cancel(handle) == (found != model.end()));
                if (found != model.end()) model.erase(found);
            } else if (!model.empty()) {
                RC_ASSERT(queue.next_time()->value == model.begin()->first);
                const std::uint64_t popped = queue.pop().a;
                const auto [from, to] = model.equal_range(model.begin()->first);
                const auto found =
                    std::find_if(from, to, [popped](const auto& entry) { return entry.second == popped; });
                RC_ASSERT(found != to);
                model.erase(found);
            }
            RC_ASSERT(queue.size() == model.size());
        }
    });
}

TEST_CASE("a handle names its own event only, even when the place is used again") {
    EventQueue queue(Rng(1));
    const EventHandle first = queue.push(TimeNs(1), numbered(1));
    queue.pop();
    queue.push(TimeNs(2), numbered(2));
    REQUIRE_FALSE(queue.cancel(first));
    REQUIRE(queue.size() == 1);
    REQUIRE_FALSE(queue.cancel(EventHandle()));
}

TEST_CASE("a timer that is set anew a million times leaves no pile of stale keys") {
    EventQueue queue(Rng(1));
    EventHandle timer = queue.push(TimeNs(1'000'000'000), numbered(0));
    for (int i = 0; i < 100'000; ++i) {
        queue.cancel(timer);
        timer = queue.push(TimeNs(1'000'000'000 + i), numbered(1));
    }
    REQUIRE(queue.size() == 1);
    REQUIRE(queue.next_time() == TimeNs(1'000'000'000 + 99'999));
    queue.pop();
    REQUIRE(queue.empty());
    REQUIRE_FALSE(queue.next_time());
}

TEST_CASE("an event's bytes are let go when it is cancelled or popped") {
    EventQueue queue(Rng(1));
    Event event = numbered(1);
    event.bytes = Bytes::copy_of("content");
    const EventHandle handle = queue.push(TimeNs(1), event);
    queue.cancel(handle);
    queue.push(TimeNs(1), event);
    REQUIRE(queue.pop().bytes.text() == "content");
}
