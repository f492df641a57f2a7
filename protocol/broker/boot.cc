// From a data directory to a running broker: what may be trusted, what has to be renewed first, and when to refuse (L3,
// L4, R8, I10, R11).
#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/broker/step.h"
#include "protocol/storage/recovery.h"

namespace tidelock::broker {
namespace {

using storage::StateFileCondition;

/// The state files and logs as recovery found them.
struct Found {
    storage::StateFileRecovery identity;
    storage::StateFileRecovery raft;
    storage::StateFileRecovery topics;
    storage::StoreRecovery logs;
};

constexpr std::uint8_t preset_number(Preset preset) {
    return static_cast<std::uint8_t>(static_cast<std::uint8_t>(preset) + 1);
}

Bytes formation_payload(Incarnation data_incarnation) {
    ByteWriter out;
    out.u64(data_incarnation.value);
    return out.take();
}

template <typename Content>
Bytes encoded(const Content& content) {
    ByteWriter out;
    encode(content, out);
    return out.take();
}

/// A directory whose initialisation never ended holds no vote, no topic and no record, so nothing is forgotten by
/// starting anew.
bool is_uninitialised(const Found& found) {
    if (found.raft.condition == StateFileCondition::kDamaged || found.topics.condition == StateFileCondition::kDamaged)
        return false;
    if (found.raft.condition == StateFileCondition::kValue) {
        const auto state = raft::decode_persistent_state(found.raft.content);
        if (!state || !raft::is_empty(*state)) return false;
    }
    return found.logs.partitions.empty() && !found.logs.has_damage();
}

/// Raft state, then catalogue, then identity: the identity's presence says that the others were durable once.
void initialise(Step& step, Found& found) {
    Broker& broker = step.broker;
    broker.identity = storage::Identity{storage::kDataFormatVersion,
                                        broker.config.id,
                                        Incarnation(draw_id(broker)),
                                        Incarnation(draw_id(broker)),
                                        preset_number(broker.config.preset),
                                        0,
                                        BrokerId{},
                                        LeaderEpoch{},
                                        false};
    broker.raft = raft::make_node(broker.raft.config, raft::fresh_state(broker.identity.raft_incarnation),
                                  formation_payload(broker.identity.data_incarnation), draw_id(broker));
    broker.topics = {};
    broker.logs = std::move(found.logs.store);
    std::vector<storage::FileEffect> effects;
    broker.raft_file.write(raft::encode(broker.raft.persistent), effects);
    broker.topics_file.write(encoded(broker.topics), effects);
    take_file_effects(step, effects);
    broker.is_identity_renewing = true;
    broker.lifecycle = Lifecycle::kWritingState;
}

/// Epochs of one preset mean nothing under the other: `static` counts a leader's lives, `group` takes Raft's terms.
std::string preset_refusal(const Broker& broker, const storage::Identity& identity) {
    const auto name = [](std::uint8_t preset) {
        return preset == preset_number(Preset::kStatic)  ? "static"
               : preset == preset_number(Preset::kGroup) ? "group"
                                                         : "unknown";
    };
    const std::uint8_t configured = preset_number(broker.config.preset);
    if (identity.preset == configured) return {};
    return std::string("identity: the data directory was written under the preset `") + name(identity.preset) +
           "`, and this broker is configured as `" + name(configured) +
           "`: start it under the preset of the directory, or give it an empty directory and let it copy the records "
           "from a leader (R11)";
}

/// Why an initialised directory cannot be used; empty: it can.
std::string find_refusal(const Broker& broker, const Found& found) {
    const auto identity = storage::decode_identity(found.identity.content);
    if (!identity) return "identity: " + identity.error().what;
    if (identity->broker != broker.config.id) return "identity: the data directory belongs to another broker id";
    if (std::string refusal = preset_refusal(broker, *identity); !refusal.empty()) return refusal;
    if (found.raft.condition != StateFileCondition::kValue)
        return "raft: the Raft state is missing or damaged, so its votes are forgotten; rejoin as empty (R8)";
    const auto state = raft::decode_persistent_state(found.raft.content);
    if (!state) return "raft: " + state.error().what;
    if (!raft::fits(broker.raft.config, *state)) return "raft: the directory belongs to a group of other members (R3)";
    if (state->snapshot.last_index.value > 0 && !group::decode_metadata(state->snapshot.data))
        return "raft: the snapshot cannot be read, so it is not known who is in sync; rejoin as empty (R8)";
    if (state->incarnation != identity->raft_incarnation)
        return "raft: the Raft state is of another life than the identity";
    return {};
}

storage::TopicCatalogue recovered_catalogue(const Found& found, bool& is_lost) {
    is_lost = true;
    if (found.topics.condition != StateFileCondition::kValue) return {};
    auto catalogue = storage::decode_topic_catalogue(found.topics.content);
    if (!catalogue) return {};
    is_lost = false;
    return std::move(*catalogue);
}

BatchSummary summary_of(const storage::BatchHeader& header) {
    return BatchSummary{header.base_offset,  header.base_offset + header.last_offset_delta,
                        header.leader_epoch, header.crc,
                        header.producer_id,  header.producer_epoch,
                        header.base_sequence};
}

/// Calls `take` with the header of each batch that recovery kept of one log, in order.
template <typename Take>
void read_kept_headers(const storage::DirectoryImage& image, const storage::PartitionLog& log, const Take& take) {
    for (const storage::Segment& segment : log.files.segments()) {
        const storage::ImageFile* file =
            storage::find_file(image, storage::segment_file_name(log.tp, segment.base_offset));
        if (file == nullptr || !file->content) continue;
        std::span<const std::byte> left = file->content->span();
        left = left.first(std::min<std::size_t>(left.size(), segment.size_bytes));
        while (!left.empty()) {
            const auto header = storage::decode_batch_header(left);
            if (!header || header->size_bytes() > left.size()) break;
            take(*header);
            left = left.subspan(header->size_bytes());
        }
    }
}

void recover_partition(Step& step, const storage::DirectoryImage& image, const storage::PartitionRecovery& found) {
    Broker& broker = step.broker;
    // Without the journal nothing vouches for a history read from batches: such a copy is copied again, as its
    // incarnation was renewed anyway (I10), also when the broker was killed before it came to that.
    const bool is_unvouched = found.is_history_unvouched && broker.config.preset == Preset::kGroup;
    const bool is_damaged = found.damage != storage::PartitionDamage::kNone || is_unvouched;
    add_partition(step, found.tp);
    Partition& partition = broker.partitions[found.tp];
    // Without a Raft group nobody else's history decides what these records are.
    const bool is_foreign = found.is_foreign && broker.config.preset == Preset::kGroup;
    partition.must_recopy = is_damaged || is_foreign;
    LogRecovered recovered{
        found.tp, found.log_start_offset,   found.log_end_offset,       found.durable_end_offset, found.high_watermark,
        {},       is_damaged || is_foreign, found.unverified_end_offset};
    // Producers read from headers that no checksum was asked about do until somebody has to rely on them (T2).
    partition.must_reread_producers = found.unverified_end_offset > found.log_start_offset;
    if (partition.must_reread_producers) mark(step, Mark::kSealedSegmentsTrusted);
    for (const storage::PartitionLog& log : broker.logs.logs()) {
        if (log.tp != found.tp) continue;
        read_kept_headers(image, log, [&](const storage::BatchHeader& header) {
            partition.producers.on_batch(producer_batch_of(header));
            // What lies wholly below the log start is no part of the log any more, nor is its epoch vouched for.
            const bool is_told = broker.config.tells_recovered_batches && header.next_offset() > found.log_start_offset;
            if (is_told) recovered.batches.push_back(summary_of(header));
        });
    }
    partition.producers.on_high_watermark(partition.high_watermark.value());
    observe(step, std::move(recovered));
    if (is_damaged) {
        observe(step, DamageFound{found.tp, is_unvouched ? found.log_start_offset : found.damaged_at});
        mark(step, Mark::kDamageFoundAtRecovery);
    }
    if (found.is_history_rebuilt) mark(step, Mark::kHistoryRebuilt);
    if (found.has_torn_tail) mark(step, Mark::kTornTailCut);
}

/// Damage on record may be where only a scan of every record finds it: no index is trusted then (L4).
storage::LogStoreConfig recovery_config(Step& step, const storage::StateFileRecovery& found) {
    storage::LogStoreConfig config = step.broker.logs.config();
    if (found.condition != StateFileCondition::kValue || config.scan == storage::RecoveryScan::kAll) return config;
    const auto identity = storage::decode_identity(found.content);
    if (!identity || !identity->is_damage_on_record) return config;
    mark(step, Mark::kTrustWithheldForDamage);
    config.scan = storage::RecoveryScan::kAll;
    return config;
}

void open_existing(Step& step, const storage::DirectoryImage& image, Found& found) {
    Broker& broker = step.broker;
    broker.identity = *storage::decode_identity(found.identity.content);
    bool is_catalogue_lost = false;
    broker.topics = recovered_catalogue(found, is_catalogue_lost);
    broker.logs = std::move(found.logs.store);
    std::vector<storage::FileEffect> effects;
    broker.identity_file.start_repair(effects);
    broker.raft_file.start_repair(effects);
    if (!is_catalogue_lost) broker.topics_file.start_repair(effects);
    take_file_effects(step, effects);
    for (const storage::PartitionRecovery& partition : found.logs.partitions)
        if (broker.topics.find(partition.tp.topic) != nullptr) recover_partition(step, image, partition);
    broker.is_scan_clean = !found.logs.has_damage();
    const bool is_data_lost = is_catalogue_lost || !broker.is_scan_clean;
    if (is_data_lost && !broker.config.seed_rules.ignore_data_incarnation) {
        broker.identity.data_incarnation = Incarnation(draw_id(broker));
        // Another boot may trust what this one has scanned.
        broker.identity.is_damage_on_record = broker.identity.is_damage_on_record || !broker.is_scan_clean;
        broker.is_identity_renewing = true;
    }
    broker.raft = raft::make_node(broker.raft.config, *raft::decode_persistent_state(found.raft.content),
                                  formation_payload(broker.identity.data_incarnation), draw_id(broker));
    broker.lifecycle = Lifecycle::kWritingState;
}

/// Logs follow the catalogue: what it does not name goes, what it names and was never promised begins empty.
void align_logs(Step& step) {
    Broker& broker = step.broker;
    std::vector<TopicPartition> unknown;
    for (const storage::PartitionLog& log : broker.logs.logs()) {
        const storage::TopicEntry* topic = broker.topics.find(log.tp.topic);
        if (topic == nullptr || log.tp.partition.value >= topic->partition_count) unknown.push_back(log.tp);
    }
    std::vector<TopicId> told;
    for (const TopicPartition& tp : unknown) {
        broker.logs.drop_partition(tp);
        broker.partitions.erase(tp);
        if (std::ranges::find(told, tp.topic) != told.end()) continue;
        told.push_back(tp.topic);
        const storage::TopicEntry* topic = broker.topics.find(tp.topic);
        if (topic == nullptr)
            observe(step, TopicDropped{tp.topic});
        else
            observe(step, TopicShrunk{tp.topic, topic->partition_count});
    }
    for (const storage::TopicEntry& topic : broker.topics.topics) {
        for (std::int32_t p = 0; p < topic.partition_count; ++p) {
            const TopicPartition tp{topic.id, PartitionIndex(p)};
            if (!broker.logs.view(tp)) {
                broker.logs.create_partition(tp);
                observe(step, LogRecovered{tp, Offset(0), Offset(0), Offset(0), Offset(0), {}, false});
            }
            add_partition(step, tp);
        }
        if (topic.config.is_deleting) observe(step, TopicHidden{topic.id});
    }
}

void observe_raft_state(Step& step) {
    const raft::PersistentState& state = step.broker.raft.persistent;
    RaftRecovered recovered{state.incarnation, state.term, BrokerId{}, state.snapshot.last_index, {}};
    if (state.voted_for) recovered.voted_for = state.voted_for->broker;
    for (const raft::Entry& entry : state.entries)
        recovered.entries.push_back(RaftEntrySummary{entry.term, raft_content_hash(entry)});
    observe(step, std::move(recovered));
}

void load_group_metadata(Broker& broker) {
    const raft::Snapshot& snapshot = broker.raft.persistent.snapshot;
    broker.applied_index = snapshot.last_index;
    if (snapshot.last_index.value > 0)
        if (const auto metadata = group::decode_metadata(snapshot.data)) broker.compacted = *metadata;
    broker.decided = broker.compacted;
}

void start_running(Step& step) {
    Broker& broker = step.broker;
    broker.lifecycle = Lifecycle::kRunning;
    broker.is_identity_renewing = false;
    observe(step, Started{broker.identity.raft_incarnation, broker.identity.data_incarnation});
    broker.logs.start(step.store);
    align_logs(step);
    drain_store(step);
    broker.in_sync = replication::InSyncSet(in_sync_config(broker));
    broker.fetcher.on_incarnation_renewed(broker.identity.data_incarnation);
    broker.fetcher.number_requests_from(replication::RequestId(draw_id(broker) >> 32U));
    if (broker.config.preset == Preset::kStatic) {
        take_static_role(step);
        return;
    }
    observe_raft_state(step);
    load_group_metadata(broker);
    refresh_log_metadata(step);
    run_raft(step, raft::Started{});
}

void write_empty_catalogue(Step& step) {
    std::vector<storage::FileEffect> effects;
    step.broker.topics_file.write(encoded(storage::TopicCatalogue{}), effects);
    take_file_effects(step, effects);
}

void continue_boot(Step& step) {
    Broker& broker = step.broker;
    if (broker.identity_file.is_writing() || broker.raft_file.is_writing() || broker.topics_file.is_writing()) return;
    if (broker.lifecycle == Lifecycle::kWritingState && broker.is_identity_renewing) {
        broker.lifecycle = Lifecycle::kWritingIdentity;
        return write_identity(step);
    }
    // A lost catalogue is replaced only under the new incarnation: a crash after an empty one is durable and before the
    // identity is would leave a replica without records that passes for whole (I10).
    if (broker.topics_file.durable_sequence() == storage::StateSequence()) return write_empty_catalogue(step);
    start_running(step);
}

}  // namespace

void on_booted(Step& step, const Booted& booted) {
    Broker& broker = step.broker;
    CHECK(broker.lifecycle == Lifecycle::kNotBooted);
    CHECK(booted.entropy != 0);
    broker.entropy = booted.entropy;
    storage::StateFileRecovery identity =
        storage::recover_state_file(booted.image, "identity", storage::FileOwner::kIdentity);
    const storage::LogStoreConfig config = recovery_config(step, identity);
    Found found{std::move(identity), storage::recover_state_file(booted.image, "raft", storage::FileOwner::kRaft),
                storage::recover_state_file(booted.image, "topics", storage::FileOwner::kTopics),
                storage::recover(booted.image, config)};
    broker.identity_file = found.identity.file;
    broker.raft_file = found.raft.file;
    broker.topics_file = found.topics.file;
    if (found.identity.condition == StateFileCondition::kDamaged)
        return refuse_to_start(step, "identity: both copies are damaged; rejoin as empty (R8)");
    if (found.identity.condition == StateFileCondition::kAbsent) {
        if (!is_uninitialised(found))
            return refuse_to_start(step,
                                   "identity: missing, but the data directory is not empty; rejoin as empty (R8)");
        initialise(step, found);
    } else {
        std::string refusal = find_refusal(broker, found);
        if (!refusal.empty()) return refuse_to_start(step, std::move(refusal));
        open_existing(step, booted.image, found);
    }
    continue_boot(step);
}

void refuse_to_start(Step& step, std::string why) {
    step.broker.lifecycle = Lifecycle::kRefused;
    mark(step, Mark::kRefusedToStartDamaged);
    observe(step, RefusedToStart{std::move(why)});
}

void write_identity(Step& step) {
    std::vector<storage::FileEffect> effects;
    step.broker.identity_file.write(encoded(step.broker.identity), effects);
    take_file_effects(step, effects);
}

void on_state_file_durable(Step& step, storage::FileOwner owner) {
    Broker& broker = step.broker;
    if (broker.lifecycle == Lifecycle::kWritingState || broker.lifecycle == Lifecycle::kWritingIdentity) {
        const bool is_renewed =
            owner == storage::FileOwner::kIdentity && broker.lifecycle == Lifecycle::kWritingIdentity;
        if (is_renewed) observe(step, DataIncarnationRenewed{broker.identity.data_incarnation});
        return continue_boot(step);
    }
    if (broker.lifecycle != Lifecycle::kRunning) return;
    if (owner == storage::FileOwner::kRaft) on_raft_file_durable(step);
    if (owner == storage::FileOwner::kTopics) on_topics_file_durable(step);
    if (owner == storage::FileOwner::kIdentity && !broker.identity_file.is_writing()) on_identity_durable(step);
}

void renew_data_incarnation(Step& step) {
    Broker& broker = step.broker;
    if (broker.is_identity_renewing || broker.config.seed_rules.ignore_data_incarnation) return;
    broker.is_identity_renewing = true;
    broker.identity.data_incarnation = Incarnation(draw_id(broker));
    broker.fetcher.stop();
    write_identity(step);
    refresh_eligibility(step);
    if (broker.config.preset == Preset::kGroup)
        run_raft(step, raft::StepDownRequested{});
    else if (broker.leading)
        end_leading(step);
}

void record_damage(Step& step) {
    Broker& broker = step.broker;
    broker.is_scan_clean = false;
    if (broker.config.seed_rules.ignore_data_incarnation) return;
    const bool was_on_record = std::exchange(broker.identity.is_damage_on_record, true);
    // A renewal for another reason that is under way says nothing of damage yet. It ends when all of it is durable.
    if (broker.is_identity_renewing && !was_on_record) return write_identity(step);
    renew_data_incarnation(step);
}

void strike_damage_off_record(Step& step) {
    Broker& broker = step.broker;
    // What the scan read may be known to this kernel alone, as the cut that took the damage away, until the first
    // journal of this life is durable: a power loss before it would bring the damage back.
    if (!broker.identity.is_damage_on_record || !broker.is_scan_clean || broker.logs.commit_count() == 0) return;
    broker.identity.is_damage_on_record = false;
    write_identity(step);
}

void on_identity_durable(Step& step) {
    const bool is_role_known = std::exchange(step.broker.is_static_role_pending, false);
    if (step.broker.is_identity_renewing) return finish_renewal(step);
    if (is_role_known) resume_static_role(step);
}

void finish_renewal(Step& step) {
    Broker& broker = step.broker;
    broker.is_identity_renewing = false;
    observe(step, DataIncarnationRenewed{broker.identity.data_incarnation});
    broker.in_sync = replication::InSyncSet(in_sync_config(broker));
    broker.fetcher.on_incarnation_renewed(broker.identity.data_incarnation);
    refresh_eligibility(step);
    follow_decided_leader(step);
    resume_static_role(step);
}

}  // namespace tidelock::broker
