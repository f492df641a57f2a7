// A5: whoever asked is answered in time, or its connection ends.
#include <catch2/catch.hpp>

#include "scenarios/answer_witness.h"

namespace tidelock::scenarios {
namespace {

constexpr ConnectionId kOne(1);

clients::Request produce(std::int64_t correlation, Duration timeout) {
    clients::ProduceRequest body;
    body.timeout = timeout;
    return {CorrelationId(correlation), body};
}

clients::Request fetch(std::int64_t correlation) {
    clients::FetchRequest body;
    body.wait_max = milliseconds(500);
    return {CorrelationId(correlation), body};
}

/// Acts every 50 ms until `until`; what was overdue, if anything.
std::optional<std::string> act(AnswerWitness& witness, Instant from, Instant until, bool is_disk_reading = false) {
    for (Instant now = from; now <= until; now = now + milliseconds(50))
        if (auto overdue = witness.look(now, is_disk_reading)) return overdue;
    return std::nullopt;
}

constexpr Instant at(std::int64_t ms) {
    return Instant(0) + milliseconds(ms);
}

TEST_CASE("a request is overdue when its own time and the slack are over") {
    AnswerWitness witness(seconds(5));
    witness.on_request(kOne, produce(1, seconds(1)));
    REQUIRE_FALSE(act(witness, at(0), at(3000)).has_value());
    REQUIRE(act(witness, at(3050), at(3100)).has_value());
    REQUIRE_FALSE(act(witness, at(3150), at(20'000)).has_value());  // told once
}

TEST_CASE("what names no time has the broker's patience") {
    AnswerWitness witness(seconds(5));
    witness.on_request(kOne, {CorrelationId(1), clients::InitProducerIdRequest{}});
    REQUIRE_FALSE(act(witness, at(0), at(7000)).has_value());
    REQUIRE(act(witness, at(7050), at(7100)).has_value());
}

TEST_CASE("who was answered, or whose connection ended, waits for nothing") {
    AnswerWitness witness(seconds(5));
    witness.on_request(kOne, produce(1, seconds(1)));
    witness.on_request(kOne, produce(2, seconds(1)));
    SECTION("answered") {
        witness.on_answer(kOne, CorrelationId(1));
        witness.on_answer(kOne, CorrelationId(2));
        REQUIRE_FALSE(act(witness, at(0), at(20'000)).has_value());
    }
    SECTION("only one of them") {
        witness.on_answer(kOne, CorrelationId(1));
        REQUIRE(act(witness, at(0), at(20'000)).has_value());
    }
    SECTION("closed") {
        witness.on_closed(kOne);
        REQUIRE_FALSE(act(witness, at(0), at(20'000)).has_value());
    }
    SECTION("another one's") {
        witness.on_closed(ConnectionId(2));
        REQUIRE(act(witness, at(0), at(20'000)).has_value());
    }
    SECTION("all closed") {
        witness.on_all_closed();
        REQUIRE_FALSE(act(witness, at(0), at(20'000)).has_value());
    }
}

TEST_CASE("a request that the network doubled asks for nothing") {
    AnswerWitness witness(seconds(5));
    witness.on_request(kOne, produce(1, seconds(1)));
    witness.on_answer(kOne, CorrelationId(1));
    witness.on_request(kOne, produce(1, seconds(1)));
    REQUIRE_FALSE(act(witness, at(0), at(20'000)).has_value());
}

TEST_CASE("time in which a broker could not act does not count") {
    AnswerWitness witness(seconds(5));
    witness.on_request(kOne, produce(1, seconds(1)));
    REQUIRE_FALSE(witness.look(at(0), false).has_value());
    REQUIRE_FALSE(witness.look(at(60'000), false).has_value());
    REQUIRE(act(witness, at(60'050), at(63'000)).has_value());
}

TEST_CASE("a reader waits for a disk that hangs, a producer does not") {
    AnswerWitness witness(seconds(5));
    witness.on_request(kOne, fetch(1));
    REQUIRE_FALSE(act(witness, at(0), at(20'000), true).has_value());
    REQUIRE(act(witness, at(20'050), at(20'100), false).has_value());
    witness.on_request(kOne, produce(2, seconds(1)));
    REQUIRE(act(witness, at(20'150), at(40'000), true).has_value());
}

}  // namespace
}  // namespace tidelock::scenarios
