/// The newest batches of a partition, kept in memory so that replicas and consumers that keep up never wait for the
/// disk. A part of the log, never more: what is cut from the log is cut here.
#pragma once

#include <deque>
#include <optional>

#include "protocol/base/bytes.h"
#include "protocol/base/ids.h"

namespace tidelock::broker {

struct CachedBatches {
    Offset base_offset;
    Offset next_offset;  // exclusive
    Bytes batches;
    bool operator==(const CachedBatches&) const = default;
};

class TailCache {
  public:
    TailCache() = default;
    explicit TailCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    /// One batch, which must continue the newest one; otherwise the cache starts over with it.
    void append(Offset base_offset, Offset next_offset, Bytes batch);
    /// Whole batches from the one holding `from` on, those that end by `up_to`, at most `bytes_max`; the first of them
    /// whatever its end and size. Empty: `from` is older than what is cached, and the log has to be read.
    [[nodiscard]] std::optional<CachedBatches> find(Offset from, Offset up_to, std::size_t bytes_max) const;
    /// The log was cut: nothing at or past `end_offset` stays.
    void truncate(Offset end_offset);
    void clear();
    bool operator==(const TailCache&) const = default;

  private:
    std::size_t bytes_max_ = 0;
    std::size_t size_bytes_ = 0;
    std::deque<CachedBatches> entries_;  // contiguous, one batch each
};

}  // namespace tidelock::broker
