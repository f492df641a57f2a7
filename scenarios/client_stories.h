/// The stories clients live by. Each runs on a host of its own, takes its orders from the nemesis through Workload, and
/// returns when its host dies or its work is done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checker/final_view.h"
#include "scenarios/client.h"
#include "scenarios/plan.h"

namespace tidelock::scenarios {

/// Appends unique values to random partitions until told to stop. Idempotent ones retry under the same sequence and
/// start again under a new id when a batch has to be given up; others never send a value again whose outcome is open.
void run_producer(Client& client, const ProducerPlan& plan, std::size_t position, std::uint64_t seed);

/// Where a consumer has got to, kept outside its story so that the end of the schedule can be judged by it.
struct ConsumerProgress {
    struct Position {
        std::string topic;
        TopicId topic_id;
        PartitionIndex partition;
        Offset next;
    };
    std::vector<Position> positions;
};
/// Reads every partition from its log start, for ever, below the high watermark, waiting at the end by long poll.
void run_consumer(Client& client, const ConsumerPlan& plan, std::size_t position, ConsumerProgress& progress);

/// Commits rising offsets for its group and reads them back (V14).
void run_committer(Client& client, const CommitterPlan& plan, std::uint64_t seed);

/// What a consumer group has been told is committed, kept outside the stories of its members.
struct GroupProgress {
    std::map<TopicPartition, Offset> committed;
};
/// Joins its group, reads and commits the partitions that it is assigned, and joins again whenever it is told to (T4).
void run_group_member(Client& client, const MemberPlan& plan, std::size_t position, GroupProgress& progress);

/// Asks every broker in turn what it takes for true (V22).
void run_status_poller(Client& client, const PollerPlan& plan);

/// Keeps asking the leader for what it coordinates: committed offsets of all groups, and new producer ids (V14, T2).
void run_coordinator_poller(Client& client, const PollerPlan& plan, std::uint64_t seed);

/// What an administrator's calls need to tell others before they are sent.
struct AdminHooks {
    std::function<void(const std::string& topic)> before_delete_topic;
    std::function<void(const std::string& topic, PartitionIndex partition, Offset before)> before_delete_records;
    std::function<void(const PlannedFault& fault, bool was_done)> after_fault;
};
/// Creates the topics of the plan, then carries out its operator faults in order of time.
void run_admin(Client& client, const AdminHooks& hooks);

/// One partition at the end of a schedule.
struct VerifiedPartition {
    std::string topic;
    TopicId topic_id;
    PartitionIndex partition;
    bool is_writable = false;  // a produce with acks=all was acknowledged
    bool is_gone = false;      // the serving leader has no such topic any more
    Offset high_watermark;     // what the final read had to reach
    checker::FinalRead read;
    Offset written_end{
        0};  // exclusive end of the verifier's own record: a reading that stops before it is not the last
};
struct Verification {
    bool is_finished = false;
    std::int64_t topics_listed_ns = 0;  // virtual; when the question for the topics left
    std::vector<VerifiedPartition> partitions;
};
/// After the heal: writes one record to every partition, then reads each from its log start to its high watermark.
void run_verifier(Client& client, Verification& verification);

}  // namespace tidelock::scenarios
