/// Appending records: Produce, and InitProducerId for idempotent producers (T2).
#pragma once

#include "protocol/kafka/vocabulary.h"

namespace tidelock::kafka {

// --- Produce -------------------------------------------------------------------------------------------------

/// Records for a partition.
struct ProducePartition {
    PartitionIndex index;
    /// Record batches as the producer made them, sharing storage with the frame.
    std::optional<Bytes> records;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("index", m.index);
        v.field("records", m.records);
    }
    bool operator==(const ProducePartition&) const = default;
};

/// Records for a topic.
struct ProduceTopic {
    std::string name;
    std::vector<ProducePartition> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partitions", m.partitions);
    }
    bool operator==(const ProduceTopic&) const = default;
};

/// Append these records.
struct ProduceRequest {
    static constexpr ApiKey kApi = ApiKey::kProduce;
    static constexpr bool kIsRequest = true;

    std::optional<std::string> transactional_id;
    std::int16_t acks = 0;  // 0: no answer is sent; 1: the leader has it; -1: all in-sync replicas have it
    std::int32_t timeout_ms = 0;
    std::vector<ProduceTopic> topics;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("transactional_id", m.transactional_id);
        v.field("acks", m.acks);
        v.field("timeout_ms", m.timeout_ms);
        v.field("topics", m.topics);
    }
    bool operator==(const ProduceRequest&) const = default;
};

/// A record for which its whole batch was turned down (KIP-467).
struct ProduceRecordError {
    std::int32_t batch_index = 0;  // of the record in its batch
    std::optional<std::string> message;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("batch_index", m.batch_index);
        v.field("message", m.message);
    }
    bool operator==(const ProduceRecordError&) const = default;
};

/// Where the records went, or why nowhere: kNotLeaderOrFollower with the current leader, kNotEnoughReplicas,
/// kOutOfOrderSequenceNumber, kInvalidProducerEpoch, kCorruptMessage, kMessageTooLarge, kUnknownTopicOrPartition.
struct ProducePartitionResult {
    PartitionIndex index;
    ErrorCode error_code = ErrorCode::kNone;
    Offset base_offset = kNoOffset;
    std::int64_t log_append_time_ms = -1;  // -1: records keep the times of their producer
    Offset log_start_offset = kNoOffset;
    std::vector<ProduceRecordError> record_errors;
    std::optional<std::string> error_message;
    CurrentLeader current_leader;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("index", m.index);
        v.field("error_code", m.error_code);
        v.field("base_offset", m.base_offset);
        v.field("log_append_time_ms", m.log_append_time_ms, since(2));
        v.field("log_start_offset", m.log_start_offset, since(5));
        v.field("record_errors", m.record_errors, since(8));
        v.field("error_message", m.error_message, since(8));
        v.tagged(0, "current_leader", m.current_leader, since(10));
    }
    bool operator==(const ProducePartitionResult&) const = default;
};

/// A topic's results.
struct ProduceTopicResult {
    std::string name;
    std::vector<ProducePartitionResult> partitions;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("name", m.name);
        v.field("partitions", m.partitions);
    }
    bool operator==(const ProduceTopicResult&) const = default;
};

/// The results, and where the leaders named in them are reached.
struct ProduceResponse {
    static constexpr ApiKey kApi = ApiKey::kProduce;
    static constexpr bool kIsRequest = false;

    std::vector<ProduceTopicResult> topics;
    std::int32_t throttle_time_ms = 0;
    std::vector<NodeEndpoint> node_endpoints;

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("topics", m.topics);
        v.field("throttle_time_ms", m.throttle_time_ms, since(1));
        v.tagged(0, "node_endpoints", m.node_endpoints, since(10));
    }
    bool operator==(const ProduceResponse&) const = default;
};

// --- InitProducerId ------------------------------------------------------------------------------------------

/// Give me a producer id, or since version 3 the next epoch of mine.
struct InitProducerIdRequest {
    static constexpr ApiKey kApi = ApiKey::kInitProducerId;
    static constexpr bool kIsRequest = true;

    std::optional<std::string> transactional_id;
    std::int32_t transaction_timeout_ms = 0;
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch{-1};

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("transactional_id", m.transactional_id);
        v.field("transaction_timeout_ms", m.transaction_timeout_ms);
        v.field("producer_id", m.producer_id, since(3));
        v.field("producer_epoch", m.producer_epoch, since(3));
    }
    bool operator==(const InitProducerIdRequest&) const = default;
};

/// An id that nobody had before.
struct InitProducerIdResponse {
    static constexpr ApiKey kApi = ApiKey::kInitProducerId;
    static constexpr bool kIsRequest = false;

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::kNone;
    ProducerId producer_id = kNoProducer;
    ProducerEpoch producer_epoch{-1};

    template <class Self, class V>
    static void fields(Self& m, V& v) {
        v.field("throttle_time_ms", m.throttle_time_ms);
        v.field("error_code", m.error_code);
        v.field("producer_id", m.producer_id);
        v.field("producer_epoch", m.producer_epoch);
    }
    bool operator==(const InitProducerIdResponse&) const = default;
};

}  // namespace tidelock::kafka
