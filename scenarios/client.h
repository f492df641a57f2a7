/// A client's way to the cluster: one request at a time over one connection, the leader found by asking (G7). The
/// stories of producers, consumers and the others are written on top of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/base/time.h"
#include "protocol/clients/messages.h"
#include "scenarios/call_log.h"
#include "scenarios/kafka_door.h"
#include "sim/host.h"

namespace tidelock::scenarios {

struct Plan;

/// What the nemesis tells a client to do; the client takes it when it comes to it.
struct ClientOrders {
    std::int32_t crash_count = 0;      // producer, member: die (a producer before it is answered), so many times
    std::int64_t zombie_until_ns = 0;  // producer: be replaced, and come back at this time
    std::int64_t silent_until_ns = 0;  // consumer, member: do nothing until this time
    std::int32_t reconnect_count = 0;  // consumer: drop the connection, so many times
    std::int32_t leave_count = 0;      // member of a group: leave it, so many times
};

/// What all clients of a schedule share.
struct Workload {
    const Plan* plan = nullptr;
    CallLog* calls = nullptr;
    std::int32_t broker_count = 0;
    bool are_producers_done = false;            // told: write no more
    std::vector<ClientOrders> producer_orders;  // by position in the plan
    std::vector<ClientOrders> consumer_orders;
    std::vector<ClientOrders> member_orders;
    std::int64_t orders_taken[7] = {};  // in the order of fault_counts.cc: counted as faults delivered
};

/// A topic as a client knows it.
struct KnownTopic {
    std::string name;
    TopicId id;
    std::int32_t partition_count = 0;
};

/// How a call ended. `kHostDied`: the calling story has to return.
enum class CallEnd : std::uint8_t { kAnswered, kNoAnswer, kHostDied };
struct CallReply {
    CallEnd end = CallEnd::kNoAnswer;
    clients::Answer answer;  // with kAnswered

    [[nodiscard]] clients::ErrorCode error() const { return clients::error_of(answer); }
    [[nodiscard]] bool is_ok() const { return end == CallEnd::kAnswered && error() == clients::ErrorCode::kNone; }
    /// What the caller may conclude. Without an answer: nothing.
    [[nodiscard]] checker::Outcome outcome() const;
};

class Client {
  public:
    Client(Workload& workload, sim::Host& host, checker::ClientId id);

    /// Asks this broker and waits. No answer in time, or a broken connection, ends the connection.
    CallReply await_call(BrokerId broker, clients::RequestBody body, Duration timeout);
    /// Asks it all at once, and waits for every answer, in the order of the requests.
    std::vector<CallReply> await_calls(BrokerId broker, std::vector<clients::RequestBody> bodies, Duration timeout);
    /// ... whom it takes for the leader; looks elsewhere next time if that was none.
    std::vector<CallReply> await_leader_calls(std::vector<clients::RequestBody> bodies, Duration timeout);
    /// Asks whom it takes for the leader; follows up to three hints, else tries each host in turn (G7). Only refusals
    /// that changed nothing are passed on to the next host.
    CallReply await_leader_call(const clients::RequestBody& body, Duration timeout);
    /// It says a topic's name when it writes, and no more: the Kafka wire has no room for the id.
    [[nodiscard]] bool writes_by_name() const { return kafka_.has_value(); }
    /// Whom it asks first; after an answer, who gave it.
    [[nodiscard]] BrokerId target() const { return target_; }
    void set_target(BrokerId broker) { target_ = broker; }
    /// Sends without waiting for the answer; the connection is dropped right after, as by a crash.
    void send_and_forget(const clients::RequestBody& body);
    void drop_connection();
    /// Asks anybody for the topics; internal ones are left out. False if nobody said, or if there are none.
    bool await_topics(std::vector<KnownTopic>& topics);
    /// Asks whoever says of itself that it leads: others may not know yet of every topic, or not any more. False if
    /// nobody does.
    bool await_leaders_topics(std::vector<KnownTopic>& topics);
    /// False once the host is dead.
    bool await_pause(Duration at_most);

    /// Calls that are under way together are in different lanes.
    void begin_call(decltype(checker::ClientCall::operation) operation, std::size_t lane = 0);
    void end_call(checker::Outcome outcome, std::size_t lane = 0);

    [[nodiscard]] checker::ClientId id() const { return id_; }
    [[nodiscard]] sim::Host& host() const { return *host_; }
    [[nodiscard]] Workload& workload() const { return *workload_; }
    [[nodiscard]] CallLog& calls() const { return *workload_->calls; }
    [[nodiscard]] std::int64_t true_now_ns() const;
    [[nodiscard]] Duration short_timeout() const;
    [[nodiscard]] Duration call_timeout() const;
    [[nodiscard]] Duration retry_pause() const;

  private:
    /// Nothing for what is no answer to a request from `first` on.
    std::optional<CallReply> reply_from(const sim::Arrival& arrival, BrokerId broker, CorrelationId first);
    /// Sends it in the client's language. Answered already: nobody will.
    std::optional<CallReply> send(BrokerId broker, const clients::Request& request);
    Result<std::optional<clients::Answer>, DecodeError> answer_in(const Bytes& frame);
    void try_next_host();
    void follow_hint_or_try_next(BrokerId hint);

    Workload* workload_;
    sim::Host* host_;
    checker::ClientId id_;
    BrokerId target_;
    BrokerId last_tried_;  // of its own accord, and not sent there
    std::int64_t next_correlation_ = 1;
    std::optional<KafkaDoor> kafka_;  // none: it speaks our own language
};

/// The value of a data record: its first eight bytes. Unique in a run.
std::uint64_t value_in(std::span<const std::byte> record_value);
/// Values are made of the client's number and a counter, and are never 0.
std::uint64_t make_value(checker::ClientId client, std::int64_t counter);
/// The data records at and past `from` in an answer's batches. Empty if they are not well-formed batches: the caller
/// drops the answer as a client would.
std::optional<std::vector<checker::ReadRecord>> records_in(const Bytes& batches, Offset from, Offset& next);

}  // namespace tidelock::scenarios
