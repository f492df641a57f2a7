/// TCP connections to brokers that speak Kafka, for clients that live in a simulated world: frames in, frames out,
/// never blocking. One thread.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/time.h"

namespace tidelock::live {

/// Names a connection; never used twice.
using WireId = std::uint64_t;

/// Something came over a connection: a frame's content, or its end (refused, reset, closed, or no Kafka frame).
struct WireNews {
    WireId wire = 0;
    std::optional<Bytes> content;
};

class BrokerWires {
  public:
    BrokerWires() = default;
    ~BrokerWires();
    BrokerWires(const BrokerWires&) = delete;
    BrokerWires& operator=(const BrokerWires&) = delete;

    /// Begins to connect. What is sent meanwhile waits; a refusal is told as the connection's end.
    WireId open(const sockaddr_in& to);
    /// Sends one frame: its size, then this.
    void send(WireId wire, const Bytes& content);
    /// Nothing is told of it any more.
    void close(WireId wire);
    /// What has come, waiting at most so long for the first of it.
    std::vector<WireNews> await_news(Duration at_most);

  private:
    struct Wire {
        int descriptor = -1;
        std::vector<std::byte> unsent;
        std::vector<std::byte> unread;
        bool is_over = false;  // to be told
    };
    void write_some(Wire& wire);
    void read_some(WireId id, Wire& wire, std::vector<WireNews>& news);

    std::map<WireId, Wire> wires_;
    WireId next_ = 1;
};

}  // namespace tidelock::live
