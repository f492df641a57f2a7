/// Connections to the other brokers, one each, kept open: messages leave as HTTP/1.1 requests, one after the other
/// without waiting for answers in between, which only say that they came. A link that breaks is told to the core at
/// once (R6) and made again, soon at first; what was on its way is lost, which the core expects.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <map>
#include <memory>

#include "tools/tidelockd/broker_loop.h"
#include "tools/tidelockd/event_log.h"
#include "tools/tidelockd/net_stream.h"
#include "tools/tidelockd/settings.h"

namespace tidelock::tidelockd {

struct PeerCounters {
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;  // there was no connection, or too much unsent
    std::uint64_t connects = 0;
    std::uint64_t breaks = 0;
};

class PeerLinks final : public PeerSender {
  public:
    PeerLinks(boost::asio::io_context& io, const Settings& settings, BrokerLoop& loop, EventLog& log,
              std::shared_ptr<ssl::context> tls);
    ~PeerLinks() override;

    /// Begins to connect.
    void start();
    void stop();
    void send(BrokerId to, const broker::PeerMessage& message) override;
    [[nodiscard]] const PeerCounters& counters() const { return counters_; }

  private:
    class Link;

    boost::asio::io_context& io_;
    const Settings& settings_;
    BrokerLoop& loop_;
    EventLog& log_;
    std::shared_ptr<ssl::context> tls_;
    std::map<BrokerId, std::shared_ptr<Link>> links_;
    PeerCounters counters_;
};

}  // namespace tidelock::tidelockd
