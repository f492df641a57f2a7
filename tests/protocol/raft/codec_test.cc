// Messages and the state file: what is written is read back; any bytes at all are a value or an error (R1).
#include <catch2/catch.hpp>

#include "rig.h"
#include "tests/law.h"

namespace tidelock::raft {
namespace {

std::vector<Message> one_of_each() {
    AppendRequest append{Term(3), life_of(1), life_of(2), LogIndex(4), Term(2), LogIndex(3), ReadRound(6), {}};
    append.entries.push_back({LogIndex(5), Term(2), EntryKind::kClaim, Bytes::copy_of("claim")});
    append.entries.push_back(
        {LogIndex(6), Term(3), EntryKind::kAdmission, encode_admission({BrokerId(3), life_of(3)})});
    AppendAnswer answer{Term(3),      life_of(2), life_of(2),  life_of(1), Participation::kVoter,
                        ReadRound(6), false,      LogIndex(4), Term(1),    LogIndex(2)};
    SnapshotRequest chunk{Term(3), life_of(1), life_of(2), LogIndex(4),  Term(2),
                          0xABCD,  100,        10,         ReadRound(6), Bytes::copy_of("piece")};
    SnapshotAnswer got{Term(3),      life_of(2),  life_of(2), life_of(1), Participation::kLearner,
                       ReadRound(6), LogIndex(4), true,       15};
    FormationStatement statement{
        life_of(1), true, 7, 8, {{BrokerId(1), life_of(1), Bytes::copy_of("p")}, {BrokerId(2), life_of(2), {}}}};
    return {PreVoteRequest{Term(3), life_of(1), LogIndex(4), Term(2), 9},
            PreVoteAnswer{Term(2), Term(3), life_of(2), life_of(1), true, 9},
            VoteRequest{Term(3), life_of(1), LogIndex(4), Term(2), true},
            VoteAnswer{Term(3), life_of(2), life_of(1), true},
            append,
            answer,
            chunk,
            got,
            TimeoutNow{Term(3), life_of(1), life_of(2), LogIndex(7)},
            statement};
}

PersistentState full_state() {
    PersistentState state = voter_state(1, 3, {2, 2, 3}, 4);
    state.voted_for = Member{BrokerId(2), life_of(2)};
    state.snapshot.formation = {{BrokerId(1), life_of(1), Bytes::copy_of("p")}};
    state.entries.push_back(
        {LogIndex(4), Term(4), EntryKind::kAdmission, encode_admission({BrokerId(3), Incarnation(33)})});
    return state;
}

}  // namespace

TEST_CASE("R1 every message survives its codec") {
    const std::vector<Message> messages = one_of_each();
    REQUIRE(messages.size() == std::variant_size_v<Message>);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        REQUIRE(messages[i].index() == i);
        const Result<Message, DecodeError> decoded = decode_message(encode(messages[i]));
        REQUIRE(decoded.has_value());
        CHECK(*decoded == messages[i]);
        CHECK_FALSE(to_text(messages[i]).empty());
    }
}

TEST_CASE("R1 a message cut short or with something after it is refused") {
    for (const Message& message : one_of_each()) {
        const Bytes whole = encode(message);
        for (std::size_t size = 0; size < whole.size(); ++size)
            CHECK_FALSE(decode_message(whole.slice(0, size)).has_value());
        CHECK_FALSE(decode_message(Bytes::copy_of(std::string(whole.text()) + "x")).has_value());
    }
}

TEST_CASE("R1 a message with any byte changed is refused or is exactly what its bytes say") {
    check_law([] {
        const std::vector<Message> messages = one_of_each();
        const Bytes whole = encode(messages[*rc::gen::inRange<std::size_t>(0, messages.size())]);
        std::string bytes(whole.text());
        bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
        const Bytes changed = Bytes::copy_of(bytes);
        const Result<Message, DecodeError> decoded = decode_message(changed);
        if (decoded) RC_ASSERT(encode(*decoded) == changed);
    });
}

TEST_CASE("R9 an append whose entries do not follow each other is refused") {
    const auto is_refused = [](std::int64_t index, int term) {
        AppendRequest request{Term(3), life_of(1), life_of(2), LogIndex(4), Term(2), LogIndex(0), ReadRound(0), {}};
        request.entries.push_back({LogIndex(index), Term(term), EntryKind::kCommand, {}});
        return !decode_message(encode(request)).has_value();
    };
    CHECK_FALSE(is_refused(5, 2));
    CHECK_FALSE(is_refused(5, 3));
    CHECK(is_refused(6, 3));
    CHECK(is_refused(4, 3));
    CHECK(is_refused(5, 1));
    CHECK(is_refused(5, 4));
}

TEST_CASE("R2 the state file's content is read back whole") {
    const PersistentState state = full_state();
    const Result<PersistentState, DecodeError> decoded = decode_persistent_state(encode(state));
    REQUIRE(decoded.has_value());
    CHECK(*decoded == state);
    const PersistentState fresh = fresh_state(Incarnation(5));
    CHECK(decode_persistent_state(encode(fresh)) == fresh);
}

TEST_CASE("R2 a restart finds term, vote and log again; the term is not guessed from the log") {
    Rig rig(config_of(1, 3), *decode_persistent_state(encode(full_state())));
    CHECK(rig.node.persistent.term == Term(4));
    CHECK(rig.node.commit_index == LogIndex(0));
    CHECK(incarnation_in_force(rig.node, BrokerId(3)) == Incarnation(33));
    rig.receive(3, VoteRequest{Term(4), Incarnation(33), LogIndex(9), Term(4), false});
    CHECK_FALSE(rig.sent<VoteAnswer>(3)[0].granted);
}

TEST_CASE("R2 a state that no correct replica can have is refused, by what is wrong") {
    const auto flaw = [](auto&& spoil) {
        PersistentState state = full_state();
        spoil(state);
        const Result<PersistentState, DecodeError> decoded = decode_persistent_state(encode(state));
        return decoded ? std::string("accepted") : decoded.error().what;
    };
    CHECK(flaw([](PersistentState&) {}) == "accepted");
    CHECK(flaw([](PersistentState& s) { s.entries.erase(s.entries.begin()); }) ==
          "raft state: entries are not consecutive");
    CHECK(flaw([](PersistentState& s) { s.entries[1].term = Term(1); }) == "raft state: a term in the log falls");
    CHECK(flaw([](PersistentState& s) { s.term = Term(3); }) == "raft state: an entry is newer than the term");
    CHECK(flaw([](PersistentState& s) { s.incarnation = Incarnation(0); }) == "raft state: no incarnation");
    CHECK(flaw([](PersistentState& s) { s.incarnation = Incarnation(9); }) ==
          "raft state: a voter that its log does not name");
    CHECK(flaw([](PersistentState& s) { s.snapshot.membership.clear(); }) == "raft state: a term without a membership");
    CHECK(flaw([](PersistentState& s) { s.snapshot.last_term = Term(1); }) ==
          "raft state: a snapshot with half a position");
    CHECK(flaw([](PersistentState& s) { std::swap(s.snapshot.membership[0], s.snapshot.membership[1]); }) ==
          "raft state: malformed");
}

TEST_CASE("R3 a state of other members does not fit the configuration") {
    CHECK(fits(config_of(1, 3), voter_state(1, 3, {1}, 1)));
    CHECK_FALSE(fits(config_of(1, 3), voter_state(1, 5, {1}, 1)));
    CHECK(fits(config_of(1, 3), fresh_state(Incarnation(1))));
}

TEST_CASE("R2 a state with any byte changed is refused or is exactly what its bytes say") {
    check_law([] {
        std::string bytes(encode(full_state()).text());
        bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
        const Bytes changed = Bytes::copy_of(bytes);
        const Result<PersistentState, DecodeError> decoded = decode_persistent_state(changed);
        if (decoded) RC_ASSERT(encode(*decoded) == changed);
    });
}

}  // namespace tidelock::raft
