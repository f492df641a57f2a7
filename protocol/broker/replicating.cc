// The leader's answers to its followers: manifest, epoch ends, records (F1-F4, L5, I1).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"

namespace tidelock::broker {
namespace {

using replication::ErrorCode;

LeaderEpoch own_epoch(const Broker& broker) {
    return broker.leading ? broker.leading->leader_epoch : LeaderEpoch(0);
}

ErrorCode check_header(Step& step, BrokerId from, const replication::FollowerHeader& header) {
    const Broker& broker = step.broker;
    const ErrorCode code = replication::check_epoch(header.leader_epoch, broker.leading.has_value(), own_epoch(broker));
    if (code == ErrorCode::kFencedEpoch) mark(step, Mark::kFetchFencedOldEpoch);
    if (code == ErrorCode::kNone && header.follower.broker != from) return ErrorCode::kNotReady;
    return code;
}

std::optional<replication::LeaderView> leader_view(const Broker& broker, TopicPartition tp) {
    const auto partition = broker.partitions.find(tp);
    const auto view = broker.logs.view(tp);
    if (partition == broker.partitions.end() || !view) return std::nullopt;
    const bool is_readable = view->condition == storage::LogCondition::kOpen && !partition->second.must_recopy;
    return replication::LeaderView{tp,
                                   broker.logs.history(tp)->entries(),
                                   view->log_start_offset,
                                   view->log_end_offset,
                                   partition->second.high_watermark.value(),
                                   is_readable};
}

/// Views of all partitions a request names, and pointers to them in its order.
struct Views {
    std::vector<std::optional<replication::LeaderView>> views;
    std::vector<const replication::LeaderView*> pointers;
};

Views views_of(const Broker& broker, const replication::FetchRequest& request) {
    Views all;
    all.views.reserve(request.partitions.size());
    for (const replication::FetchPartition& asked : request.partitions)
        all.views.push_back(leader_view(broker, asked.partition));
    for (const auto& view : all.views) all.pointers.push_back(view ? &*view : nullptr);
    return all;
}

void note_manifest_progress(Step& step, const replication::FetchRequest& request) {
    Leading& leading = *step.broker.leading;
    const Replica& follower = request.header.follower;
    std::int64_t version = -1;
    for (const ManifestVersion& known : leading.manifests)
        if (known.digest == request.manifest_digest) version = std::max(version, known.version);
    if (version < 0) return;
    std::erase_if(leading.manifest_progress, [&](const ManifestProgress& each) {
        return each.follower.broker == follower.broker && each.follower != follower;  // of a former life
    });
    const auto found = std::ranges::find(leading.manifest_progress, follower, &ManifestProgress::follower);
    if (found == leading.manifest_progress.end())
        leading.manifest_progress.push_back(ManifestProgress{follower, version});
    else if (found->version >= version)
        return;
    else
        found->version = version;
    settle_topic_changes(step);
}

/// A member, or one that has made the newest manifest its own.
bool may_be_counted(const Broker& broker, const Replica& follower) {
    const auto& members = broker.in_sync.acknowledgement_set();
    if (std::ranges::find(members, follower) != members.end()) return true;
    const auto& progress = broker.leading->manifest_progress;
    const auto known = std::ranges::find(progress, follower, &ManifestProgress::follower);
    return known != progress.end() && known->version == broker.leading->manifests.back().version;
}

void take_positions(Step& step, const Replica& follower, const std::vector<replication::FollowerPosition>& positions) {
    Broker& broker = step.broker;
    const LeaderEpoch leader_epoch = broker.leading->leader_epoch;
    std::vector<TopicPartition> moved;
    for (const replication::FollowerPosition& position : positions)
        if (broker.in_sync.position(follower, position.partition) != position.durable_end_offset)
            moved.push_back(position.partition);
    replication::InSyncEffects effects;
    // Who joins shows the same topics: a member with another catalogue could lead and bring a deleted one back (F2).
    if (may_be_counted(broker, follower))
        broker.in_sync.on_follower_fetched(follower, leader_epoch, positions, step.now, effects);
    else
        broker.in_sync.on_replica_seen(follower, step.now, effects);
    const bool set_changed = !effects.empty();
    route_in_sync_effects(step, effects);
    if (set_changed) return advance_all_high_watermarks(step);
    for (const TopicPartition& tp : moved) advance_high_watermark(step, tp);
    if (!moved.empty()) advance_opening(step);
}

constexpr std::ptrdiff_t kFollowerReadsMax = 4;

std::ptrdiff_t reads_under_way(const Broker& broker, BrokerId follower) {
    return std::ranges::count_if(broker.reads, [follower](const auto& read) {
        const auto* purpose = std::get_if<FollowerRead>(&read.second.purpose);
        return purpose != nullptr && purpose->follower == follower;
    });
}

/// Puts one partition's part of an answer together; true when its records are still being read.
bool fill_partition(Step& step, const replication::FetchRequest& request, const replication::PartitionPlan& plan,
                    std::int64_t& bytes_left, replication::FetchAnswer& answer_to) {
    Broker& broker = step.broker;
    const auto view = leader_view(broker, plan.partition);
    replication::PartitionAnswer part{plan.partition, plan.judgement.code, Offset(0), Offset(0), Bytes{}};
    if (view) {
        part.high_watermark = view->high_watermark;
        part.log_start_offset = view->log_start_offset;
    }
    if (plan.judgement.code == ErrorCode::kBehindLogStart) mark(step, Mark::kRetentionPassedFollower);
    const bool reads = plan.judgement.code == ErrorCode::kNone && plan.judgement.has_records && view;
    if (!reads) {
        answer_to.partitions.push_back(std::move(part));
        return false;
    }
    if (bytes_left <= 0) {
        answer_to.has_more = true;
        return false;
    }
    const auto bytes_max = static_cast<std::size_t>(bytes_left);
    const auto cached = broker.partitions[plan.partition].tail.find(plan.read_from, view->log_end_offset, bytes_max);
    if (cached && cached->base_offset == plan.read_from) {
        bytes_left -= static_cast<std::int64_t>(cached->batches.size());
        answer_to.has_more = answer_to.has_more || cached->next_offset < view->log_end_offset;
        part.batches = cached->batches;
        answer_to.partitions.push_back(std::move(part));
        return false;
    }
    // A disk that does not answer reads: the follower asks again, the reads do not pile up.
    if (reads_under_way(broker, request.header.follower.broker) >= kFollowerReadsMax) {
        part.code = ErrorCode::kStorageError;
        answer_to.partitions.push_back(std::move(part));
        return false;
    }
    const storage::ReadId id = note_read(
        step, FollowerRead{request.header.follower.broker, request.header.request_id, broker.leading->leader_epoch});
    answer_to.partitions.push_back(std::move(part));
    broker.logs.read(storage::ReadRequest{id, plan.partition, plan.read_from, view->log_end_offset, bytes_max},
                     step.store);
    bytes_left = 0;
    return true;
}

}  // namespace

std::uint64_t manifest_digest(const Broker& broker) {
    return replication::digest_of(manifest_of(broker.topics));
}

void on_manifest_request(Step& step, BrokerId from, const replication::ManifestRequest& request) {
    replication::ManifestAnswer body;
    body.request_id = request.header.request_id;
    body.leader_epoch = own_epoch(step.broker);
    body.code = check_header(step, from, request.header);
    if (body.code == ErrorCode::kNone) {
        step.broker.in_sync.on_manifest_asked(request.header.follower);
        body.manifest = manifest_of(step.broker.topics);
    }
    send(step, from, std::move(body));
}

void on_epoch_end_request(Step& step, BrokerId from, const replication::EpochEndRequest& request) {
    replication::EpochEndAnswer body;
    body.request_id = request.header.request_id;
    body.leader_epoch = own_epoch(step.broker);
    body.code = check_header(step, from, request.header);
    const auto rule = step.broker.config.seed_rules.single_shot_truncation
                          ? replication::EpochEndRule::kExactOrLogEnd
                          : replication::EpochEndRule::kLargestAtOrBelow;
    if (body.code == ErrorCode::kNone)
        for (const replication::EpochEndQuestion& question : request.questions) {
            const auto view = leader_view(step.broker, question.partition);
            body.ends.push_back(replication::answer_epoch_end(question, view ? &*view : nullptr, rule));
        }
    send(step, from, std::move(body));
}

namespace {

/// A late or doubled fetch must not take the place of the one that its follower waits for (F3). Each life of a follower
/// numbers its requests from a number drawn at random, so only one a little older is surely late.
bool is_overtaken(Leading& leading, const replication::FetchRequest& request) {
    constexpr std::uint64_t kLateMax = 64;
    const auto [newest, is_new] = leading.newest_fetches.try_emplace(request.header.follower.broker);
    const std::uint64_t behind = newest->second.request_id.value - request.header.request_id.value;
    const bool is_late = !is_new && newest->second.follower == request.header.follower && behind - 1 < kLateMax;
    if (!is_late) newest->second = {request.header.follower, request.header.request_id};
    return is_late;
}

}  // namespace

void on_fetch_request(Step& step, BrokerId from, const replication::FetchRequest& request) {
    Broker& broker = step.broker;
    const ErrorCode code = check_header(step, from, request.header);
    if (code != ErrorCode::kNone) {
        replication::FetchAnswer body;
        body.request_id = request.header.request_id;
        body.leader_epoch = own_epoch(broker);
        body.code = code;
        return send(step, from, std::move(body));
    }
    if (broker.in_sync.is_former_life(request.header.follower) || is_overtaken(*broker.leading, request)) return;
    broker.leading->parked.drop(from);
    const Views views = views_of(broker, request);
    std::vector<replication::FollowerPosition> positions;
    for (std::size_t i = 0; i < request.partitions.size(); ++i) {
        const replication::FetchPartition& asked = request.partitions[i];
        if (replication::judge_partition(asked, views.pointers[i]).is_position_valid)
            positions.push_back(replication::FollowerPosition{asked.partition, asked.durable_end_offset});
    }
    note_manifest_progress(step, request);
    take_positions(step, request.header.follower, positions);
    if (!broker.leading) return;
    const Views fresh = views_of(broker, request);
    const replication::FetchPlan plan = replication::plan_fetch(request, fresh.pointers);
    const bool has_same_manifest = request.manifest_digest == broker.leading->manifests.back().digest;
    if (plan.may_park() && has_same_manifest &&
        broker.leading->parked.park(request, plan.has_other_news, broker.config.fetch_wait_max, step.now)) {
        if (const auto deadline = broker.leading->parked.next_deadline()) note_deadline(step, *deadline);
        return;
    }
    answer_follower(step, request);
}

void on_position_update(Step& step, BrokerId from, const replication::PositionUpdate& update) {
    Broker& broker = step.broker;
    const bool is_current = broker.leading && update.leader_epoch == broker.leading->leader_epoch;
    if (!is_current || update.follower.broker != from) return;
    std::vector<replication::FollowerPosition> positions;
    for (const replication::PositionUpdate::Position& told : update.positions) {
        const auto view = leader_view(broker, told.partition);
        if (replication::is_position_valid(told.durable_end_offset, told.last_fetched_epoch, view ? &*view : nullptr))
            positions.push_back(replication::FollowerPosition{told.partition, told.durable_end_offset});
    }
    take_positions(step, update.follower, positions);
}

void answer_follower(Step& step, const replication::FetchRequest& request) {
    Broker& broker = step.broker;
    if (!broker.leading) return;
    const BrokerId follower = request.header.follower.broker;
    AnswerInAssembly assembly{follower, {}, 0};
    assembly.answer.request_id = request.header.request_id;
    assembly.answer.leader_epoch = broker.leading->leader_epoch;
    assembly.answer.manifest_digest = broker.leading->manifests.back().digest;
    const Views views = views_of(broker, request);
    const replication::FetchPlan plan = replication::plan_fetch(request, views.pointers);
    std::erase_if(broker.leading->assembling, [&](const AnswerInAssembly& a) { return a.follower == follower; });
    std::int64_t bytes_left = std::clamp(request.bytes_max, 1, broker.config.fetch_bytes_max);
    for (const replication::PartitionPlan& part : plan.partitions)
        if (fill_partition(step, request, part, bytes_left, assembly.answer)) ++assembly.reads_outstanding;
    if (assembly.reads_outstanding == 0) return send(step, follower, std::move(assembly.answer));
    broker.leading->assembling.push_back(std::move(assembly));
}

void on_follower_read(Step& step, const FollowerRead& purpose, const storage::RecordsRead* read, TopicPartition tp) {
    Broker& broker = step.broker;
    if (!broker.leading || broker.leading->leader_epoch != purpose.leader_epoch) return;
    auto& assembling = broker.leading->assembling;
    const auto assembly = std::ranges::find_if(assembling, [&](const AnswerInAssembly& a) {
        return a.follower == purpose.follower && a.answer.request_id == purpose.request_id;
    });
    if (assembly == assembling.end()) return;
    const auto part = std::ranges::find(assembly->answer.partitions, tp, &replication::PartitionAnswer::partition);
    if (part == assembly->answer.partitions.end()) return;  // of an earlier answer to a request that came twice
    if (read == nullptr) {
        part->code = ErrorCode::kStorageError;
    } else {
        part->batches = read->batches;
        const auto view = broker.logs.view(tp);
        if (view && read->next_offset < view->log_end_offset) assembly->answer.has_more = true;
    }
    if (--assembly->reads_outstanding > 0) return;
    send(step, purpose.follower, std::move(assembly->answer));
    assembling.erase(assembly);
}

}  // namespace tidelock::broker
