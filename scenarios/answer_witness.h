/// Holds a broker to its deadlines: what clients asked of it and have not been told (A5).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/messages.h"

namespace tidelock::scenarios {

/// Of one life of one broker. Its time runs only while the broker acts: between two looks it passes no more than
/// kLookMax, so that one that was paused, or whose clock jumped, gets its time all the same.
class AnswerWitness {
  public:
    static constexpr Duration kLookMax = milliseconds(100);
    /// What an answer may take beyond the time its request gives it.
    static constexpr Duration kSlack = seconds(2);

    /// How long a broker may think about requests that name no time of their own.
    explicit AnswerWitness(Duration patience) : patience_(patience) {}

    /// It was handed to the broker. One that its connection has brought before asks for nothing.
    void on_request(ConnectionId connection, const clients::Request& request);
    /// What was asked for; none: nothing that waits.
    std::optional<clients::RequestBody> on_answer(ConnectionId connection, CorrelationId correlation);
    /// Nobody is left who could be answered.
    void on_closed(ConnectionId connection);
    void on_all_closed();

    /// The broker acted at `now`, of its own monotonic clock. A request that is overdue, in words, once; reads of a
    /// broker whose disk owes it something may wait.
    std::optional<std::string> look(Instant now, bool is_disk_reading);

  private:
    struct Waiting {
        ConnectionId connection;
        clients::Request request;
        Duration due;  // in time acted
    };
    struct Newest {
        ConnectionId connection;
        CorrelationId correlation;
    };
    bool is_repeated(ConnectionId connection, CorrelationId correlation);

    Duration patience_;
    Duration acted_;
    std::optional<Instant> looked_at_;
    std::vector<Waiting> waiting_;
    std::vector<Newest> newest_;
};

}  // namespace tidelock::scenarios
