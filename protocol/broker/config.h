/// What a broker is configured to be. One value, the same in the simulator and in the daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/groups.h"

namespace tidelock::broker {

enum class Preset : std::uint8_t { kStatic, kGroup };
/// `Role` of seed 000: who may stand before any in-sync set exists (G2); in `static` who leads.
enum class ConfiguredRole : std::uint8_t { kLeader, kFollower, kBoth };

/// Seeds' literal rules that ours replace. All off by default; switched on one by one to show what each breaks.
struct SeedRules {
    bool expand_at_high_watermark_only = false;  // D1, KAFKA-7128 (I5)
    bool single_shot_truncation = false;         // D2, KIP-279 (L6)
    bool no_caretaker = false;                   // D3 (G9)
    bool ignore_data_incarnation = false;        // D4, KIP-903 (I10)
    bool positions_as_received = false;          // D5 (L2)
    bool expand_within_lag_bound = false;        // D11 (I5, 002)
    bool high_watermark_may_fall = false;        // D11 (I6)
    bool observe_in_two_reads = false;           // D15 (A6)
    bool no_pre_vote = false;                    // D16 (R6)
    bool shrink_below_minimum = false;           // I11, KIP-966
    bool operator==(const SeedRules&) const = default;
};

struct Config {
    BrokerId id;
    std::vector<BrokerId> members;  // of the group, this broker included, sorted
    Preset preset = Preset::kGroup;
    ConfiguredRole role = ConfiguredRole::kBoth;
    BrokerId static_leader;  // `static`: who leads until a role is commanded
    SeedRules seed_rules;

    Duration election_timeout_min = milliseconds(300);
    Duration election_timeout_max = milliseconds(600);
    Duration heartbeat_interval = milliseconds(100);
    Duration transfer_timeout = milliseconds(1000);
    std::int32_t raft_log_entries_max = 64;
    std::int32_t raft_entries_per_append_max = 64;
    std::int32_t raft_append_window_max = 256;                // entries sent but not acknowledged, per follower (R9)
    std::int32_t raft_snapshot_chunk_bytes_max = 64 * 1'024;  // of a Raft snapshot in one message (R8)

    Duration isr_lag = milliseconds(3000);          // 000 `IsrLagSeconds`
    Duration disconnect_grace = milliseconds(200);  // a member whose connection ended may be unheard of; 0: no bound
    std::optional<Duration> replica_lag_timeout;    // 002: no fetch or ack within
    std::optional<std::int64_t> replica_lag_records_max;  // 002; 000's static `LagMax`
    std::int32_t min_insync_replicas = 2;

    Duration fetch_wait_max = milliseconds(500);
    Duration fetch_retry = milliseconds(50);
    Duration request_timeout = milliseconds(1000);  // between peers
    std::int32_t fetch_bytes_max = 1 << 20;
    std::int32_t batch_bytes_max = 1 << 20;
    std::int32_t segment_bytes_max = 1 << 20;
    std::int32_t journal_bytes_max = 1 << 20;    // a longer checkpoint journal is rewritten into a new file
    std::int32_t pending_produces_max = 10'000;  // a partition
    std::int32_t parked_fetches_max = 1'000;
    bool ack_leader_durably = false;                 // A5: acks=leader waits for the local sync
    std::int32_t tail_cache_bytes_max = 64 << 10;    // newest records of a partition kept in memory
    std::int32_t internal_spare_records = 1'024;     // what an internal topic may hold beyond four times what it has to
    std::int32_t producers_max = 4'096;              // idempotent producers a partition remembers (T2); 2 and up
    bool trusts_sealed_indexes = false;              // recovery does not verify promised sealed segments (L4)
    bool tells_recovered_batches = true;             // LogRecovered lists every batch: more than fits on large disks
    clients::GroupLimits groups;                     // of consumer groups (T4)
    std::int32_t committed_offsets_max = 1'000'000;  // of all groups; kThrottled for one more
    std::int32_t topics_max = 10'000;
    std::int32_t partitions_max = 10'000;

    bool operator==(const Config&) const = default;
};

}  // namespace tidelock::broker
