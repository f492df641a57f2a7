/// The inside of a broker's step: the context every handler gets, and the handlers by story. Only protocol/broker
/// includes this.
#pragma once

#include <span>

#include "protocol/broker/broker.h"

namespace tidelock::broker {

/// One step under way. Handlers change the broker and append effects; file effects and reports of the log store collect
/// in `store` and are taken over by drain_store.
struct Step {
    Broker& broker;
    Instant now;
    Effects& effects;
    storage::StoreOutputs store;
    std::vector<TopicPartition> persisted = {};  // by one group commit: told together
};

// step.cc
void observe(Step& step, Observation observation);
void mark(Step& step, Mark reached);
void send(Step& step, BrokerId to, replication::Message message);
void answer(Step& step, const ClientRef& client, clients::AnswerBody body);
void refuse(Step& step, const ClientRef& client, const clients::Request& request, clients::ErrorCode error);
/// Takes over file effects of a state file.
void take_file_effects(Step& step, std::vector<storage::FileEffect>& file_effects);
/// Takes over what the log store wants done and said, until it says nothing more.
void drain_store(Step& step);
/// A number no other life of any replica draws: an incarnation or a topic id. Never 0.
std::uint64_t draw_id(Broker& broker);
Replica self(const Broker& broker);
/// Who leads the epoch that the group has decided on, as far as this broker acts on it: it leads it, or follows it. 0:
/// nobody; an elected leader's claim may not have committed, or a newer one may stand in the log (F2, O1).
BrokerId leader_of_decided_epoch(const Broker& broker);

// boot.cc
void on_booted(Step& step, const Booted& booted);
void on_state_file_durable(Step& step, storage::FileOwner owner);
/// I10: a new data incarnation, durable before anything is discarded or told. Leadership is given up meanwhile.
void renew_data_incarnation(Step& step);
/// L4: damage was found while running. It is on record as soon as the incarnation that it renews is.
void record_damage(Step& step);
/// At the end of each step: damage is forgotten once a scan of every record has found none, and that scan's findings
/// are durable.
void strike_damage_off_record(Step& step);
void finish_renewal(Step& step);
void write_identity(Step& step);
/// Everything asked of the identity file is durable.
void on_identity_durable(Step& step);
void refuse_to_start(Step& step, std::string why);

// raft_routing.cc
void run_raft(Step& step, raft::Event event);
/// What identifies an entry's command to watchers.
std::uint64_t raft_content_hash(const raft::Entry& entry);
void on_raft_file_durable(Step& step);
/// Folds the Raft log's entries again into what this replica has to assume (G2).
void refresh_log_metadata(Step& step);
/// Tells Raft what the log says about who may lead (G2, G9).
void refresh_eligibility(Step& step);
/// At the end of each step: since when the log store, or the file of topics, waits for the disk (L9).
void watch_disk(Step& step);

// leadership.cc
void begin_leading(Step& step, LeaderEpoch leader_epoch, const replication::VersionedSet& in_sync_set);
void end_leading(Step& step);
/// Goes on with the rebuild (G3): reads, then waits for the high watermark, then opens.
void advance_opening(Step& step);
/// Of what a new leader has to read, as much as may be under way.
void start_rebuild_reads(Step& step);
void on_rebuild_read(Step& step, const storage::RecordsRead& read);
void follow_decided_leader(Step& step);
/// A proposal was refused for good; the bounds may make it again.
void retract_pending_change(Step& step);
/// I9: every partition of a leader is under-replicated, or none is.
void count_under_replicated(Step& step);
void route_in_sync_effects(Step& step, replication::InSyncEffects& effects);
void on_in_sync_bounds_timer(Step& step);
replication::InSyncConfig in_sync_config(const Broker& broker);
replication::HighWatermarkRule high_watermark_rule(const Broker& broker);
/// How often the time bounds of I2 are looked at.
Duration in_sync_tick(const Broker& broker);
/// After that long, or as soon as a member that has gone may be taken for it; never later than was meant so far. Only
/// for who leads.
void look_at_in_sync_bounds_within(Step& step, Duration pause);
/// When the leader looks at the bounds again after a removal (I2): one change is in flight at a time (I3), and nothing
/// is confirmed before the last dead member is out.
constexpr Duration kNextRemoval = milliseconds(1);

// watermark.cc
/// Looks at one partition of a leader after a position, a set or the log changed: high watermark, acknowledgements,
/// waiters. Once all that changed were looked at, `advance_opening` is due: that looks at all there are.
void advance_high_watermark(Step& step, TopicPartition tp);
/// All of them, and the opening.
void advance_all_high_watermarks(Step& step);
void resolve_pending(Step& step, TopicPartition tp, Partition& partition);
void settle(Step& step, const std::vector<replication::ResolvedWaiter>& resolved);
/// Something has to be looked at when `deadline` passes. The timer may fire early, never late.
void note_deadline(Step& step, Instant deadline);
void on_deadlines_timer(Step& step);

// produce.cc
void on_produce(Step& step, const ClientRef& client, const clients::Request& request,
                const clients::ProduceRequest& produce);
/// Appends one run of batches as leader: log, producers, cache, observation. Returns its first offset, or an error
/// code.
struct LeaderAppend {
    Offset base_offset;
    Offset next_offset;
};
Result<LeaderAppend, clients::ErrorCode> append_as_leader(Step& step, TopicPartition tp, const Bytes& batches);
clients::ProducerBatch producer_batch_of(const storage::BatchHeader& header);
/// Batches joined a log: producers, cache and watchers learn of them.
void note_batches(Step& step, TopicPartition tp, const Bytes& stamped, bool as_leader);
void wait_for_policy(Step& step, Partition& partition, const WaitingProduce& produce, Duration timeout);
void wake_followers(Step& step, TopicPartition tp);

// consume.cc
void on_consumer_fetch(Step& step, const ClientRef& client, const clients::Request& request,
                       const clients::FetchRequest& fetch);
void wake_consumers(Step& step, TopicPartition tp, const Partition& partition);
void on_consumer_read(Step& step, const ConsumerRead& purpose, const storage::RecordsRead& read);
void answer_consumer_empty(Step& step, const WaitingConsumer& consumer);
/// Its records could not be read: retention has overtaken it, or the disk does not give them.
void fail_consumer_read(Step& step, const ConsumerRead& purpose, TopicPartition tp, storage::ReadFailure reason);
void on_list_offsets(Step& step, const ClientRef& client, const clients::Request& request,
                     const clients::ListOffsetsRequest& list);
// time_lookup.cc
void begin_time_lookup(Step& step, const ClientRef& client, TopicPartition tp, const clients::ListOffsetsRequest& list);
void on_time_read(Step& step, const TimeRead& lookup, TopicPartition tp, const storage::RecordsRead* read,
                  storage::ReadFailure failure);

// consume.cc
void on_epoch_end(Step& step, const ClientRef& client, const clients::Request& request,
                  const clients::EpochEndRequest& asked);
void on_await_records(Step& step, const ClientRef& client, const clients::AwaitRecordsRequest& await);
/// The partition is gone or hidden: whoever waits for its records looks again.
void wake_watchers(Step& step, TopicPartition tp);
void expire_watches(Step& step);

// coordinator.cc
void on_init_producer_id(Step& step, const ClientRef& client);
void serve_producer_ids(Step& step);
void on_offset_commit(Step& step, const ClientRef& client, const clients::Request& request,
                      const clients::OffsetCommitRequest& commit);
void on_offset_fetch(Step& step, const ClientRef& client, const clients::Request& request,
                     const clients::OffsetFetchRequest& fetch);
/// T1: commits of topics that are gone for good are taken out of the topic of offsets.
void forget_offsets_of_deleted_topics(Step& step);
void expire_producer_id_waiters(Step& step);
void apply_internal_batches(Step& step, TopicPartition tp, const Bytes& batches);
void on_internal_high_watermark(Step& step, TopicPartition tp, Offset high_watermark);

// group_requests.cc
void on_join_group(Step& step, const ClientRef& client, const clients::JoinGroupRequest& join);
void on_sync_group(Step& step, const ClientRef& client, const clients::SyncGroupRequest& sync);
void on_heartbeat(Step& step, const ClientRef& client, const clients::HeartbeatRequest& heartbeat);
void on_leave_group(Step& step, const ClientRef& client, const clients::LeaveGroupRequest& leave);
void on_list_groups(Step& step, const ClientRef& client);
void on_describe_group(Step& step, const ClientRef& client, const clients::DescribeGroupRequest& describe);
void on_group_offsets(Step& step, const ClientRef& client, const clients::GroupOffsetsRequest& request);
void expire_group_members(Step& step);
/// The client's connection has ended.
void forget_group_client(Step& step, ConnectionId connection);

// confirmed_answers.cc
void answer_when_confirmed(Step& step, const ClientRef& client, clients::Answer answer);
void answer_when_confirmed(Step& step, const ClientRef& client, clients::AnswerBody body);
void refuse_when_confirmed(Step& step, const ClientRef& client, const clients::Request& request,
                           clients::ErrorCode error);
void on_leadership_confirmed(Step& step, ReadRound up_to);
void expire_unconfirmed_answers(Step& step);

// topics.cc
/// Whoever does not lead passes the wish for a topic on to who does; false: nobody is known to.
bool forward_topic(Step& step, const ClientRef& client, const clients::Request& request);
void on_topic_wanted(Step& step, const replication::TopicWanted& wanted);
void on_create_topic(Step& step, const ClientRef& client, const clients::CreateTopicRequest& create);
void on_delete_topic(Step& step, const ClientRef& client, const clients::DeleteTopicRequest& drop);
void on_grow_topic(Step& step, const ClientRef& client, const clients::GrowTopicRequest& grow);
void on_set_topic_config(Step& step, const ClientRef& client, const clients::SetTopicConfigRequest& set);
void on_describe_topic(Step& step, const ClientRef& client, const clients::DescribeTopicRequest& describe);
void on_metadata(Step& step, const ClientRef& client, const clients::MetadataRequest& metadata);
/// The newest catalogue, durable or not.
const storage::TopicCatalogue& newest_catalogue(const Broker& broker);
void write_catalogue(Step& step, CatalogueWrite write);
void on_topics_file_durable(Step& step);
void create_internal_topics(Step& step);
/// Empty: no such partition here.
std::optional<TopicPartition> resolve(const Broker& broker, const clients::PartitionName& name);
bool is_internal(const Broker& broker, TopicId topic);
std::optional<TopicPartition> internal_partition(const Broker& broker, std::string_view topic);
replication::Manifest manifest_of(const storage::TopicCatalogue& catalogue);
/// Empty: a setting this build does not know.
std::optional<storage::TopicCatalogue> catalogue_of(const replication::Manifest& manifest);
void settle_topic_changes(Step& step);

// log_start.cc
void on_delete_records(Step& step, const ClientRef& client, const clients::Request& request,
                       const clients::DeleteRecordsRequest& del);
/// Applies retention of the topic to one partition of a leader.
void apply_retention(Step& step, TopicPartition tp);
/// For when there may be too much anywhere and no later record need come.
void apply_all_retention(Step& step);
/// L7: forward only, not past the durable end; followers are told.
void move_log_start(Step& step, TopicPartition tp, Offset log_start_offset);
/// Moves the log starts whose records are confirmed by now.
void settle_log_start_moves(Step& step);
/// The partition is gone: whoever waits for its log start is told.
void end_log_start_moves(Step& step, TopicPartition tp);
void expire_log_start_moves(Step& step);
/// A record of the topic of producers, read by a new leader (G3).
void apply_producer_state(Step& step, const clients::ProducerStateKey& key, const Bytes& value);
/// Keeps the topic of producers short: what counts is written anew once it has grown by a multiple of it.
void rewrite_producer_records(Step& step);
/// The same of the topic of committed offsets (T1).
void rewrite_offset_records(Step& step);

// replicating.cc: the leader's answers to followers
void on_manifest_request(Step& step, BrokerId from, const replication::ManifestRequest& request);
void on_epoch_end_request(Step& step, BrokerId from, const replication::EpochEndRequest& request);
void on_fetch_request(Step& step, BrokerId from, const replication::FetchRequest& request);
void on_position_update(Step& step, BrokerId from, const replication::PositionUpdate& update);
void answer_follower(Step& step, const replication::FetchRequest& request);
void on_follower_read(Step& step, const FollowerRead& purpose, const storage::RecordsRead* read, TopicPartition tp);
std::uint64_t manifest_digest(const Broker& broker);

// following.cc: the follower's effects on its own logs
/// What is kept in memory of records at and past `log_end_offset`, which are gone.
void forget_past(Partition& partition, Offset log_end_offset);
void run_fetcher(Step& step, replication::FetchEffects& effects);
void on_fetcher_timer(Step& step);
void finish_reconciling(Step& step);
/// Drops every record of one partition.
void reset_partition(Step& step, TopicPartition tp, Offset log_start_offset, ResetReason reason);
void report_local_logs(Step& step, std::span<const TopicPartition> changed);

// storage_routing.cc
void on_file_completed(Step& step, const storage::FileEvent& event);
void on_store_report(Step& step, const storage::StoreReport& report);
/// Tells the durable ends of one group commit to whoever waits for them.
void on_persisted(Step& step);
void on_disk_retry_timer(Step& step);
/// The number under which the log store is to be asked to read, and the answer finds its purpose.
storage::ReadId note_read(Step& step, ReadPurpose purpose);
/// A leader whose copy is not what it was may not go on in its epoch.
void resign(Step& step, Mark why);
void add_partition(Step& step, TopicPartition tp);

// static_role.cc
void on_role_commanded(Step& step, const RoleCommanded& commanded);
/// The role this directory has: the latest command's, else the configured one.
void take_static_role(Step& step);
/// The configured leader's answers tell which of its lives it is in.
void note_static_epoch(Step& step, BrokerId from, LeaderEpoch leader_epoch);
/// A static broker that gave up its role because of its disk takes it again once its logs are open: nobody else may
/// lead.
void resume_static_role(Step& step);
/// A static leader that resigned tries again later, each time after twice as long, up to four seconds.
void retry_static_role_later(Step& step);
/// Whoever neither leads nor follows although it is known whom it should.
void resume_role(Step& step);
void follow_static_leader(Step& step, LeaderEpoch leader_epoch);
/// `static`: the leader's set needs nobody's consent, a proposal is a commit.
void commit_static_change(Step& step, const replication::ProposeChange& change);

// status.cc
void on_status(Step& step, const ClientRef& client);
void on_transfer_finished(Step& step, const raft::TransferFinished& finished);
void on_transfer(Step& step, const ClientRef& client, const clients::TransferLeadershipRequest& transfer);

}  // namespace tidelock::broker
