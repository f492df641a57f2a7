/// tidelockd put together: one broker, its clients, its peers, its operators, from start to a graceful stop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>

#include "tools/tidelockd/broker_loop.h"
#include "tools/tidelockd/data_directory.h"
#include "tools/tidelockd/event_log.h"
#include "tools/tidelockd/http_server.h"
#include "tools/tidelockd/kafka_listener.h"
#include "tools/tidelockd/metrics.h"
#include "tools/tidelockd/observation_log.h"
#include "tools/tidelockd/peer_links.h"
#include "tools/tidelockd/settings.h"

namespace tidelock::tidelockd {

/// Exit status of a broker that was to write down what it does and could not.
inline constexpr int kObservationsLost = 74;

class Daemon {
  public:
    Daemon(Settings settings, DataDirectory directory, EventLog& log);
    /// From the beginning on.
    void write_observations(ObservationLog log) { observations_.emplace(std::move(log)); }
    /// Listens and boots. Empty: it runs; else what hinders it.
    [[nodiscard]] std::string start();
    /// Until SIGTERM or SIGINT has ended it, or the core has refused to start. 0: stopped as asked.
    [[nodiscard]] int run();

  private:
    /// Who does not know the token is turned away, before anything it sends is read.
    [[nodiscard]] std::optional<HttpAnswer> admit_peer(const HttpRequest& request);
    [[nodiscard]] HttpAnswer on_peer_request(const HttpRequest& request);
    [[nodiscard]] HttpAnswer on_operator_request(const HttpRequest& request);
    [[nodiscard]] bool is_authorized(const HttpRequest& request) const;
    void on_observation(const broker::Observation& observation);
    void await_signal();
    void stop_gracefully();
    void stop();

    Settings settings_;
    DataDirectory directory_;
    EventLog& log_;
    boost::asio::io_context io_;  // no hint: what threads post and what the loop posts stay in one order
    BrokerLoop loop_;
    KafkaListener clients_;
    std::unique_ptr<PeerLinks> peers_;
    std::unique_ptr<HttpServer> peer_server_;
    std::unique_ptr<HttpServer> operator_server_;
    Metrics metrics_;
    std::optional<ObservationLog> observations_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer patience_;
    bool is_stopping_ = false;
    int exit_status_ = 0;
};

}  // namespace tidelock::tidelockd
