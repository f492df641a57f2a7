/// A client's side of the Kafka wire: what its story asks becomes a Kafka request in a version drawn for this client,
/// and Kafka's answer becomes one of ours again. So the same stories are told through the gateway, and judged alike.
///
/// Kafka has fewer words than we have: where one of its errors stands for several of ours, the answer is the one that
/// promises least.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "protocol/base/result.h"
#include "protocol/clients/messages.h"
#include "protocol/kafka/messages.h"
#include "sim/rng.h"

namespace tidelock::scenarios {

class KafkaDoor {
  public:
    KafkaDoor(std::uint64_t seed, std::int32_t client);

    /// The frame to send, without its size; empty: the wire has no such request.
    std::optional<Bytes> ask(const clients::Request& request);
    /// Whether anybody answers; a produce with acks 0 is not.
    [[nodiscard]] static bool is_answered(const clients::Request& request);
    /// Nothing for an answer that nobody waits for any more; an error for bytes that are no answer.
    Result<std::optional<clients::Answer>, DecodeError> take(const Bytes& content);
    /// Whoever was asked answers no more.
    void forget() { asked_.clear(); }

  private:
    struct Asked {
        kafka::ApiKey key{};
        kafka::Version version = 0;
        clients::Request request;
    };
    [[nodiscard]] kafka::Version draw_version(kafka::ApiKey key, kafka::Version first);

    sim::Rng random_;
    std::string client_id_;
    std::map<std::int32_t, Asked> asked_;  // by correlation id
};

}  // namespace tidelock::scenarios
