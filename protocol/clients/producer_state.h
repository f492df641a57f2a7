/// What outlives the records it came from: a producer's last batches and a partition's log start, as records of the
/// internal topic of producers (T2, L7). Written before a log start moves past the batches, read by every new leader.
#pragma once

#include <cstdint>

#include "protocol/base/bytes.h"
#include "protocol/base/flat_map.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::clients {

/// How many batches of a producer are remembered; as many as a client may have in flight.
inline constexpr std::size_t kRememberedBatches = 5;

struct RememberedBatch {
    std::int32_t base_sequence = 0;
    std::int32_t record_count = 0;
    Offset base_offset;
    bool operator==(const RememberedBatch&) const = default;
};

/// One producer in one partition.
struct ProducerState {
    ProducerEpoch producer_epoch;
    Offset last_offset{-1};                                    // of the last batch or marker, inclusive
    bool has_forgotten = false;                                // older batches or an older epoch were dropped from here
    SmallVector<RememberedBatch, kRememberedBatches> batches;  // of this epoch, in log order
    bool operator==(const ProducerState&) const = default;
};

/// What a record tells of a partition whose log start moves.
struct LogStartRecord {
    Offset log_start_offset;
    Offset forgotten_below;  // ProducerTable::forgotten_below of what is confirmed; may be past the log start
    bool operator==(const LogStartRecord&) const = default;
};

/// Key of a record. kNoProducer: it is a LogStartRecord.
struct ProducerStateKey {
    TopicPartition partition;
    ProducerId producer = kNoProducer;
    auto operator<=>(const ProducerStateKey&) const = default;
};

[[nodiscard]] Bytes encode_state_key(const ProducerStateKey& key);
[[nodiscard]] Result<ProducerStateKey, DecodeError> decode_state_key(const Bytes& key);
[[nodiscard]] Bytes encode_state(const ProducerState& state);
/// Total; negative counts and offsets, and batches out of order are errors.
[[nodiscard]] Result<ProducerState, DecodeError> decode_state(const Bytes& value);
[[nodiscard]] Bytes encode_log_start(const LogStartRecord& record);
/// Total; negative offsets are errors. Version 1 did not tell of the forgotten.
[[nodiscard]] Result<LogStartRecord, DecodeError> decode_log_start(const Bytes& value);

}  // namespace tidelock::clients
