#include "scenarios/reader_memory.h"

#include <algorithm>

#include "protocol/storage/record_batch.h"

namespace tidelock::scenarios {

void ReaderMemory::note(const Bytes& batches, Offset from, std::int64_t asked_ns) {
    const auto views = storage::split_batches(batches);
    if (!views) return;
    for (const storage::BatchView& view : *views) {
        if (view.header.is_control()) continue;
        storage::RecordReader reader(view.bytes.span(), view.header);
        for (;;) {
            const auto record = reader.next();
            if (!record || !*record) break;
            if ((*record)->offset >= from)
                records_.push_back({(*record)->offset, (*record)->timestamp_ms, view.header.leader_epoch, asked_ns});
        }
    }
    if (records_.size() > kRecordsMax)
        records_.erase(records_.begin(), records_.end() - static_cast<std::ptrdiff_t>(kRecordsMax / 2));
}

const RememberedRecord* ReaderMemory::first_since(std::int64_t timestamp_ms) const {
    const auto found = std::ranges::find_if(
        records_, [timestamp_ms](const RememberedRecord& record) { return record.timestamp_ms >= timestamp_ms; });
    return found == records_.end() ? nullptr : &*found;
}

const RememberedRecord* ReaderMemory::at(Offset offset) const {
    const auto found = std::ranges::lower_bound(records_, offset, {}, &RememberedRecord::offset);
    return found == records_.end() || found->offset != offset ? nullptr : &*found;
}

}  // namespace tidelock::scenarios
