#include "checker/offsets_monotonic.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tidelock::checker {
namespace {

void insert_sorted(std::vector<Offset>& offsets, Offset offset) {
    const auto at = std::lower_bound(offsets.begin(), offsets.end(), offset);
    if (at == offsets.end() || *at != offset) offsets.insert(at, offset);
}

}  // namespace

void OffsetsMonotonic::judge(const ClientCall& call, const OffsetCommitCall& commit) {
    if (call.outcome == Outcome::kFailed) return;
    const Key key{commit.group, commit.partition};
    std::erase_if(suspects_, [&](const Suspect& suspect) {
        return suspect.key == key && suspect.answered == commit.offset && call.invoked_ns <= suspect.returned_ns;
    });
    Committed& committed = committed_[key];
    if (call.outcome == Outcome::kUnknown || may_be_of_deleted(key, call)) {
        // It may take effect at any time, even after later commits, or went with the deleted topic: its offset is a
        // possible answer from now on.
        insert_sorted(committed.may_be_committed, commit.offset);
        return;
    }
    Offset floor = commit.offset;
    // Of two commits at the same time either may be the later one.
    const bool is_concurrent = !committed.floors.empty() && call.invoked_ns < committed.last_returned_ns;
    if (is_concurrent) floor = std::min(floor, committed.floors.back().offset);
    committed.floors.push_back(Floor{call.returned_ns, floor});
    committed.last_returned_ns = call.returned_ns;
}

/// An offset that was told counts like an acknowledged one (G3), also if the commit behind it never got its answer.
/// A commit that was acknowledged while it was asked for may have come after what was told.
void OffsetsMonotonic::raise_floor(Committed& committed, const ClientCall& call, const OffsetFetchCall& fetch) const {
    if (!fetch.offset || committed.last_returned_ns > call.invoked_ns) return;
    if (may_be_of_deleted({fetch.group, fetch.partition}, call)) return;
    std::vector<Floor>& floors = committed.floors;
    if (!floors.empty() && *fetch.offset <= floors.back().offset) return;
    floors.push_back(Floor{call.returned_ns, *fetch.offset});
}

void OffsetsMonotonic::judge(const ClientCall& call, const OffsetFetchCall& fetch, const ExcusedLosses& excused) {
    if (call.outcome != Outcome::kOk || excused.offsets || excused.contains(fetch.partition.topic)) return;
    const Key key{fetch.group, fetch.partition};
    Committed& committed = committed_[key];
    const std::vector<Floor>& floors = committed.floors;
    const auto after = std::partition_point(floors.begin(), floors.end(),
                                            [&](const Floor& floor) { return floor.since_ns <= call.invoked_ns; });
    if (after == floors.begin())
        return raise_floor(committed, call, fetch);  // nothing was acknowledged before it asked
    Floor expected = *(after - 1);
    // Commits acknowledged while it was under way may be what it saw.
    for (auto floor = after; floor != floors.end(); ++floor) {
        if (floor->offset < expected.offset) expected = *floor;
    }
    const std::vector<Offset>& possible = committed.may_be_committed;
    const bool is_possible = fetch.offset ? std::binary_search(possible.begin(), possible.end(), *fetch.offset)
                                          : may_be_deleted_at_any_time(key);
    if (is_possible || (fetch.offset && *fetch.offset >= expected.offset)) return raise_floor(committed, call, fetch);
    suspects_.push_back(Suspect{
        key, fetch.offset, call.returned_ns,
        fmt::format(
            "client {} call {}: group {} on topic {} partition {} was told the committed offset {}, but a commit of {} "
            "had been acknowledged, or told to a fetch, at {} ns, before it asked at {} ns (T1)",
            call.client.value, call.call, fetch.group.value, fetch.partition.topic.value,
            fetch.partition.partition.value, fetch.offset ? std::to_string(fetch.offset->value) : std::string("none"),
            expected.offset.value, expected.since_ns, call.invoked_ns)});
}

void OffsetsMonotonic::judge_at_end(ViolationLog& log) const {
    for (const Suspect& suspect : suspects_) {
        log.report(InvariantId::kOffsetsMonotonic, suspect.returned_ns, suspect.message);
    }
}

bool OffsetsMonotonic::may_be_of_deleted(const Key& key, const ClientCall& call) const {
    const auto last = deletions_.find(key.partition.topic);
    return last != deletions_.end() && call.invoked_ns <= last->second.returned_ns;
}

bool OffsetsMonotonic::may_be_deleted_at_any_time(const Key& key) const {
    const auto last = deletions_.find(key.partition.topic);
    return last != deletions_.end() && last->second.may_strike_later;
}

void OffsetsMonotonic::judge(const ClientCall& call, const DeleteTopicCall& deletion) {
    if (call.outcome == Outcome::kFailed) return;
    // What was answered while the deletion was under way may have been the new emptiness.
    std::erase_if(suspects_, [&](const Suspect& suspect) {
        return suspect.key.partition.topic == deletion.topic && call.invoked_ns <= suspect.returned_ns;
    });
    Deletion& last = deletions_[deletion.topic];
    last.returned_ns = call.returned_ns;
    last.may_strike_later = last.may_strike_later || call.outcome == Outcome::kUnknown;
    std::vector<Key> gone;
    for (const auto& [key, committed] : committed_) {
        if (key.partition.topic == deletion.topic) gone.push_back(key);
    }
    for (const Key& key : gone) committed_.erase(key);
}

}  // namespace tidelock::checker
