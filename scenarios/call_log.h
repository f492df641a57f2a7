/// Everything clients asked and were told, on its way to the checker. Numbers topics and groups by name, keeps the
/// calls that have not returned, and counts. One call at a time in each lane of a client.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history.h"
#include "protocol/base/ids.h"

namespace tidelock::scenarios {

class CallLog {
  public:
    using Sink = std::function<void(const checker::ClientCall&)>;
    /// Hears of each topic's number and name before any call that means it returns.
    using NameSink = std::function<void(checker::ClientTopic, const std::string& name)>;
    CallLog(Sink sink, NameSink name_sink) : sink_(std::move(sink)), name_sink_(std::move(name_sink)) {}

    /// Whose call, and which of those it has under way.
    struct Lane {
        checker::ClientId client;
        std::size_t number;
        constexpr Lane(checker::ClientId of, std::size_t lane = 0) : client(of), number(lane) {}
        constexpr auto operator<=>(const Lane&) const = default;
    };
    /// A call left its client at this true time.
    void begin(Lane lane, std::int64_t now_ns, decltype(checker::ClientCall::operation) operation);
    /// The operation of the call that is under way, to fill in what its answer told.
    template <typename Operation>
    Operation& operation_of(Lane lane) {
        return std::get<Operation>(pending_.at(lane).operation);
    }
    /// It returned. Hands it to the sink.
    void end(Lane lane, std::int64_t now_ns, checker::Outcome outcome);
    /// The end of the history: whatever has not returned is told as unknown. What stories still begin and end while
    /// they are taken down, on hosts that are dead, is not told any more.
    void end_all(std::int64_t now_ns);

    checker::ClientTopic topic_number(std::string_view name);
    checker::ClientGroup group_number(std::string_view name);
    checker::GroupMember member_number(std::string_view id);
    checker::GroupInstance instance_number(std::string_view name);
    [[nodiscard]] checker::ClientPartition partition_number(std::string_view topic, PartitionIndex partition) {
        return {topic_number(topic), partition};
    }

  private:
    Sink sink_;
    NameSink name_sink_;
    std::map<Lane, checker::ClientCall> pending_;
    std::vector<std::string> topics_;
    std::vector<std::string> groups_;
    std::vector<std::string> members_;
    std::vector<std::string> instances_;
    std::int64_t next_call_ = 1;
    bool is_closed_ = false;
};

}  // namespace tidelock::scenarios
