/// The cluster after the heal phase as the runner sees it: what V16 judges, and the final reads of V1 and V21.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "checker/history.h"
#include "protocol/base/ids.h"

namespace tidelock::checker {

struct FinalBroker {
    BrokerId broker;
    bool running = false;
    std::string refused;           // why it refused to start; empty when it did not
    Incarnation data_incarnation;  // of its present life; 0: not known
    bool is_given_up = false;      // it stays dead or useless: the rest has to serve without it
};
struct FinalCopy {
    BrokerId broker;
    Offset log_start_offset;
    Offset log_end_offset;
    Offset high_watermark;
};
struct FinalPartition {
    TopicPartition partition;
    std::string topic_name;
    bool writable = false;  // a produce with acks=all sent after the heal was acknowledged
    std::vector<FinalCopy> copies;
};
struct FinalConsumer {
    std::string name;       // "consumer-2 on x-0"
    Offset position;        // the next offset it would read
    Offset log_end_offset;  // what it has to reach
};
/// A partition read from its log start to its end after everything else, and what was found.
struct FinalRead {
    ClientPartition partition;
    bool complete = false;  // the reader reached the high watermark told to it
    Offset log_start_offset;
    std::vector<ReadRecord> records;  // ascending offsets
    /// When the reading began: what was deleted later may have been read before.
    std::int64_t first_invoked_ns = std::numeric_limits<std::int64_t>::max();
    /// When the last request left whose answer reached the high watermark in it; 0: none did.
    std::int64_t last_invoked_ns = std::numeric_limits<std::int64_t>::max();
};
struct FinalView {
    std::vector<FinalBroker> brokers;       // every configured member
    std::optional<BrokerId> leader;         // who serves
    std::vector<Replica> in_sync_replicas;  // as the leader has committed it
    std::vector<FinalPartition> partitions;
    std::vector<FinalConsumer> consumers;
    std::vector<std::string> overdue_upkeep;  // what brokers keep that nothing needs: "broker 1 keeps the file ..."
    std::vector<FinalRead> reads;
    bool is_everything_read = true;  // the reader was told the topics and got to the end of every partition
    /// When the question left by which it was told; what was promised since may be missing.
    std::int64_t topics_listed_ns = std::numeric_limits<std::int64_t>::max();
    bool judge_progress = true;  // false: the run was stopped early, V16 has nothing to say
};

}  // namespace tidelock::checker
