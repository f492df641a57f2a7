/// A broker on a simulated machine: turns arrivals into events, carries effects out, and lets watchers see every
/// observation.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "checker/host_fact.h"
#include "protocol/broker/broker.h"
#include "protocol/gateway/gateway.h"
#include "scenarios/answer_witness.h"
#include "scenarios/damage_witness.h"
#include "scenarios/durable_promise.h"
#include "scenarios/fetch_fairness.h"
#include "scenarios/producer_topic_witness.h"
#include "sim/world.h"

namespace tidelock::scenarios {

/// Hosts 1 to kBrokerHostMax are brokers; a broker's host id is its broker id.
inline constexpr std::int32_t kBrokerHostMax = 99;
inline sim::HostId host_of(BrokerId broker) {
    return sim::HostId(broker.value);
}
inline BrokerId broker_of(sim::HostId host) {
    return BrokerId(host.value);
}
inline bool is_broker_host(sim::HostId host) {
    return host.value >= 1 && host.value <= kBrokerHostMax;
}

/// Frame kinds on the simulated wire, for loss by kind: peers' messages by broker::kind_number, then these.
inline constexpr std::uint8_t kClientRequestKind = 40;
inline constexpr std::uint8_t kClientAnswerKind = 41;
/// Client frames: CRC-32C (u32) of the rest, then the encoded request or answer.
Bytes encode_client_frame(const clients::Request& request);
Bytes encode_client_frame(const clients::Answer& answer);
/// Frames of the Kafka wire, without their size: the checksum is marked as theirs, and stands for TCP's.
Bytes encode_kafka_frame(const Bytes& content);
/// The content of such a frame; empty for any other.
std::optional<Bytes> decode_kafka_frame(const Bytes& frame);
Result<clients::Request, DecodeError> decode_request_frame(const Bytes& frame);
Result<clients::Answer, DecodeError> decode_answer_frame(const Bytes& frame);

/// What the layer above wants to see. Both must outlive the host.
struct BrokerWatch {
    std::function<void(sim::Host& host, const broker::Observation& observation)> on_observation;
    /// Right after it was handed to the disk.
    std::function<void(sim::Host& host, const storage::FileEffect& effect)> on_file_effect;
    /// After every step: the broker between two events.
    std::function<void(sim::Host& host, const broker::Broker& broker)> on_stepped;
    /// What the checker cannot learn from the broker: who answered it, and promises that are not durable.
    std::function<void(const checker::HostFact& fact)> on_fact;
};

/// One broker over all its lives. Volatile state is the `broker` value of the running life; the disk is the host's.
class BrokerHost {
  public:
    BrokerHost(broker::Config config, BrokerWatch watch);

    /// The story of one life; give it to World::set_boot_story and World::spawn.
    void run(sim::Host& host);
    /// `static` only: hands an operator's command to the broker by World::post.
    void command_role(sim::World& world, broker::RoleCommanded command);
    /// The broker of the running life; null while the host is down.
    [[nodiscard]] const broker::Broker* broker() const { return broker_.get(); }
    [[nodiscard]] const broker::Config& config() const { return config_; }
    /// How many reads it has asked its disk for, in all its lives.
    [[nodiscard]] std::uint64_t reads_asked() const { return reads_asked_; }
    /// The answers to the first `count` of them have been handled, or came too late for the life that asked.
    [[nodiscard]] bool has_answers_to(std::uint64_t count) const {
        return reads_under_way_.empty() || reads_under_way_.front().number > count;
    }
    /// Nobody judges: what only BrokerWatch::on_fact would learn is not looked for.
    void stop_telling_facts() { watch_.on_fact = nullptr; }
    /// Of the next life on: a mixed configuration is a fault like others.
    void set_config(broker::Config config) { config_ = std::move(config); }
    /// Of the next life on: whether recovery takes promised sealed segments by their index files (L4).
    void trust_sealed_indexes(bool trusts) { config_.trusts_sealed_indexes = trusts; }
    /// Of the next life on: requests and answers under way, of one Kafka connection.
    void limit_gateway(std::int64_t bytes_max) { gateway_bytes_max_ = bytes_max; }

  private:
    void carry_out(sim::Host& host, const broker::Effect& effect);
    std::optional<broker::Event> to_event(sim::Host& host, const sim::Arrival& arrival);
    std::optional<broker::Event> frame_to_event(sim::Host& host, const sim::FrameArrived& arrived);
    void step(sim::Host& host, const broker::Event& event);
    void send_to_peer(sim::Host& host, const broker::SendToPeer& message);
    void tell_leading(sim::Host& host, bool by_timer);
    void check_state();
    void tell_overdue(sim::Host& host, bool by_timer);
    void tell_untold(sim::Host& host);
    void tell_opening(sim::Host& host);
    void tell_forgotten(const storage::DirectoryImage& image);
    void note_log_start(const clients::PartitionName& name, Offset log_start_offset);
    void note_answer(const broker::AnswerClient& answered);
    void forget_client(ConnectionId connection);
    void take_kafka_frame(sim::Host& host, ConnectionId connection, const Bytes& content);
    void give_to_gateway(sim::Host& host, ConnectionId kafka_side, const Bytes& content);
    void resume(sim::Host& host, ConnectionId kafka_side);
    void carry_out(sim::Host& host, gateway::Effects& effects);
    void handle_asked(sim::Host& host);
    void note_arrival(sim::Host& host, BrokerId from, const broker::PeerMessage& message);

    struct ReadUnderWay {
        sim::DiskOp op;
        std::uint64_t number;  // as reads_asked() counts
    };
    broker::Config config_;
    BrokerWatch watch_;
    std::unique_ptr<broker::Broker> broker_;
    std::vector<ConnectionId> connections_;  // open client connections, in order of their first request
    std::int64_t gateway_bytes_max_ = gateway::GatewayConfig().request_bytes_max;
    gateway::Gateway gateway_;                          // of the running life
    std::map<ConnectionId, std::deque<Bytes>> unread_;  // frames of connections that are not read from just now
    std::deque<broker::Event> asked_;                   // by the gateway, in the present event
    std::optional<broker::RoleCommanded> role_command_;
    PromiseWatch promises_;                  // of the running life
    AnswerWitness answers_;                  // ... too
    ConfirmedWriters writers_;               // ... too
    FetchFairness fairness_;                 // ... too
    std::optional<raft::Node> raft_before_;  // at the last check of it
    std::uint32_t timers_fired_ = 0;
    ToldLogStarts told_log_starts_;                  // ... too
    std::optional<TopicPartition> log_start_moved_;  // in the present step
    bool has_begun_to_serve_ = false;                // ... too
    std::uint32_t log_starts_moved_ = 0;
    DamageWitness damage_;                       // of all lives on this disk
    std::vector<ReadUnderWay> reads_under_way_;  // in the order they were asked for
    std::uint64_t reads_asked_ = 0;
};

}  // namespace tidelock::scenarios
