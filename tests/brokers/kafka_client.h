/// A Kafka client for tests: one connection, one request at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "protocol/kafka/messages.h"

namespace tidelock::tests {

class KafkaClient {
  public:
    /// Not connected if nobody listens there.
    explicit KafkaClient(std::uint16_t port);
    ~KafkaClient();
    KafkaClient(const KafkaClient&) = delete;
    KafkaClient& operator=(const KafkaClient&) = delete;

    [[nodiscard]] bool is_connected() const { return socket_ >= 0; }
    /// Empty: the connection ended, or five seconds passed.
    template <typename Response, typename Request>
    std::optional<Response> call(const Request& request, kafka::Version version) {
        auto answer = exchange({version, ++correlation_, "test", request}, Request::kApi);
        if (!answer || !std::holds_alternative<Response>(answer->body)) return std::nullopt;
        return std::get<Response>(std::move(answer->body));
    }
    /// Bytes as they are.
    bool write(std::span<const std::byte> bytes);
    /// Whether the other side has ended the connection within five seconds.
    [[nodiscard]] bool is_ended();

  private:
    std::optional<kafka::Response> exchange(const kafka::Request& request, kafka::ApiKey api);
    bool read(std::span<std::byte> into);
    void close();

    int socket_ = -1;
    std::int32_t correlation_ = 0;
};

/// A port of loopback that nobody listens to, and that is given to no other test while this process lives.
std::uint16_t free_port();

}  // namespace tidelock::tests
