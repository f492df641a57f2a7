// Any bytes as a data directory: recovered without a crash into a store that keeps its invariants and can go on
// working. The input is cut into files: a name selector, a length, the content.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "protocol/base/bytes.h"
#include "protocol/storage/recovery.h"

namespace {

using namespace tidelock;
using namespace tidelock::storage;

constexpr TopicPartition kPartition{TopicId(1), PartitionIndex(0)};

FileName pick_name(std::uint8_t selector) {
    switch (selector % 8) {
        case 0:
            return journal_file_name(1);
        case 1:
            return journal_file_name(2);
        case 2:
            return segment_file_name(kPartition, Offset(0));
        case 3:
            return index_file_name(kPartition, Offset(0));
        case 4:
            return segment_file_name(kPartition, Offset(selector / 8));
        case 5:
            return segment_file_name({TopicId(2), PartitionIndex(1)}, Offset(0));
        case 6:
            return "stray/file";
        default:
            return "identity.a";
    }
}

/// Turns the front of a journal or segment into one with good checksums, so that the fuzzer gets past them.
Bytes maybe_repaired(const FileName& name, std::span<const std::byte> content, bool is_wanted) {
    if (!is_wanted || !parse_journal_file_name(name.text()) || content.size() < 34) return Bytes::copy_of(content);
    ByteReader in(content);
    CommitWriter writer(*parse_journal_file_name(name.text()), 1);
    writer.add_file_header();
    PartitionRecord record;
    record.tp = kPartition;
    record.log_start_offset = Offset(in.i64());
    record.durable_end_offset = Offset(in.i64());
    record.high_watermark = Offset(in.i64());
    record.pending_cut = static_cast<PendingCut>(in.u8() % 3);
    record.cut_to = Offset(in.i64());
    while (in.left() >= 2) {
        const std::uint8_t leader_epoch = in.u8();
        writer.add_epoch_entry(kPartition, {LeaderEpoch(leader_epoch), Offset(in.u8())});
    }
    writer.add_partition(record);
    return writer.finish();
}

DirectoryImage make_image(std::span<const std::byte> input) {
    DirectoryImage image;
    ByteReader in(input);
    while (in.left() >= 4) {
        const std::uint8_t selector = in.u8();
        const std::uint8_t flags = in.u8();
        const std::size_t size = std::min<std::size_t>(in.u16(), in.left());
        const FileName name = pick_name(selector);
        const std::span<const std::byte> content = in.raw(size);
        if (find_file(image, name) != nullptr) continue;
        ImageFile file{name, maybe_repaired(name, content, (flags & 1U) != 0)};
        if ((flags & 2U) != 0) file.content = Failure<ReadError>(ReadError::kIo);
        image.insert(std::upper_bound(image.begin(), image.end(), file,
                                      [](const ImageFile& a, const ImageFile& b) { return a.name < b.name; }),
                     std::move(file));
    }
    return image;
}

/// Answers every sync well and every read with nothing, for a bounded number of steps.
void run(LogStore& store, StoreOutputs& out) {
    for (int steps = 0; steps < 200 && !out.effects.empty(); ++steps) {
        std::vector<FileEffect> effects;
        effects.swap(out.effects);
        for (const FileEffect& effect : effects) {
            if (const auto* sync = std::get_if<SyncFile>(&effect)) store.step(FileSynced{sync->op, true}, out);
            if (const auto* sync = std::get_if<SyncDirectory>(&effect)) store.step(FileSynced{sync->op, true}, out);
            if (const auto* read = std::get_if<ReadFile>(&effect)) store.step(FileReadDone{read->op, Bytes()}, out);
        }
        store.flush(out);
        check_invariants(store);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const DirectoryImage image = make_image(std::as_bytes(std::span(data, size)));
    LogStoreConfig config;
    config.scan = size % 2 == 0 ? RecoveryScan::kAll : RecoveryScan::kFromCheckpoint;
    StoreRecovery recovery = recover(image, config);
    check_invariants(recovery.store);
    StoreOutputs out;
    recovery.store.start(out);
    run(recovery.store, out);
    for (const PartitionRecovery& found : recovery.partitions) {
        recovery.store.read({ReadId(1), found.tp, found.log_start_offset, found.log_end_offset, 100}, out);
        recovery.store.truncate(found.tp, found.log_start_offset + 1);
        recovery.store.advance_log_start(found.tp, found.log_start_offset + 2);
    }
    recovery.store.flush(out);
    run(recovery.store, out);
    return 0;
}
