/// Remembers, across a broker's lives, which of its copies it has found damaged: a life that takes one of them for
/// whole, while the bytes that it read at boot are bad still, has forgotten what its data incarnation was renewed for
/// (L4, I10).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "protocol/broker/observation.h"
#include "protocol/storage/files.h"
#include "protocol/storage/record_batch.h"

namespace tidelock::scenarios {

class DamageWitness {
  public:
    /// Before the first step of a life, with what that life reads of its disk.
    void begin_life(const storage::DirectoryImage& image);
    /// What the broker says, as long as its process lives.
    void on_observation(const broker::Observation& observation);
    /// After the step that booted, unless the broker refused to start: copies recovered as whole that were known to be
    /// damaged and hold a bad batch in `image`, and records taken by their headers though damage is on record, in
    /// words. From then on only what was found damaged again is known.
    [[nodiscard]] std::vector<std::string> forgotten_at_boot(const storage::DirectoryImage& image,
                                                             const storage::BatchLimits& limits);

  private:
    std::set<TopicPartition> found_;      // in this life; its incarnation is not renewed yet
    std::set<TopicPartition> on_record_;  // and it was renewed since
    std::set<TopicPartition> resetting_;  // of these: emptied, and that is not durable yet
    std::vector<broker::LogRecovered> recovered_;
    bool is_damage_on_record_ = false;  // by the identity that this life began with
};

}  // namespace tidelock::scenarios
