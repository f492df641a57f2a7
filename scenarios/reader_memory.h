/// What a consumer remembers of the records that it has read from one partition: enough to tell a wrong answer to "what
/// is there since this time?" and "where did this epoch end?" from a right one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"

namespace tidelock::scenarios {

struct RememberedRecord {
    Offset offset;
    std::int64_t timestamp_ms = 0;
    LeaderEpoch leader_epoch;   // of its batch
    std::int64_t asked_ns = 0;  // when the fetch that brought it was sent
};

/// Of the newest kRecordsMax records or a few less.
class ReaderMemory {
  public:
    static constexpr std::size_t kRecordsMax = 512;

    /// Takes in the data records at and past `from`, which is past all that is remembered. Batches that are not
    /// well-formed add nothing.
    void note(const Bytes& batches, Offset from, std::int64_t asked_ns);

    [[nodiscard]] const std::vector<RememberedRecord>& records() const { return records_; }
    /// The first one that is not older; null: none is.
    [[nodiscard]] const RememberedRecord* first_since(std::int64_t timestamp_ms) const;
    /// Null: not remembered.
    [[nodiscard]] const RememberedRecord* at(Offset offset) const;

  private:
    std::vector<RememberedRecord> records_;  // by offset
};

}  // namespace tidelock::scenarios
