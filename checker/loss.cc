#include "checker/loss.h"

#include <fmt/format.h>

#include <algorithm>

#include "checker/invariant.h"

namespace tidelock::checker {
namespace {

/// A record of a stable prefix.
struct Wanted {
    Offset offset;
    BatchNumber batch;  // that holds it; kNoBatch: not known
};

/// Something else in its place is not the record got back.
bool is_destroyed_at(const ClusterView& view, const PartitionView& partition, const CopyView& copy,
                     const Wanted& wanted) {
    if (!copy.destroyed.contains(wanted.offset)) return false;
    const BatchNumber held = copy.batches.holding(partition.table, wanted.offset);
    const bool is_there = held == wanted.batch || wanted.batch == kNoBatch;
    return !is_there || !view.holds_durably(copy, partition, held);
}

/// Brokers whose copy of the record was destroyed by a disk fault and which have not got it back.
std::int32_t destroyed_copy_count(const ClusterView& view, PartitionNumber number, const Wanted& wanted) {
    std::int32_t count = 0;
    for (const BrokerView& broker : view.brokers()) {
        if (is_destroyed_at(view, view.partition(number), view.copy(broker, number), wanted)) ++count;
    }
    return count;
}

/// The first offset of `prefix` below `end` that the copy does not have.
std::optional<Offset> first_missing(const ClusterView& view, const PartitionView& partition, const CopyView& copy,
                                    const StablePrefix& prefix, Offset end) {
    if (end <= partition.legal_start || prefix.batches.empty()) return std::nullopt;
    if (!copy.exists || copy.damaged) return partition.legal_start;
    if (copy.log_start_offset > partition.legal_start) return partition.legal_start;
    // By log matching the copy has all of the prefix if it has its last batch.
    const std::size_t last = prefix.batches.first_ending_past(partition.table, end - 1);
    const std::span<const BatchNumber> batches = prefix.batches.all().first(std::min(last + 1, prefix.batches.size()));
    if (view.holds(copy, partition, batches.back())) return std::nullopt;
    const auto missing = std::partition_point(batches.begin(), batches.end(), [&](BatchNumber batch) {
        return partition.table.summary(batch).last_offset < partition.legal_start || view.holds(copy, partition, batch);
    });
    if (missing == batches.end()) return std::nullopt;
    return std::max(partition.table.summary(*missing).base_offset, partition.legal_start);
}

std::string copies_text(const ClusterView& view, PartitionNumber number, const Wanted& wanted) {
    const PartitionView& partition = view.partition(number);
    std::string text;
    for (const BrokerView& broker : view.brokers()) {
        const CopyView& copy = view.copy(broker, number);
        const BatchNumber held = copy.batches.holding(partition.table, wanted.offset);
        const char* state = "without it";
        if (!copy.exists) state = "no copy";
        if (is_destroyed_at(view, partition, copy, wanted))
            state = "destroyed by a disk fault";
        else if (copy.damaged)
            state = "damaged";
        else if (copy.exists && held != kNoBatch)
            state = broker.running ? "up" : "down, disk kept";
        const std::string at = held == kNoBatch ? "" : fmt::format(" has {}", text_of(partition.table.summary(held)));
        text += fmt::format("{}broker {}{} [{}]", text.empty() ? "" : ", ", broker.id.value, at, state);
    }
    return text;
}

}  // namespace

std::optional<Loss> find_loss(const ClusterView& view, const BrokerView& broker, PartitionNumber number,
                              const StablePrefix& prefix, Offset end) {
    const PartitionView& partition = view.partition(number);
    // A deletion takes a topic whole or not at all: whoever shows it has what was confirmed in it (F2).
    const bool is_shown = view.copy(broker, number).exists && broker.shows(partition.partition.topic);
    if (partition.may_vanish && !is_shown) return std::nullopt;
    const std::optional<Offset> missing = first_missing(view, partition, view.copy(broker, number), prefix, end);
    if (!missing) return std::nullopt;

    Loss loss;
    loss.first_missing = *missing;
    const Wanted wanted{*missing, prefix.batches.holding(partition.table, *missing)};
    const std::int32_t destroyed = destroyed_copy_count(view, number, wanted);
    const std::int32_t tolerated = destroyed_copies_tolerated(view.settings());
    loss.is_excused = destroyed > tolerated;
    const CopyView& copy = view.copy(broker, number);
    loss.explanation = fmt::format(
        "offset {} is expected to hold {}; broker {}'s log is [{}, {}){}; copies of that offset: {}; {} destroyed by "
        "disk faults, {} "
        "tolerated (G8)",
        missing->value, wanted.batch == kNoBatch ? "a record" : text_of(partition.table.summary(wanted.batch)),
        broker.id.value, copy.log_start_offset.value, copy.log_end_offset.value, copy.damaged ? ", damaged" : "",
        copies_text(view, number, wanted), destroyed, tolerated);
    return loss;
}

}  // namespace tidelock::checker
