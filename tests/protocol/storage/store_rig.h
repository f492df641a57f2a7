/// A LogStore on a FileModel, and what its owner knows of one partition: what was appended, cut and promised.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "protocol/storage/recovery.h"
#include "tests/protocol/storage/file_model.h"

namespace tidelock::storage {

inline constexpr TopicPartition kPartition{TopicId(0xAB), PartitionIndex(3)};

inline LogStoreConfig small_config() {
    LogStoreConfig config;
    config.segment.segment_bytes_max = 700;
    config.segment.index_interval_bytes = 200;
    config.journal_bytes_max = 4096;
    return config;
}

/// A batch of `count` records, its content made from `salt`.
inline Bytes make_batch(Offset base_offset, LeaderEpoch leader_epoch, int count, std::uint64_t salt,
                        std::size_t value_bytes) {
    BatchOptions options;
    options.base_offset = base_offset;
    options.leader_epoch = leader_epoch;
    RecordBatchBuilder builder(options);
    TestDice dice(salt);
    for (int i = 0; i < count; ++i) {
        std::vector<std::byte> value;
        for (std::size_t at = 0; at < value_bytes; ++at) value.push_back(static_cast<std::byte>(dice.next()));
        builder.add(static_cast<std::int64_t>(salt % 1000), std::nullopt, BytesView(value));
    }
    return builder.build();
}

/// One version of a log: its batches from the log start on, and its epochs.
struct LogVersion {
    std::vector<BatchView> batches;
    EpochHistory history;
    Offset start;
    [[nodiscard]] Offset end() const { return batches.empty() ? start : batches.back().header.next_offset(); }
    void cut(Offset to) {
        while (!batches.empty() && batches.back().header.next_offset() > to) batches.pop_back();
    }
};

/// A broker that appends, and the disk it leaves behind.
class Disk {
  public:
    explicit Disk(const LogStoreConfig& config = small_config()) : files(1), config_(config), store(config) {
        store.start(out);
        store.create_partition(kPartition);
        settle();
    }
    void append(int count, int leader_epoch) {
        const Offset base = store.view(kPartition)->log_end_offset;
        REQUIRE(
            store.append(kPartition, make_batch(base, LeaderEpoch(leader_epoch), count, ++salt_, 40), out).has_value());
    }
    void settle() {
        flush();
        while (files.has_completion()) {
            store.step(files.take_completion(), out);
            flush();
        }
    }
    void flush() {
        store.flush(out);
        check_invariants(store);
        for (const StoreReport& report : out.reports) reports.push_back(report);
        files.carry_out(out.effects);
        out.clear();
    }
    /// Stops without syncing what was appended since: the image is what a surviving kernel shows.
    DirectoryImage image() { return files.image(); }

    FileModel files;
    LogStoreConfig config_;
    LogStore store;
    StoreOutputs out;
    std::vector<StoreReport> reports;

  private:
    std::uint64_t salt_ = 0;
};

}  // namespace tidelock::storage
