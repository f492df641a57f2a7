/// Reads one partition of a Kafka topic, batch by batch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/bench/load/kafka_client.h"
#include "tools/bench/load/payload.h"

namespace tidelock::load {

/// A question for what a partition has from an offset on.
kafka::FetchRequest fetch_of(const std::string& topic, std::int32_t partition, std::int64_t offset,
                             std::int32_t wait_ms);

/// A record, its offset and the size of its value.
using RecordSink = std::function<void(const Stamp& stamp, std::int64_t offset, std::size_t value_bytes)>;
/// The records of an answer at or after `next`, which moves behind them. Records that are not ours have an empty stamp.
/// Empty: fine.
std::string take_records(const kafka::FetchPartitionResult& result, std::int64_t& next, const RecordSink& sink);

/// The first offset of a partition (kEarliestOffset) or its end.
Result<std::int64_t, std::string> offset_of(Channel& channel, const std::string& topic, std::int32_t partition,
                                            std::int64_t which, std::int64_t patience_ns);
inline constexpr std::int64_t kEarliestOffset = -2;
inline constexpr std::int64_t kEndOffset = -1;

}  // namespace tidelock::load
