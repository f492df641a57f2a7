// Power that fails at a chosen moment: right after a broker wrote something of a certain kind, while that is still on
// its way to the disk, and again while it recovers from that.
#include <fmt/format.h>

#include <algorithm>

#include "protocol/storage/checkpoint_journal.h"
#include "protocol/storage/segment_log.h"
#include "scenarios/nemesis.h"

namespace tidelock::scenarios {

namespace {

constexpr std::string_view kDeedNames[] = {
    "segment write", "first write to a segment", "cut",    "journal write", "new journal",   "Raft state write",
    "topics write",  "identity write",           "rename", "removal",       "sync of names", "anything"};
/// What happens all the time is drawn more often than what may not happen again in the schedule.
constexpr FileDeed kDrawnDeeds[] = {FileDeed::kSegmentWrite,  FileDeed::kSegmentWrite, FileDeed::kSegmentBegin,
                                    FileDeed::kSegmentBegin,  FileDeed::kCut,          FileDeed::kCut,
                                    FileDeed::kJournalWrite,  FileDeed::kJournalWrite, FileDeed::kJournalBegin,
                                    FileDeed::kRaftWrite,     FileDeed::kRaftWrite,    FileDeed::kTopicsWrite,
                                    FileDeed::kIdentityWrite, FileDeed::kRename,       FileDeed::kRemove,
                                    FileDeed::kNamesSync,     FileDeed::kAnything};

/// Effects on files from the first boot until the broker runs, about.
constexpr std::uint64_t kFirstBootDeeds = 36;

bool is_segment(const storage::FileName& name) {
    const auto file = storage::parse_partition_file(name.text());
    return file && file->kind == storage::PartitionFileKind::kSegment;
}

bool is_journal(const storage::FileName& name) {
    return storage::parse_journal_file_name(name.text()).has_value();
}

/// Seals come after every commit, and nothing is at stake in them.
bool is_seal(const storage::WriteFile& write) {
    constexpr std::size_t kKindAt = 4;  // in a slot
    return write.content.size() > kKindAt &&
           write.content.span()[kKindAt] == static_cast<std::byte>(storage::SlotKind::kSeal);
}

struct DeedMatch {
    FileDeed deed;

    bool operator()(const storage::WriteFile& e) const {
        const std::string_view name = e.name.text();
        switch (deed) {
            case FileDeed::kSegmentWrite:
                return is_segment(e.name);
            case FileDeed::kSegmentBegin:
                return e.position == 0 && is_segment(e.name);
            case FileDeed::kJournalWrite:
                return is_journal(e.name) && !is_seal(e);
            case FileDeed::kJournalBegin:
                return e.position == 0 && name.starts_with("checkpoint.");
            case FileDeed::kRaftWrite:
                return name.starts_with("raft.");
            case FileDeed::kTopicsWrite:
                return name.starts_with("topics.");
            case FileDeed::kIdentityWrite:
                return name.starts_with("identity.");
            default:
                return false;
        }
    }
    bool operator()(const storage::TruncateFile& e) const { return deed == FileDeed::kCut && is_segment(e.name); }
    bool operator()(const storage::SyncFile&) const { return false; }
    bool operator()(const storage::SyncDirectory&) const { return deed == FileDeed::kNamesSync; }
    bool operator()(const storage::RenameFile&) const { return deed == FileDeed::kRename; }
    bool operator()(const storage::RemoveFile&) const { return deed == FileDeed::kRemove; }
    bool operator()(const storage::ReadFile&) const { return false; }
};

bool is_deed(FileDeed deed, const storage::FileEffect& effect) {
    return deed == FileDeed::kAnything || std::visit(DeedMatch{deed}, effect);
}

}  // namespace

void Nemesis::arm_power_loss(const PlannedFault& fault, sim::Rng& random) {
    ArmedPowerLoss armed{};
    armed.fault = &fault;
    armed.broker = victim_of(fault, random);
    armed.deed = kDrawnDeeds[random.below(std::size(kDrawnDeeds))];
    armed.occurrences_left = 1 + random.below(3);
    armed.strikes_left = fault.size;
    armed.random = random;
    armed.begins_with_kill = armed.random.below(3) == 0;
    trace(fault, fmt::format("armed on broker {} for: {}", armed.broker.value,
                             kDeedNames[static_cast<std::size_t>(armed.deed)]));
    armed_power_.push_back(armed);
}

void Nemesis::arm_on_the_way_up(const PlannedFault& fault, BrokerId victim, sim::Rng& random) {
    constexpr FileDeed kDeeds[] = {FileDeed::kIdentityWrite, FileDeed::kTopicsWrite, FileDeed::kRaftWrite,
                                   FileDeed::kAnything};
    ArmedPowerLoss armed{};
    armed.fault = &fault;
    armed.broker = victim;
    armed.deed = kDeeds[random.below(std::size(kDeeds))];
    armed.occurrences_left = 1 + random.below(armed.deed == FileDeed::kAnything ? 20 : 2);
    armed.strikes_left = 1;
    armed.random = random;
    armed_power_.push_back(armed);
}

void Nemesis::on_file_effect(BrokerId broker, const storage::FileEffect& effect) {
    for (std::size_t i = 0; i < armed_power_.size(); ++i) {
        ArmedPowerLoss& armed = armed_power_[i];
        if (armed.broker != broker || !is_deed(armed.deed, effect)) continue;
        if (--armed.occurrences_left > 0) continue;
        const ArmedPowerLoss striking = armed;
        armed_power_.erase(armed_power_.begin() + static_cast<std::ptrdiff_t>(i));
        return strike_power(striking);
    }
}

/// Somewhere between the write and the end of its sync, as a rule; the world's loop, not the broker's stack, does it.
void Nemesis::strike_power(ArmedPowerLoss armed) {
    const std::int64_t typical_us = std::max<std::int64_t>(1, cluster_.plan().settings[Setting::kSyncMaxUs] / 10);
    const bool is_late = armed.random.below(3) == 0;
    const std::int64_t delay_us = armed.random.between(0, is_late ? typical_us * 4 : typical_us);
    later(microseconds(delay_us), [this, armed]() mutable {
        if (armed.begins_with_kill) return kill_in_write(armed);
        take_power(armed);
        if (--armed.strikes_left == 0) return;
        // The next one meets it on its way up, or soon after.
        armed.deed = FileDeed::kAnything;
        armed.occurrences_left = 1 + armed.random.below(30);
        armed_power_.push_back(armed);
    });
}

void Nemesis::take_power(ArmedPowerLoss& armed) {
    std::vector<BrokerId> victims{armed.broker};
    const bool has_company = armed.random.below(3) == 0;
    for (const BrokerId other : others_of(armed.broker))
        if (has_company && armed.random.below(2) == 0) victims.push_back(other);
    trace(*armed.fault, fmt::format("takes {} brokers, broker {} at: {}", victims.size(), armed.broker.value,
                                    kDeedNames[static_cast<std::size_t>(armed.deed)]));
    cluster_.lose_power(victims);
    if (armed.fault->kind != FaultKind::kBitRotAtRestart) cluster_.count_fault(armed.fault->kind);  // told already
    for (const BrokerId victim : victims) {
        const std::int64_t downtime_ms = armed.fault->duration_ms * armed.random.between(50, 150) / 100;
        later(milliseconds(downtime_ms), [this, victim] { cluster_.restart(victim); });
    }
}

/// The process dies alone: the next life finds what no disk has yet, builds on it, and then the power goes, most of
/// the time when it writes the same again.
void Nemesis::kill_in_write(ArmedPowerLoss& armed) {
    trace(*armed.fault, fmt::format("kills broker {} first, at: {}", armed.broker.value,
                                    kDeedNames[static_cast<std::size_t>(armed.deed)]));
    kill_for(armed.broker, milliseconds(armed.fault->duration_ms));
    armed.begins_with_kill = false;
    const bool is_same_deed = armed.random.below(4) != 0;
    const std::uint64_t later_deed = armed.random.below(30);
    if (!is_same_deed) armed.deed = FileDeed::kAnything;
    armed.occurrences_left = 1 + (is_same_deed ? later_deed % 2 : later_deed);
    armed_power_.push_back(armed);
}

// --- first boots ------------------------------------------------------------------------------------------------

/// Half of the power losses strike while the cluster forms, the others when a broker comes back with an emptied disk.
void Nemesis::arm_first_boot(const PlannedFault& fault) {
    ArmedFirstBoot armed{&fault, 1, sim::Rng(fault.choice)};
    const auto brokers = static_cast<std::uint64_t>(cluster_.broker_count());
    if (fault.kind == FaultKind::kCutOffWhileForming) {
        armed.boots_left = brokers;  // only when the last one is there can a group form
        first_boots_.push_back(armed);
        return;
    }
    const bool is_at_formation = armed.random.below(2) == 0;
    const std::uint64_t drawn = armed.random.next();
    armed.boots_left =
        1 + (is_at_formation ? sim::scaled_below(drawn, brokers) : brokers + sim::scaled_below(drawn, 3));
    first_boots_.push_back(armed);
}

void Nemesis::on_first_boot(BrokerId broker) {
    for (ArmedFirstBoot& first : first_boots_) {
        if (first.boots_left == 0 || --first.boots_left > 0) continue;
        if (first.fault->kind == FaultKind::kCutOffWhileForming) {
            cut_off_while_forming(*first.fault, first.random);
            continue;
        }
        ArmedPowerLoss armed{};
        armed.fault = first.fault;
        armed.broker = broker;
        armed.occurrences_left = 1 + first.random.below(kFirstBootDeeds);
        armed.strikes_left = first.fault->size;
        armed.random = first.random;
        trace(*first.fault, fmt::format("armed on broker {}, effect {}", broker.value, armed.occurrences_left));
        armed_power_.push_back(armed);
    }
}

}  // namespace tidelock::scenarios
