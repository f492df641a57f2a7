/// V14: a committed group offset never goes back except by a later commit of a lower one, judged from client calls: an
/// offset fetch answers at least what was acknowledged, or told to another fetch, before it was asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/excused_losses.h"
#include "checker/history.h"
#include "checker/violation.h"
#include "protocol/base/flat_map.h"

namespace tidelock::checker {

class OffsetsMonotonic {
  public:
    void judge(const ClientCall& call, const OffsetCommitCall& commit);
    /// `excused`: a loss of committed offsets, or of the topic with its offsets, may explain any answer.
    void judge(const ClientCall& call, const OffsetFetchCall& fetch, const ExcusedLosses& excused);
    /// A deleted topic's offsets are gone with it.
    void judge(const ClientCall& call, const DeleteTopicCall& deletion);
    /// Reports what no later returning commit has explained.
    void judge_at_end(ViolationLog& log) const;

  private:
    struct Key {
        ClientGroup group;
        ClientPartition partition;
        constexpr auto operator<=>(const Key&) const = default;
    };
    /// From `since_ns` on (the return of a commit, or of a fetch that was told it) no fetch may answer less than
    /// `offset`.
    struct Floor {
        std::int64_t since_ns;
        Offset offset;
    };
    struct Committed {
        std::vector<Floor> floors;             // by rising time
        std::int64_t last_returned_ns = 0;     // of the acknowledged commits
        std::vector<Offset> may_be_committed;  // of commits whose outcome is unknown; sorted
    };
    /// An answer below the floor. A commit of that offset that was under way explains it, and may return later.
    struct Suspect {
        Key key;
        std::optional<Offset> answered;
        std::int64_t returned_ns;
        std::string message;
    };
    /// What was asked of a topic by name.
    struct Deletion {
        std::int64_t returned_ns = -1;  // of the last one that did not fail for sure
        bool may_strike_later = false;  // one of unknown outcome
    };
    void raise_floor(Committed& committed, const ClientCall& call, const OffsetFetchCall& fetch) const;
    /// The call was under way together with a deletion that has returned: it may have met the topic that is gone.
    [[nodiscard]] bool may_be_of_deleted(const Key& key, const ClientCall& call) const;
    /// A deletion that nobody knows the outcome of may take the topic, with its offsets, at any time.
    [[nodiscard]] bool may_be_deleted_at_any_time(const Key& key) const;

    FlatMap<Key, Committed> committed_;
    FlatMap<ClientTopic, Deletion> deletions_;
    std::vector<Suspect> suspects_;
};

}  // namespace tidelock::checker
