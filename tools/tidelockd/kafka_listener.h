/// Kafka clients on TCP: accepts them, cuts their bytes into frames and writes their answers, within bounds: so many
/// connections, so much of a request before it is complete, so much unsent, and of both so much in all. A client that
/// is slow, silent or malformed costs itself its connection, nobody else.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/tidelockd/broker_loop.h"
#include "tools/tidelockd/event_log.h"
#include "tools/tidelockd/settings.h"

namespace tidelock::tidelockd {

/// What has happened at the door, for metrics.
struct ClientCounters {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  // too many connections, or no descriptor left
    std::uint64_t malformed = 0;
    std::uint64_t timed_out = 0;
    std::uint64_t shed = 0;  // so that all of them together hold no more than they may
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
};

class KafkaListener final : public ClientSender {
  public:
    KafkaListener(boost::asio::io_context& io, const Settings& settings, BrokerLoop& loop, EventLog& log);
    ~KafkaListener() override;

    /// Empty: it listens; else why not.
    [[nodiscard]] std::string listen();
    /// The port listened to, for who asked for any (0).
    [[nodiscard]] std::uint16_t port() const;
    using OnAnswered = std::function<void(kafka::ApiKey, Duration)>;
    /// Told of every answer and how long it took.
    void on_answered(OnAnswered observer) { on_answered_ = std::move(observer); }
    /// Takes no more clients; those there are stay.
    void stop_accepting();

    void send(const gateway::SendFrame& frame) override;
    void close(ConnectionId connection, const std::string& why) override;
    void close_all(const std::string& why) override;
    void pause(ConnectionId connection) override;
    void resume(ConnectionId connection) override;

    [[nodiscard]] std::size_t connection_count() const { return clients_.size(); }
    /// Parts of requests and unsent answers of all clients.
    [[nodiscard]] std::size_t buffered_bytes() const { return buffered_bytes_; }
    [[nodiscard]] const ClientCounters& counters() const { return counters_; }

  private:
    class Client;
    friend class Client;

    void accept();
    void on_accepted(boost::asio::ip::tcp::socket socket);
    void on_accept_failed(const boost::system::error_code& error);
    [[nodiscard]] std::shared_ptr<Client> find(ConnectionId connection) const;
    void forget(ConnectionId connection);
    void shed_load();
    void look_at_idle();

    boost::asio::io_context& io_;
    const Settings& settings_;
    BrokerLoop& loop_;
    EventLog& log_;
    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer retry_;
    boost::asio::steady_timer idle_;
    std::vector<std::byte> arrived_;  // what one read has brought, of any client
    std::map<ConnectionId, std::shared_ptr<Client>> clients_;
    std::uint64_t last_id_ = 0;
    std::size_t buffered_bytes_ = 0;
    ClientCounters counters_;
    OnAnswered on_answered_;
};

}  // namespace tidelock::tidelockd
