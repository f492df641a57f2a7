// State files: what was reported durable is there after any crash, and one bad copy costs nothing.
#include "protocol/storage/state_file.h"

#include <rapidcheck.h>
#include <catch2/catch.hpp>

#include "tests/protocol/storage/file_model.h"

namespace tidelock::storage {
namespace {

Bytes text(std::string_view content) {
    return Bytes::copy_of(content);
}

/// Carries out everything a state file asks for until it is quiet.
StateFileOutcome settle(FileModel& files, StateFile& state, std::vector<FileEffect>& effects) {
    StateFileOutcome last = StateFileOutcome::kNothing;
    files.carry_out(effects);
    while (files.has_completion()) {
        effects.clear();
        const StateFileOutcome outcome = state.step(files.take_completion(), effects);
        if (outcome != StateFileOutcome::kNothing) last = outcome;
        files.carry_out(effects);
    }
    effects.clear();
    return last;
}

FileModel written(std::initializer_list<const char*> contents) {
    FileModel files(1);
    StateFile state("raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    for (const char* content : contents) {
        state.write(text(content), effects);
        REQUIRE(settle(files, state, effects) == StateFileOutcome::kDurable);
    }
    return files;
}

StateFileRecovery recover_raft(const FileModel& files) {
    return recover_state_file(files.image(), "raft", FileOwner::kRaft);
}

TEST_CASE("the first copy is durable, its name too, before the second is begun") {
    StateFile state("raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    const StateSequence sequence = state.write(text("x"), effects);
    REQUIRE(effects.size() == 3);
    REQUIRE(std::get<WriteFile>(effects[1]).name == FileName("raft.a"));
    const FileOpId first = std::get<SyncFile>(effects[2]).op;
    REQUIRE(owner_of(first) == FileOwner::kRaft);
    effects.clear();
    REQUIRE(state.step(FileSynced{first, true}, effects) == StateFileOutcome::kNothing);
    const FileOpId first_name = std::get<SyncDirectory>(effects.at(0)).op;
    effects.clear();
    REQUIRE(state.step(FileSynced{first_name, true}, effects) == StateFileOutcome::kNothing);
    REQUIRE(std::get<WriteFile>(effects[1]).name == FileName("raft.b"));
    const FileOpId second = std::get<SyncFile>(effects[2]).op;
    effects.clear();
    REQUIRE(state.step(FileSynced{second, true}, effects) == StateFileOutcome::kNothing);
    const FileOpId names = std::get<SyncDirectory>(effects[0]).op;
    effects.clear();
    REQUIRE(state.step(FileSynced{names, true}, effects) == StateFileOutcome::kDurable);
    REQUIRE(state.durable_sequence() == sequence);
    REQUIRE(effects.empty());
}

TEST_CASE(
    "a copy is emptied before it is written anew, so that a write the disk loses never leaves the former one whole") {
    FileModel files = written({"one"});
    StateFileRecovery found = recover_raft(files);
    std::vector<FileEffect> effects;
    found.file.start_repair(effects);
    REQUIRE(settle(files, found.file, effects) == StateFileOutcome::kDurable);
    found.file.write(text("two"), effects);
    REQUIRE(std::get<TruncateFile>(effects.at(0)) == TruncateFile{"raft.a", 0});
}

TEST_CASE("a repair overwrites the best copy in place: it may be the only one") {
    const FileModel files = written({"one"});
    StateFileRecovery found = recover_raft(files);
    std::vector<FileEffect> effects;
    found.file.start_repair(effects);
    REQUIRE(std::get<WriteFile>(effects.at(0)).name == FileName("raft.a"));
    REQUIRE(std::get<TruncateFile>(effects.at(1)).size == std::get<WriteFile>(effects[0]).content.size());
}

TEST_CASE("writes asked for meanwhile become one") {
    StateFile state("raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    FileModel files(1);
    state.write(text("one"), effects);
    state.write(text("two"), effects);
    const StateSequence last = state.write(text("three"), effects);
    REQUIRE(effects.size() == 3);
    settle(files, state, effects);
    REQUIRE(state.durable_sequence() == last);
    REQUIRE(recover_raft(files).content == text("three"));
}

TEST_CASE("a failed sync is never believed later: the copy is written again as a whole") {
    StateFile state("raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    state.write(text("x"), effects);
    const FileOpId first = std::get<SyncFile>(effects[2]).op;
    effects.clear();
    REQUIRE(state.step(FileSynced{first, false}, effects) == StateFileOutcome::kNothing);
    REQUIRE(effects.size() == 3);
    REQUIRE(std::get<WriteFile>(effects[1]).name == FileName("raft.a"));
    REQUIRE(std::get<SyncFile>(effects[2]).op != first);
}

TEST_CASE("syncs that go on failing end in a failure that is told") {
    StateFile state("raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    FileModel files(1);
    for (int i = 0; i < kStateAttemptsMax; ++i) files.fail_next_sync();
    state.write(text("x"), effects);
    REQUIRE(settle(files, state, effects) == StateFileOutcome::kFailed);
    REQUIRE(state.durable_sequence() == StateSequence(0));
}

TEST_CASE("a full disk stops the write until it is told to go on") {
    StateFile state("raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    FileModel files(1);
    files.fail_next_write(WriteFailure::kFull);
    state.write(text("x"), effects);
    REQUIRE(settle(files, state, effects) == StateFileOutcome::kFull);
    state.resume(effects);
    REQUIRE(settle(files, state, effects) == StateFileOutcome::kDurable);
}

TEST_CASE("each flipped bit of one copy costs nothing, and of both is damage") {
    const FileModel good = written({"old", "new"});
    for (const char* name : {"raft.a", "raft.b"})
        for (std::size_t bit = 0; bit < good.size_of(name) * 8; ++bit) {
            DirectoryImage image = good.image();
            for (ImageFile& file : image) {
                if (file.name != FileName(name)) continue;
                const Bytes content = *file.content;
                file.content = Bytes::build(content.size(), [&](std::span<std::byte> into) {
                    std::memcpy(into.data(), content.data(), content.size());
                    into[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
                });
            }
            const StateFileRecovery recovery = recover_state_file(image, "raft", FileOwner::kRaft);
            REQUIRE(recovery.condition == StateFileCondition::kValue);
            REQUIRE(recovery.content == text("new"));
        }
    DirectoryImage both = good.image();
    for (ImageFile& file : both) file.content = text("rubbish");
    REQUIRE(recover_state_file(both, "raft", FileOwner::kRaft).condition == StateFileCondition::kDamaged);
    for (ImageFile& file : both) file.content = Failure<ReadError>(ReadError::kIo);
    REQUIRE(recover_state_file(both, "raft", FileOwner::kRaft).condition == StateFileCondition::kDamaged);
}

TEST_CASE("a copy of another state file in this one's place is not taken") {
    const FileModel files = written({"raft state"});
    const DirectoryImage raft = files.image();
    DirectoryImage image;
    image.push_back({"topics.a", raft[0].content});
    image.push_back({"topics.b", raft[1].content});
    REQUIRE(recover_state_file(image, "topics", FileOwner::kTopics).condition == StateFileCondition::kDamaged);
}

TEST_CASE("a first write that never finished was never promised; nothing at all is absent") {
    REQUIRE(recover_state_file({}, "raft", FileOwner::kRaft).condition == StateFileCondition::kAbsent);
    const DirectoryImage torn{{"raft.a", text("half")}};
    REQUIRE(recover_state_file(torn, "raft", FileOwner::kRaft).condition == StateFileCondition::kAbsent);
    const DirectoryImage rotten{{"raft.b", text("half")}};
    REQUIRE(recover_state_file(rotten, "raft", FileOwner::kRaft).condition == StateFileCondition::kDamaged);
}

TEST_CASE("with one bad copy, the good one is first made durable as it is, then the bad one is repaired") {
    FileModel files = written({"value"});
    files.set_content("raft.a", text("rot"));
    StateFileRecovery recovery = recover_raft(files);
    REQUIRE(recovery.file.durable_sequence() < recovery.sequence);
    std::vector<FileEffect> effects;
    recovery.file.start_repair(effects);
    REQUIRE(std::get<WriteFile>(effects[0]).name == FileName("raft.b"));
    REQUIRE(std::get<WriteFile>(effects[0]).content == *find_file(files.image(), "raft.b")->content);
    REQUIRE(settle(files, recovery.file, effects) == StateFileOutcome::kDurable);
    REQUIRE(recovery.file.durable_sequence() == recovery.sequence);
    files.set_content("raft.b", text("rot"));
    REQUIRE(recover_raft(files).content == text("value"));
}

/// Writes, completions, failures and crashes in any order.
void crash_law() {
    const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
    const auto commands = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 8));
    FileModel files(seed);
    StateFile state("raft", FileOwner::kRaft);
    std::vector<FileEffect> effects;
    std::uint64_t promised = 0;  // content reported durable
    std::uint64_t asked = 0;     // latest content asked for
    std::map<std::uint64_t, std::uint64_t> content_of_sequence;
    for (const int command : commands) {
        if (command < 2) {
            const StateSequence sequence = state.write(text(std::to_string(++asked)), effects);
            content_of_sequence[sequence.value] = asked;
        }
        if (command >= 2 && command < 6 && files.has_completion() &&
            state.step(files.take_completion(), effects) == StateFileOutcome::kDurable)
            promised = content_of_sequence[state.durable_sequence().value];
        if (command == 6) files.fail_next_sync();
        files.carry_out(effects);
        effects.clear();
        if (command != 7) continue;
        (asked + files.names().size()) % 2 == 0 ? files.lose_power() : files.kill();
        const StateFileRecovery recovery = recover_raft(files);
        RC_ASSERT(recovery.condition != StateFileCondition::kDamaged);
        const std::uint64_t found = recovery.content.empty() ? 0 : std::stoull(std::string(recovery.content.text()));
        RC_ASSERT(found >= promised);
        RC_ASSERT(found <= asked);
        content_of_sequence[recovery.sequence.value] = found;
        state = recovery.file;
        if (asked % 3 != 0) state.start_repair(effects);  // or the next write begins it
        files.carry_out(effects);
        effects.clear();
    }
}

TEST_CASE("what was reported durable is there after any crash") {
    REQUIRE(rc::check("crashes", crash_law));
}

}  // namespace
}  // namespace tidelock::storage
