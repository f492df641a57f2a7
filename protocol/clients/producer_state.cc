#include "protocol/clients/producer_state.h"

namespace tidelock::clients {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kLogStartVersion = 2;

RememberedBatch read_batch(ByteReader& in) {
    RememberedBatch batch;
    batch.base_sequence = in.i32();
    batch.record_count = in.i32();
    batch.base_offset = Offset(in.i64());
    if (batch.base_sequence < 0 || batch.record_count <= 0 || batch.base_offset.value < 0) in.fail();
    return batch;
}

}  // namespace

Bytes encode_state_key(const ProducerStateKey& key) {
    ByteWriter out;
    out.u8(kVersion);
    out.u64(key.partition.topic.value);
    out.i32(key.partition.partition.value);
    out.i64(key.producer.value);
    return out.take();
}

Result<ProducerStateKey, DecodeError> decode_state_key(const Bytes& bytes) {
    ByteReader in(bytes);
    if (in.u8() != kVersion) return decode_failure("producer state key: unknown version");
    ProducerStateKey key;
    key.partition.topic = TopicId(in.u64());
    key.partition.partition = PartitionIndex(in.i32());
    key.producer = ProducerId(in.i64());
    const bool has_sense = key.partition.partition.value >= 0 && key.producer >= kNoProducer;
    if (!in.at_end() || !has_sense) return decode_failure("producer state key: short or bad field");
    return key;
}

Bytes encode_state(const ProducerState& state) {
    ByteWriter out;
    out.u8(kVersion);
    out.u16(static_cast<std::uint16_t>(state.producer_epoch.value));
    out.i64(state.last_offset.value);
    out.boolean(state.has_forgotten);
    out.u8(static_cast<std::uint8_t>(state.batches.size()));
    for (const RememberedBatch& batch : state.batches) {
        out.i32(batch.base_sequence);
        out.i32(batch.record_count);
        out.i64(batch.base_offset.value);
    }
    return out.take();
}

Result<ProducerState, DecodeError> decode_state(const Bytes& bytes) {
    ByteReader in(bytes);
    if (in.u8() != kVersion) return decode_failure("producer state: unknown version");
    ProducerState state;
    state.producer_epoch = ProducerEpoch(static_cast<std::int16_t>(in.u16()));
    state.last_offset = Offset(in.i64());
    state.has_forgotten = in.boolean();
    const std::uint8_t count = in.u8();
    if (count > kRememberedBatches || state.last_offset.value < 0 || state.producer_epoch.value < 0) in.fail();
    for (std::uint8_t i = 0; i < count && !in.failed(); ++i) {
        const RememberedBatch batch = read_batch(in);
        const bool is_later = state.batches.empty() || state.batches.back().base_offset < batch.base_offset;
        if (!is_later || batch.base_offset > state.last_offset) in.fail();
        state.batches.push_back(batch);
    }
    if (!in.at_end()) return decode_failure("producer state: short or bad field");
    return state;
}

Bytes encode_log_start(const LogStartRecord& record) {
    ByteWriter out;
    out.u8(kLogStartVersion);
    out.i64(record.log_start_offset.value);
    out.i64(record.forgotten_below.value);
    return out.take();
}

Result<LogStartRecord, DecodeError> decode_log_start(const Bytes& bytes) {
    ByteReader in(bytes);
    const std::uint8_t version = in.u8();
    if (version < 1 || version > kLogStartVersion) return decode_failure("log start: unknown version");
    LogStartRecord record;
    record.log_start_offset = Offset(in.i64());
    if (version >= 2) record.forgotten_below = Offset(in.i64());
    const bool has_sense = record.log_start_offset.value >= 0 && record.forgotten_below.value >= 0;
    if (!in.at_end() || !has_sense) return decode_failure("log start: short or bad field");
    return record;
}

}  // namespace tidelock::clients
