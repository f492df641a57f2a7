#include "checker/client_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tidelock::checker {
namespace {

constexpr InvariantId kThis = InvariantId::kClientHistory;

std::string text_of(const ClientPartition& partition) {
    return fmt::format("topic {} partition {}", partition.topic.value, partition.partition.value);
}

std::string text_of(const ClientCall& call) {
    return fmt::format("client {} call {}", call.client.value, call.call);
}

}  // namespace

std::uint32_t ClientHistory::partition_of(const ClientPartition& partition) {
    const auto [number, is_new] =
        partition_numbers_.try_emplace(partition, static_cast<std::uint32_t>(partitions_.size()));
    if (is_new) {
        partitions_.emplace_back();
        partitions_.back().id = partition;
        const auto deletions = deletions_.find(partition.topic);
        if (deletions != deletions_.end()) begin_life(partitions_.back(), deletions->second);
    }
    return number->second;
}

/// Nothing is known of the topic's next life, and what was asked before the deletion was answered may mean the last
/// one.
void ClientHistory::begin_life(Partition& partition, const TopicDeletions& deletions) {
    Partition fresh;
    fresh.id = partition.id;
    fresh.life = deletions.count;
    fresh.judged_from_ns = deletions.last_returned_ns;
    fresh.is_uncertain = deletions.may_strike_later;
    partition = std::move(fresh);
}

ClientHistory::Value& ClientHistory::value_of(std::uint64_t value) {
    if (const std::optional<std::uint32_t> known = value_numbers_.find(value)) return values_[*known];
    value_numbers_.put(value, static_cast<std::uint32_t>(values_.size()));
    values_.push_back(Value{});
    values_.back().value = value;
    return values_.back();
}

void ClientHistory::learn(Partition& partition, Offset offset, std::uint64_t value, const ClientCall& call,
                          const char* how, ViolationLog& log) {
    if (offset < Offset(0)) return;
    const auto at = static_cast<std::size_t>(offset.value);
    if (partition.values.size() <= at) {
        partition.values.resize(at + 1, 0);
        partition.known_since_ns.resize(at + 1, 0);
    }
    const std::uint64_t known = partition.values[at];
    if (known == 0) {
        partition.values[at] = value;
        partition.known_since_ns[at] = call.returned_ns;
    }
    if (known == 0 || known == value) return;
    log.report(
        kThis, call.returned_ns,
        fmt::format(
            "inconsistent offset: {} {} value {:x} at {} offset {}, where value {:x} had been acknowledged or read",
            text_of(call), how, value, text_of(partition.id), offset.value, known));
}

// --- sends --------------------------------------------------------------------------------------------------------

void ClientHistory::note_attempt(const ClientCall& call, const ProduceCall& produce, std::uint32_t partition,
                                 Value& value) {
    const bool is_first = value.attempts == 0;
    if (is_first) {
        value.partition = partition;
        value.producer_id = produce.producer_id;
        value.producer_epoch = produce.producer_epoch;
    }
    const bool is_same_session =
        value.producer_id == produce.producer_id && value.producer_epoch == produce.producer_epoch;
    if (produce.producer_id.value < 0 || !is_same_session) value.is_idempotent = false;
    if (call.outcome != Outcome::kFailed) value.has_failed_only = false;
    ++value.attempts;
}

void ClientHistory::judge_send_order(const ClientCall& call, const ProduceCall& produce, Partition& partition,
                                     bool is_fresh, ViolationLog& log) {
    std::vector<AckedEnd>& ends = partition.acked_ends;
    const auto after = std::partition_point(ends.begin(), ends.end(),
                                            [&](const AckedEnd& end) { return end.returned_ns < call.invoked_ns; });
    // A retry may be answered with the offset of the first attempt.
    if (is_fresh && after != ends.begin() && *produce.base_offset < (after - 1)->end) {
        log.report(
            kThis, call.returned_ns,
            fmt::format("non-monotonic send: {} sent at {} ns and got {} offset {}, but everything up to offset {} had "
                        "been acknowledged at {} ns",
                        text_of(call), call.invoked_ns, text_of(partition.id), produce.base_offset->value,
                        (after - 1)->end.value, (after - 1)->returned_ns));
    }
    const Offset end = *produce.base_offset + static_cast<std::int64_t>(produce.values.size());
    ends.push_back(AckedEnd{call.returned_ns, ends.empty() ? end : std::max(end, ends.back().end)});
}

void ClientHistory::judge_acked_offset(const ClientCall& call, Offset offset, Value& value, ViolationLog& log,
                                       const ExcusedLosses& excused) {
    const std::uint32_t life = partitions_[value.partition].life;
    // Who writes by name may send to the topic's next life what the last one had taken: it is new there.
    const Offset before = value.acked_life == life ? value.acked_offset : Offset(-1);
    if (value.acked_offset.value < 0) ++acknowledged_records_;
    value.acked_offset = offset;
    value.acked_life = life;
    // A producer that was forgotten is taken for a new one.
    if (before.value < 0 || before == offset || !value.is_idempotent || excused.producers) return;
    if (excused.has_forgotten(partitions_[value.partition].id, value.producer_id)) return;
    log.report(
        kThis, call.returned_ns,
        fmt::format("duplicate: {} was acknowledged value {:x} of producer {} at {} offset {}, after offset {} (T2)",
                    text_of(call), value.value, value.producer_id.value, text_of(partitions_[value.partition].id),
                    offset.value, before.value));
}

void ClientHistory::judge(const ClientCall& call, const ProduceCall& produce, ViolationLog& log,
                          const ExcusedLosses& excused) {
    const std::uint32_t number = partition_of(produce.partition);
    bool is_fresh = true;
    for (const std::uint64_t sent : produce.values) {
        Value& value = value_of(sent);
        if (value.attempts > 0) is_fresh = false;
        note_attempt(call, produce, number, value);
    }
    const bool is_confirmed = call.outcome == Outcome::kOk && produce.acks == Acks::kAll;
    const bool is_claimed = is_confirmed && produce.error == clients::ErrorCode::kDuplicateSequence;
    if (is_claimed)
        for (const std::uint64_t sent : produce.values)
            if (Value& value = value_of(sent); value.claimed_ns < 0) value.claimed_ns = call.returned_ns;
    if (!is_confirmed || !produce.base_offset) return;

    Partition& partition = partitions_[number];
    const bool is_judged =
        !excused.contains(produce.partition) && !partition.is_uncertain && call.invoked_ns > partition.judged_from_ns;
    if (is_judged) judge_send_order(call, produce, partition, is_fresh, log);
    Offset offset = *produce.base_offset;
    for (const std::uint64_t sent : produce.values) {
        if (is_judged) {
            judge_acked_offset(call, offset, value_of(sent), log, excused);
            learn(partition, offset, sent, call, "was acknowledged", log);
        } else {
            ++acknowledged_records_;
        }
        offset += 1;
    }
}

// --- polls --------------------------------------------------------------------------------------------------------

void ClientHistory::judge_poll_order(const ClientCall& call, const FetchCall& fetch, ViolationLog& log) {
    Offset expected_from = fetch.from;
    for (const ReadRecord& record : fetch.records) {
        if (record.offset < expected_from) {
            log.report(
                kThis, call.returned_ns,
                fmt::format("non-monotonic poll: {} read {} from offset {} and got offset {} where {} or later was due",
                            text_of(call), text_of(fetch.partition), fetch.from.value, record.offset.value,
                            expected_from.value));
            return;
        }
        expected_from = record.offset + 1;
    }
    if (fetch.records.empty() || fetch.records.back().offset < fetch.high_watermark) return;
    log.report(
        kThis, call.returned_ns,
        fmt::format("dirty read: {} got {} offset {} while it was told the high watermark {} (I7)", text_of(call),
                    text_of(fetch.partition), fetch.records.back().offset.value, fetch.high_watermark.value));
}

void ClientHistory::judge_skips(const ClientCall& call, const FetchCall& fetch, const Partition& partition,
                                ViolationLog& log) {
    // Aborted records are left out for read_committed; that is V15's.
    if (fetch.read_committed) return;
    Offset next = std::max(fetch.from, partition.deletable_below);
    for (const ReadRecord& record : fetch.records) {
        for (; next < record.offset; next += 1) {
            const auto at = static_cast<std::size_t>(next.value);
            if (at >= partition.values.size() || partition.values[at] == 0) continue;
            log.report(
                kThis, call.returned_ns,
                fmt::format(
                    "poll skip: {} read {} from offset {} and got offset {}, past offset {}, where value {:x} is "
                    "known to be",
                    text_of(call), text_of(fetch.partition), fetch.from.value, record.offset.value, next.value,
                    partition.values[at]));
            return;
        }
        next = std::max(next, record.offset + 1);
    }
}

/// I7: an offset between the log start and a high watermark that was shown is in range, whoever leads. A consumer that
/// is told otherwise starts over, or goes to the end.
void ClientHistory::judge_refusal(const ClientCall& call, const FetchCall& fetch, const Partition& partition,
                                  ViolationLog& log) {
    const std::vector<AckedEnd>& ends = partition.shown_ends;
    const auto after =
        std::ranges::partition_point(ends, [&](const AckedEnd& shown) { return shown.returned_ns < call.invoked_ns; });
    if (after == ends.begin() || fetch.from > (after - 1)->end || fetch.from < *fetch.refused_log_start) return;
    log.report(
        kThis, call.returned_ns,
        fmt::format("refused in range: {} asked {} for offset {} and was told that this is out of range, though the "
                    "log starts at {} and the high watermark {} had been shown at {} ns, before it asked (I7)",
                    text_of(call), text_of(fetch.partition), fetch.from.value, fetch.refused_log_start->value,
                    (after - 1)->end.value, (after - 1)->returned_ns));
}

void ClientHistory::note_shown_end(Partition& partition, std::int64_t returned_ns, Offset end) {
    if (partition.shown_ends.empty() || partition.shown_ends.back().end < end)
        partition.shown_ends.push_back(AckedEnd{returned_ns, end});
}

void ClientHistory::note_read(std::uint32_t number, const ReadRecord& record, ClientId reader, std::int64_t time_ns) {
    Value& value = value_of(record.value);
    const std::uint32_t life = partitions_[number].life;
    const bool is_new = !value.is_read || value.read_life != life;
    if (is_new) {
        value.is_read = true;
        value.read_partition = number;
        value.read_life = life;
        value.read_offset = record.offset;
        value.reader = reader;
        value.read_ns = time_ns;
        return;
    }
    if (value.is_read_twice || (value.read_offset == record.offset && value.read_partition == number)) return;
    value.is_read_twice = true;
    value.second_offset = record.offset;
    value.reader = reader;
    value.read_ns = time_ns;
}

void ClientHistory::judge(const ClientCall& call, const FetchCall& fetch, ViolationLog& log,
                          const ExcusedLosses& excused) {
    if (call.outcome != Outcome::kOk && !fetch.refused_log_start) return;
    const std::uint32_t number = partition_of(fetch.partition);
    Partition& partition = partitions_[number];
    const bool is_judged =
        !excused.contains(fetch.partition) && !partition.is_uncertain && call.invoked_ns > partition.judged_from_ns;
    if (fetch.refused_log_start) {
        if (is_judged) judge_refusal(call, fetch, partition, log);
        return;
    }
    judge_poll_order(call, fetch, log);
    read_records_ += static_cast<std::int64_t>(fetch.records.size());
    if (is_judged) {
        judge_skips(call, fetch, partition, log);
        note_shown_end(partition, call.returned_ns, fetch.high_watermark);
    }
    for (const ReadRecord& record : fetch.records) {
        if (is_judged) learn(partition, record.offset, record.value, call, "read", log);
        note_read(number, record, call.client, call.returned_ns);
    }
}

// --- deletions ----------------------------------------------------------------------------------------------------

void ClientHistory::judge(const ClientCall& call, const CreateTopicCall& creation) {
    if (call.outcome == Outcome::kOk)
        promised_topics_.insert_or_assign(creation.topic, TopicPromise{creation.partitions, call.returned_ns});
}

void ClientHistory::judge(const ClientCall& call, const GrowTopicCall& growth) {
    const auto known = promised_topics_.find(growth.topic);
    if (call.outcome == Outcome::kOk && known != promised_topics_.end())
        known->second = {std::max(known->second.partitions, growth.partitions), call.returned_ns};
}

/// F2: a topic change that was answered is not taken back by a failover.
void ClientHistory::judge_topics(std::int64_t time_ns, const FinalView& view, ViolationLog& log,
                                 const ExcusedLosses& excused) const {
    for (const auto& [topic, promise] : promised_topics_) {
        if (promise.told_ns >= view.topics_listed_ns || excused.contains(topic)) continue;
        std::int32_t found = 0;
        for (const FinalRead& read : view.reads) found += read.partition.topic == topic ? 1 : 0;
        if (found >= promise.partitions) continue;
        log.report(
            kThis, time_ns,
            fmt::format("lost topic: topic {} was created with {} partition(s), grown included, and nobody asked "
                        "for its deletion; at the end there are {}",
                        topic.value, promise.partitions, found));
    }
}

void ClientHistory::judge(const ClientCall& call, const DeleteTopicCall& deletion) {
    if (call.outcome == Outcome::kFailed) return;
    promised_topics_.erase(deletion.topic);
    TopicDeletions& deletions = deletions_[deletion.topic];
    ++deletions.count;
    deletions.last_returned_ns = call.returned_ns;
    deletions.may_strike_later = deletions.may_strike_later || call.outcome == Outcome::kUnknown;
    for (Partition& partition : partitions_)
        if (partition.id.topic == deletion.topic) begin_life(partition, deletions);
}

/// An offset up to a high watermark that was shown is not past the end, whoever leads (KIP-207).
void ClientHistory::judge_refusal(const ClientCall& call, const DeleteRecordsCall& deletion, const Partition& partition,
                                  ViolationLog& log) {
    const std::vector<AckedEnd>& ends = partition.shown_ends;
    const auto after =
        std::ranges::partition_point(ends, [&](const AckedEnd& shown) { return shown.returned_ns < call.invoked_ns; });
    if (after == ends.begin() || deletion.before > (after - 1)->end) return;
    log.report(kThis, call.returned_ns,
               fmt::format("refused in range: {} asked to delete what is below {} of {} and was told that this is past "
                           "the end, though the high watermark {} had been shown at {} ns, before it asked (I7)",
                           text_of(call), deletion.before.value, text_of(deletion.partition), (after - 1)->end.value,
                           (after - 1)->returned_ns));
}

void ClientHistory::judge(const ClientCall& call, const DeleteRecordsCall& deletion, ViolationLog& log,
                          const ExcusedLosses& excused) {
    Partition& partition = partitions_[partition_of(deletion.partition)];
    if (call.outcome == Outcome::kFailed) {
        const bool is_judged = deletion.is_refused_as_past_end && !excused.contains(deletion.partition) &&
                               !partition.is_uncertain && call.invoked_ns > partition.judged_from_ns;
        if (is_judged) judge_refusal(call, deletion, partition, log);
        return;
    }
    partition.deletable_below = std::max(partition.deletable_below, deletion.before);
    if (call.outcome != Outcome::kOk) return;
    partition.deleted_below = std::max(partition.deleted_below, deletion.before);
    partition.deletions.push_back(AckedEnd{call.returned_ns, partition.deleted_below});
}

void ClientHistory::judge(const ClientCall& call, const ListOffsetsCall& list, ViolationLog& log,
                          const ExcusedLosses& excused) {
    if (call.outcome != Outcome::kOk || excused.contains(list.partition)) return;
    Partition& partition = partitions_[partition_of(list.partition)];
    if (partition.is_uncertain || call.invoked_ns <= partition.judged_from_ns) return;
    if (!list.earliest) return note_shown_end(partition, call.returned_ns, list.offset);
    const std::vector<AckedEnd>& deletions = partition.deletions;
    const auto after = std::ranges::partition_point(
        deletions, [&](const AckedEnd& deletion) { return deletion.returned_ns < call.invoked_ns; });
    if (after == deletions.begin() || list.offset >= (after - 1)->end) return;
    log.report(
        kThis, call.returned_ns,
        fmt::format("deleted records are back: {} was told that {} starts at {}, though the deletion of all below "
                    "{} had been answered at {} ns, before it asked (L7)",
                    text_of(call), text_of(list.partition), list.offset.value, (after - 1)->end.value,
                    (after - 1)->returned_ns));
}

/// What it had read is there as long as the log does not start past it.
void ClientHistory::judge(const ClientCall& call, const TimeLookupCall& lookup, ViolationLog& log,
                          const ExcusedLosses& excused) {
    if (call.outcome != Outcome::kOk || excused.contains(lookup.partition)) return;
    const Partition& partition = partitions_[partition_of(lookup.partition)];
    const bool is_of_this_life = lookup.read_since_ns > partition.judged_from_ns;
    if (partition.is_uncertain || !is_of_this_life) return;
    const bool is_passed_over =
        (!lookup.offset || *lookup.offset > lookup.first_read) && lookup.log_start <= lookup.first_read;
    if (!lookup.is_too_early && !is_passed_over) return;
    log.report(kThis, call.returned_ns,
               fmt::format(
                   "wrong offset for a time: {} asked {} for records since {} ms and was told {}, but had read "
                   "{} there",
                   text_of(call), text_of(lookup.partition), lookup.timestamp_ms,
                   lookup.offset ? fmt::format("offset {}", lookup.offset->value) : "none",
                   lookup.is_too_early ? "an older record" : fmt::format("one at offset {}", lookup.first_read.value)));
}

void ClientHistory::judge(const ClientCall& call, const EpochEndCall& asked, ViolationLog& log,
                          const ExcusedLosses& excused) {
    if (call.outcome != Outcome::kOk || excused.contains(asked.partition)) return;
    const Partition& partition = partitions_[partition_of(asked.partition)];
    if (partition.is_uncertain || asked.read_since_ns <= partition.judged_from_ns) return;
    if (asked.end >= asked.position) return;
    log.report(
        kThis, call.returned_ns,
        fmt::format("read records are told to be cut: {} was told that the epoch of what it read last of {} ended "
                    "at offset {}, but had read up to {} (KIP-320)",
                    text_of(call), text_of(asked.partition), asked.end.value, asked.position.value));
}

// --- the end ------------------------------------------------------------------------------------------------------

/// L7: a log start that somebody was told of holds over failovers.
void ClientHistory::judge_deleted(std::int64_t time_ns, const FinalRead& read, const Partition& partition,
                                  ViolationLog& log) {
    const auto after = std::ranges::partition_point(
        partition.deletions, [&](const AckedEnd& deletion) { return deletion.returned_ns < read.first_invoked_ns; });
    if (!read.complete || after == partition.deletions.begin()) return;
    const Offset deleted_below = (after - 1)->end;
    if (read.log_start_offset >= deleted_below) return;
    log.report(kThis, time_ns,
               fmt::format("deleted records are back: {} was told to have none below offset {}, in the last read it "
                           "starts at {} (L7)",
                           text_of(read.partition), deleted_below.value, read.log_start_offset.value));
}

/// From where on every known record has to be there. What retention takes, the high watermark at the end bounds.
Offset ClientHistory::demanded_from(const Settings& settings, const FinalRead& read, const Partition& partition,
                                    Offset read_end) {
    if (!settings.retention_enabled) return partition.deletable_below;
    Offset taken_below = read.log_start_offset;
    if (read.complete) taken_below = std::min(taken_below, read_end - settings.retention_records_min);
    return std::max(taken_below, partition.deletable_below);
}

void ClientHistory::judge_final_read(std::int64_t time_ns, const Settings& settings, const FinalRead& read,
                                     ViolationLog& log) {
    const Partition& partition = partitions_[partition_of(read.partition)];
    if (partition.is_uncertain) return;
    judge_deleted(time_ns, read, partition, log);
    const Offset read_end = read.records.empty() ? Offset(0) : read.records.back().offset + 1;
    const Offset start = demanded_from(settings, read, partition, read_end);
    auto record = read.records.begin();
    for (auto at = static_cast<std::size_t>(std::max<std::int64_t>(start.value, 0)); at < partition.values.size();
         ++at) {
        const std::uint64_t expected = partition.values[at];
        const Offset offset(static_cast<std::int64_t>(at));
        while (record != read.records.end() && record->offset < offset) ++record;
        const bool is_there = record != read.records.end() && record->offset == offset;
        if (expected == 0 || (is_there && record->value == expected)) continue;
        // Told to its client only after the last request had left that found the end.
        if (offset >= read_end && partition.known_since_ns[at] >= read.last_invoked_ns) continue;
        const char* what = offset < read_end ? "lost write" : "unseen";
        const std::string found =
            is_there ? fmt::format("value {:x} is there", record->value) : std::string("it is not there");
        log.report(kThis, time_ns,
                   fmt::format("{}: {} offset {} held value {:x} (acknowledged by policy or read before), in the last "
                               "read [{}, {}) {}",
                               what, text_of(read.partition), offset.value, expected, read.log_start_offset.value,
                               read_end.value, found));
        return;
    }
}

/// "Written before" is as good as an acknowledgement (A4): where nothing was deleted the record has to be found.
void ClientHistory::judge_claimed(std::int64_t time_ns, const Settings& settings, const FinalView& view,
                                  ViolationLog& log, const ExcusedLosses& excused) {
    if (settings.retention_enabled || excused.producers) return;
    FlatMap<std::uint32_t, std::int64_t>
        found_until_ns;  // of partitions read from the first record that there ever was
    for (const FinalRead& read : view.reads) {
        const std::uint32_t number = partition_of(read.partition);
        const Partition& partition = partitions_[number];
        const bool may_lack = partition.is_uncertain || partition.life > 0 || partition.deletable_below > Offset(0);
        if (read.complete && !may_lack && !excused.contains(read.partition))
            found_until_ns[number] = read.last_invoked_ns;
    }
    for (const Value& value : values_) {
        if (value.claimed_ns < 0 || value.is_read) continue;
        const auto read = found_until_ns.find(value.partition);
        if (read == found_until_ns.end() || value.claimed_ns >= read->second) continue;
        const ClientPartition& partition = partitions_[value.partition].id;
        if (excused.has_forgotten(partition, value.producer_id)) continue;
        log.report(kThis, time_ns,
                   fmt::format("lost write: producer {} was told at {} ns that value {:x} is in {} already, and nobody "
                               "has ever read it there (A4, T2)",
                               value.producer_id.value, value.claimed_ns, value.value, text_of(partition)));
        return;
    }
}

void ClientHistory::judge_value(std::int64_t time_ns, const Value& value, ViolationLog& log,
                                const ExcusedLosses& excused) const {
    if (!value.is_read) return;
    const std::string where = fmt::format("value {:x} at {} offset {}", value.value,
                                          text_of(partitions_[value.read_partition].id), value.read_offset.value);
    const std::int64_t when_ns = value.read_ns > 0 ? value.read_ns : time_ns;
    if (value.attempts == 0) {
        log.report(kThis, when_ns,
                   fmt::format("dirty read: client {} read {}, which nobody ever sent", value.reader.value, where));
    } else if (value.has_failed_only) {
        log.report(kThis, when_ns,
                   fmt::format("dirty read: client {} read {}, though its produce failed for sure", value.reader.value,
                               where));
    } else if (value.partition != value.read_partition) {
        log.report(kThis, when_ns,
                   fmt::format("misplaced: client {} read {}, which was sent to {}", value.reader.value, where,
                               text_of(partitions_[value.partition].id)));
    }
    const bool may_be_there_twice = !value.is_idempotent && value.attempts > 1;
    if (!value.is_read_twice || may_be_there_twice) return;
    if (excused.has_forgotten(partitions_[value.partition].id, value.producer_id)) return;
    log.report(
        kThis, when_ns,
        fmt::format("duplicate: client {} read {} and again at offset {}; it was sent {} time(s) by producer {} (T2)",
                    value.reader.value, where, value.second_offset.value, value.attempts, value.producer_id.value));
}

void ClientHistory::judge_at_end(std::int64_t time_ns, const Settings& settings, const FinalView& view,
                                 ViolationLog& log, const ExcusedLosses& excused) {
    for (const FinalRead& read : view.reads) {
        const std::uint32_t number = partition_of(read.partition);
        for (const ReadRecord& record : read.records) note_read(number, record, ClientId(0), time_ns);
        if (!excused.contains(read.partition)) judge_final_read(time_ns, settings, read, log);
    }
    // Without a reading of everything nobody has looked; V16 says so.
    if (view.is_everything_read) judge_topics(time_ns, view, log, excused);
    for (const Value& value : values_) judge_value(time_ns, value, log, excused);
    judge_claimed(time_ns, settings, view, log, excused);
}

}  // namespace tidelock::checker
