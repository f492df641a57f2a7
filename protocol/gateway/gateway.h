/// The door of Kafka clients: frames of the Kafka wire become requests of `clients/`, and their answers become frames.
/// One Kafka request asks about many partitions, one of ours about one: it is taken apart here, and answered when all
/// its parts are. A pure machine; the host carries frames to and from sockets, and requests to and from the broker.
///
/// Laws: answers leave a connection in the order of its requests, one each, none for a produce with acks 0; a frame
/// that is no request ends its connection; a connection with too much under way is not read from until some is
/// answered.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "protocol/base/flat_map.h"
#include "protocol/base/time.h"
#include "protocol/clients/messages.h"
#include "protocol/kafka/messages.h"

namespace tidelock::gateway {

/// Where clients reach a broker.
struct Endpoint {
    std::string host;
    std::int32_t port = 0;
    bool operator==(const Endpoint&) const = default;
};

struct GatewayConfig {
    BrokerId self;
    FlatMap<BrokerId, Endpoint> endpoints;  // of every member
    std::string cluster_id;
    bool creates_topics = true;                 // that a client asks for by name in Metadata
    std::int32_t partition_count_default = 1;   // of those, and where a client leaves it to us
    std::int32_t min_insync_replicas = 1;       // for who asks for the settings
    Duration ack_timeout_max = seconds(300);    // no producer waits longer for its acknowledgement
    std::int32_t requests_max = 64;             // under way, a connection; it is not read from meanwhile
    std::int64_t fetch_bytes_max = 55 << 20;    // of one answer, whatever the client would take
    std::int64_t request_bytes_max = 64 << 20;  // the same in bytes, what is read for answers included
    std::int64_t group_bytes_max = 64 << 20;    // of one answer about groups, told by their members
    std::int32_t parts_max = 20'000;            // of one request: partitions, groups, topics that the broker is asked
    bool operator==(const GatewayConfig&) const = default;
};

/// To the broker, which answers on the same connection.
struct AskBroker {
    ConnectionId connection;
    clients::Request request;
    bool operator==(const AskBroker&) const = default;
};
/// To the client, and what it answers: for logs and metrics.
struct SendFrame {
    ConnectionId connection;
    kafka::Frame frame;
    kafka::ApiKey api{};
    Duration took;  // since the request came
};
struct CloseConnection {
    ConnectionId connection;
    std::string why;
    bool operator==(const CloseConnection&) const = default;
};
struct PauseReading {
    ConnectionId connection;
    bool operator==(const PauseReading&) const = default;
};
struct ResumeReading {
    ConnectionId connection;
    bool operator==(const ResumeReading&) const = default;
};
using Effect = std::variant<AskBroker, SendFrame, CloseConnection, PauseReading, ResumeReading>;
using Effects = std::vector<Effect>;

/// The place in a Kafka answer that one of our answers fills.
struct Slot {
    std::uint32_t outer = 0;  // topic, group, or whatever the answer lists
    std::uint32_t inner = 0;  // partition of it
    bool operator==(const Slot&) const = default;
};

/// A fetch reads one partition after the other, as much as the client takes in all, and waits when that is too little.
struct FetchRound {
    kafka::FetchRequest request;
    Instant deadline;
    std::int64_t bytes_read = 0;
    bool has_error = false;    // something to tell at once
    bool has_no_room = false;  // the connection has too much under way for more
    bool is_waiting = false;
    std::vector<clients::PartitionPosition> positions;  // where to wait: nothing was there yet
    bool operator==(const FetchRound&) const = default;
};

/// A request under way, and its answer as far as it is known.
struct Pending {
    std::uint64_t number = 0;  // along its connection
    kafka::Request request;    // without the records, which the broker has
    kafka::ResponseBody answer;
    std::uint32_t outstanding = 0;  // parts asked of the broker
    bool is_answered = true;        // false: a produce with acks 0
    Instant received;
    std::int64_t frame_bytes = 0;
    std::optional<FetchRound> fetch;
    std::string close_with;                 // why the connection ends instead of an answer; empty: it does not
    bool is_answered_before_close = false;  // or after it
    bool is_too_much = false;               // it is about more parts than may be asked
    std::set<std::string> refused_topics;   // by name: that nobody can create for a Metadata request
    std::int64_t answer_bytes = 0;          // so far, of what members of groups say about themselves
    bool has_created = false;               // topics that a Metadata request asked for
    bool operator==(const Pending&) const = default;
};

struct Part {
    std::uint64_t pending = 0;  // its number
    Slot slot;
    bool operator==(const Part&) const = default;
};

struct Connection {
    std::string host;  // of the client
    std::int64_t last_correlation = 0;
    std::uint64_t last_number = 0;
    std::deque<Pending> pending;  // in the order of their requests
    std::map<CorrelationId, Part> parts;
    std::int64_t bytes_pending = 0;
    bool is_paused = false;
    bool operator==(const Connection&) const = default;
};

class Gateway {
  public:
    explicit Gateway(GatewayConfig config) : config_(std::move(config)) {}

    void open(ConnectionId connection, std::string host);
    void close(ConnectionId connection) { connections_.erase(connection); }
    void close_all() { connections_.clear(); }
    /// `content` is a frame without its size. Ignored on a connection that is not open.
    void on_frame(Instant now, ConnectionId connection, const Bytes& content, Effects& effects);
    void on_answer(Instant now, ConnectionId connection, const clients::Answer& answer, Effects& effects);

    [[nodiscard]] const GatewayConfig& config() const { return config_; }
    [[nodiscard]] const std::map<ConnectionId, Connection>& connections() const { return connections_; }
    bool operator==(const Gateway&) const = default;

  private:
    GatewayConfig config_;
    std::map<ConnectionId, Connection> connections_;
};

}  // namespace tidelock::gateway
