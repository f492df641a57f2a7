/// Stories on their own stacks.
#include "sim/fiber.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "sim/scheduler.h"

using namespace tidelock;
using namespace tidelock::sim;

TEST_CASE("a fiber runs a slice at a time and keeps its locals") {
    std::string log;
    Fiber* self = nullptr;
    Fiber fiber(
        [&log, &self] {
            for (int i = 0; i < 3; ++i) {
                log += std::to_string(i);
                self->suspend();
            }
            log += "end";
        },
        64 << 10);
    self = &fiber;
    REQUIRE(log.empty());
    fiber.resume();
    REQUIRE(log == "0");
    REQUIRE_FALSE(fiber.is_running());
    fiber.resume();
    fiber.resume();
    REQUIRE_FALSE(fiber.is_finished());
    fiber.resume();
    REQUIRE(log == "012end");
    REQUIRE(fiber.is_finished());
}

TEST_CASE("a fiber may resume another, and exceptions stay inside their fiber") {
    std::string log;
    Fiber inner(
        [&log] {
            try {
                throw std::runtime_error("thrown inside");
            } catch (const std::runtime_error& error) {
                log += error.what();
            }
        },
        64 << 10);
    Fiber outer(
        [&log, &inner] {
            log += "before, ";
            inner.resume();
            log += ", after";
        },
        64 << 10);
    outer.resume();
    REQUIRE(log == "before, thrown inside, after");
    REQUIRE(inner.is_finished());
    REQUIRE(outer.is_finished());
}

TEST_CASE("the scheduler forgets a task whose story returned, and finds the others by id") {
    Scheduler scheduler;
    std::string log;
    const auto story = [&scheduler, &log](char name) {
        return [&scheduler, &log, name] {
            log += name;
            scheduler.suspend_current();
            log += name;
        };
    };
    const std::uint32_t a = scheduler.add(HostId(1), 1, story('a'), 64 << 10).id;
    const std::uint32_t b = scheduler.add(HostId(1), 1, story('b'), 64 << 10).id;
    scheduler.resume(*scheduler.find(b));
    scheduler.resume(*scheduler.find(a));
    scheduler.resume(*scheduler.find(a));
    REQUIRE(log == "baa");
    REQUIRE(scheduler.find(a) == nullptr);
    REQUIRE(scheduler.find(b) != nullptr);
    REQUIRE(scheduler.current() == nullptr);
    scheduler.resume(*scheduler.find(b));
    REQUIRE(scheduler.tasks().empty());
}
