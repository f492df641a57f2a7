/// What the user asked the load generator for, read whole and checked before anything is connected.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "tools/tidelockd/settings.h"

namespace tidelock::load {

using tidelockd::HostPort;

enum class Command : std::uint8_t { kProduce, kConsume, kFailover, kReport };
/// Whose protocol is spoken. kKafka is tidelockd and whoever else speaks it.
enum class SystemKind : std::uint8_t { kKafka, kNats, kAmqp, kEtcd, kRedis };

struct Options {
    Command command = Command::kProduce;
    SystemKind system = SystemKind::kKafka;
    std::vector<HostPort> brokers = {{"127.0.0.1", 9092}};
    std::string topic = "load";
    std::int32_t partitions = 1;
    std::int32_t replication = 3;
    std::int32_t acks = -1;  // -1: all
    bool is_idempotent = false;

    std::uint32_t record_bytes = 1024;
    std::uint64_t records = 0;     // 0: as many as fit the time
    std::int64_t seconds_ns = 0;   // 0: as long as the records take
    std::int64_t warmup_ns = 0;    // not counted, and not part of `seconds`
    std::uint32_t in_flight = 64;  // records sent and not acknowledged
    std::uint32_t batch_bytes = 65'536;
    std::int64_t linger_ns = 0;
    std::int64_t patience_ns = 0;     // how long to try to connect
    std::int64_t ack_timeout_ns = 0;  // an unacknowledged record is then given up, or sent again by failover
    bool verifies = false;

    std::uint32_t consumers = 1;
    bool follows = false;

    std::vector<pid_t> pids;  // of the brokers, in their order
    std::int64_t kill_after_ns = 0;

    std::string json_file;                     // "-": standard output; empty: none
    std::map<std::string, std::string> notes;  // copied into the JSON
    std::vector<std::string> files;            // of `report`

    /// As many records as a request may hold.
    [[nodiscard]] std::uint32_t batch_records() const {
        return record_bytes >= batch_bytes ? 1 : batch_bytes / record_bytes;
    }
};

/// Why there are no options: the text, and what to exit with (0: help was asked for).
struct NoOptions {
    std::string text;
    int status = 2;
};

/// `words` without the program's name.
Result<Options, NoOptions> parse_options(std::vector<std::string> words);

/// The word for `--system`.
std::string_view name_of(SystemKind system);

}  // namespace tidelock::load
