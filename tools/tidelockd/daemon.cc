#include "tools/tidelockd/daemon.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "protocol/broker/peer_message.h"
#include "tools/tidelockd/peer_routes.h"

namespace tidelock::tidelockd {
namespace {

constexpr auto kHandOverPatience = std::chrono::seconds(5);
constexpr std::size_t kOperatorBodyMax = 64 << 10;

HttpAnswer plain(int status, std::string text) {
    return {status, "text/plain; charset=utf-8", std::move(text)};
}
HttpAnswer json(std::string text) {
    return {200, "application/json", std::move(text)};
}

/// Takes as long whatever is different.
bool is_same_secret(std::string_view given, std::string_view secret) {
    unsigned difference = given.size() == secret.size() ? 0 : 1;
    for (std::size_t i = 0; i < secret.size(); ++i)
        difference |=
            static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(i < given.size() ? given[i] : '\0');
    return difference == 0;
}

/// What is worth a line of the log in the ordinary course of things.
struct LevelOf {
    using Answer = std::optional<Level>;
    Answer operator()(const broker::Started&) const { return Level::kInfo; }
    Answer operator()(const broker::RefusedToStart&) const { return Level::kError; }
    Answer operator()(const broker::DataIncarnationRenewed&) const { return Level::kWarning; }
    Answer operator()(const broker::RaftLeaderElected&) const { return Level::kInfo; }
    Answer operator()(const broker::RaftLeaderSteppedDown&) const { return Level::kInfo; }
    Answer operator()(const broker::LeaderServing&) const { return Level::kInfo; }
    Answer operator()(const broker::LeadershipEnded&) const { return Level::kInfo; }
    Answer operator()(const broker::FollowingLeader&) const { return Level::kInfo; }
    Answer operator()(const broker::InSyncSetCommitted&) const { return Level::kInfo; }
    Answer operator()(const broker::UnderReplicatedPartitions&) const { return Level::kWarning; }
    Answer operator()(const broker::TopicCreated&) const { return Level::kInfo; }
    Answer operator()(const broker::TopicGrown&) const { return Level::kInfo; }
    Answer operator()(const broker::TopicHidden&) const { return Level::kInfo; }
    Answer operator()(const broker::TopicDropped&) const { return Level::kInfo; }
    Answer operator()(const broker::LogTruncated&) const { return Level::kInfo; }
    Answer operator()(const broker::LogReset&) const { return Level::kInfo; }
    Answer operator()(const broker::DamageFound&) const { return Level::kError; }
    Answer operator()(const broker::LogFailed&) const { return Level::kError; }
    Answer operator()(const broker::LogReopened&) const { return Level::kInfo; }
    Answer operator()(const broker::ProtocolViolationRefused&) const { return Level::kError; }
    Answer operator()(const broker::ProducerRefused&) const { return Level::kInfo; }
    Answer operator()(const broker::GroupChanged&) const { return Level::kInfo; }
    template <typename Other>
    Answer operator()(const Other&) const {
        return std::nullopt;
    }
};

}  // namespace

Daemon::Daemon(Settings settings, DataDirectory directory, EventLog& log)
    : settings_(std::move(settings)),
      directory_(std::move(directory)),
      log_(log),
      loop_(io_, settings_, directory_.descriptor()),
      clients_(io_, settings_, loop_, log_),
      signals_(io_),
      patience_(io_) {}

std::string Daemon::start() {
    const bool has_peers = !settings_.peers.empty();
    auto server_tls = make_tls_context(settings_.peer_tls, TlsSide::kServer);
    auto client_tls = make_tls_context(settings_.peer_tls, TlsSide::kClient);
    if (!server_tls) return server_tls.error();
    if (!client_tls) return client_tls.error();
    peers_ = std::make_unique<PeerLinks>(io_, settings_, loop_, log_, *client_tls);
    loop_.attach(*peers_, clients_, [this](const broker::Observation& observation) { on_observation(observation); });
    clients_.on_answered([this](kafka::ApiKey api, Duration took) { metrics_.on_answered(api, took); });
    if (std::string error = clients_.listen(); !error.empty()) return error;
    if (has_peers) {
        const auto body_max = static_cast<std::size_t>(settings_.broker.fetch_bytes_max) * 4 + (64U << 20U);
        peer_server_ = std::make_unique<HttpServer>(
            io_,
            HttpServerConfig{"peers", settings_.peer_listen, body_max, 256, *server_tls,
                             [this](const HttpRequest& request) { return admit_peer(request); }},
            log_, [this](const HttpRequest& request) { return on_peer_request(request); },
            [this](BrokerId gone) { loop_.on_peer_disconnected(gone); });
        if (std::string error = peer_server_->listen(); !error.empty())
            return "Server.Replication.ReplicatePort: " + error;
    }
    if (settings_.metrics_listen.port != 0) {
        operator_server_ = std::make_unique<HttpServer>(
            io_, HttpServerConfig{"metrics", settings_.metrics_listen, kOperatorBodyMax, 64, nullptr, {}}, log_,
            [this](const HttpRequest& request) { return on_operator_request(request); });
        if (std::string error = operator_server_->listen(); !error.empty()) return "Metrics.Port: " + error;
    }
    auto content = directory_.read();
    if (!content) return content.error();
    for (const std::string& name : content->strangers)
        log_.write_limited(Level::kWarning, "stranger", "this file is none of the broker's: left alone",
                           {{"file", name}});
    await_signal();
    loop_.boot(std::move(content->image));
    peers_->start();
    log_.write(Level::kInfo, "listening", {},
               {{"clients", to_text({settings_.client_listen.host, clients_.port()})},
                {"replica", std::to_string(settings_.broker.id.value)},
                {"members", std::to_string(settings_.broker.members.size())}});
    return {};
}

int Daemon::run() {
    io_.run();
    return exit_status_;
}

bool Daemon::is_authorized(const HttpRequest& request) const {
    return settings_.peer_token.empty() || is_same_secret(request.bearer_token, settings_.peer_token);
}

std::optional<HttpAnswer> Daemon::admit_peer(const HttpRequest& request) {
    if (is_authorized(request)) return std::nullopt;
    log_.write_limited(Level::kWarning, "wrong-token", "a request with another token than ours was refused",
                       {{"from", request.from}, {"path", request.path}});
    return plain(401, "the token is wrong or missing: Server.Replication.Token has to be the same on all brokers\n");
}

HttpAnswer Daemon::on_peer_request(const HttpRequest& request) {
    if (request.path == "/replication/status" && request.method == "GET") return json(status_json(loop_.broker()));
    if (!is_peer_route(request.path)) return plain(404, "no such route\n");
    if (request.method != "POST") return plain(405, "messages between brokers are posted\n");
    const auto& members = settings_.broker.members;
    const bool is_member = request.broker && *request.broker != settings_.broker.id &&
                           std::ranges::find(members, *request.broker) != members.end();
    if (!is_member) return plain(400, fmt::format("{} has to name another broker of this group\n", kBrokerHeader));
    auto message = broker::decode_frame(request.body);
    if (!message) return plain(400, fmt::format("{}\n", message.error().what));
    if (route_of(*message) != request.path) return plain(400, "this message has another route\n");
    loop_.on_peer_message(*request.broker, std::move(*message));
    return {};
}

HttpAnswer Daemon::on_operator_request(const HttpRequest& request) {
    if (request.method != "GET") return plain(405, "only GET is answered here\n");
    const broker::Broker& broker = loop_.broker();
    if (request.path == "/healthz") return plain(200, "ok\n");
    if (request.path == "/readyz") {
        const bool is_ready = broker.lifecycle == broker::Lifecycle::kRunning && broker.known_leader.value != 0 &&
                              (!broker.leading || broker::is_serving(broker)) && !is_stopping_;
        return is_ready ? plain(200, "ok\n") : plain(503, "no leader is known, or it does not serve yet\n");
    }
    const PeerCounters* peers = settings_.peers.empty() ? nullptr : &peers_->counters();
    const MetricsView view{broker, clients_.counters(),     clients_.connection_count(), clients_.buffered_bytes(),
                           peers,  loop_.files().counters()};
    if (request.path == "/metrics")
        return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_.to_prometheus(view)};
    if (request.path == "/stats") return json(metrics_.to_json(view));
    if (request.path == "/replication/status") {
        if (is_authorized(request)) return json(status_json(broker));
        return plain(401, "the token is wrong or missing\n");
    }
    return plain(404, "try /metrics, /stats, /healthz, /readyz or /replication/status\n");
}

void Daemon::on_observation(const broker::Observation& observation) {
    if (observations_ && !observations_->write(observation)) {
        log_.write(Level::kError, "observations-end", "they cannot be written down any more: the disk is full?");
        observations_.reset();
        exit_status_ = kObservationsLost;
        stop();
    }
    metrics_.on_observation(observation);
    if (const auto level = std::visit(LevelOf{}, observation))
        log_.write_limited(*level, *level >= Level::kWarning ? "broker-warning" : "broker",
                           broker::to_text(observation));
    if (!std::holds_alternative<broker::RefusedToStart>(observation)) return;
    log_.write(Level::kError, "refused-to-start",
               settings_.peers.empty()
                   ? "bring back the data directory from a copy, or `tidelockd --rejoin-as-empty` to begin without data"
                   : "a replica of a whole group is filled again after `tidelockd --rejoin-as-empty`; while others of "
                     "the group are damaged too, bring back the data directory first");
    exit_status_ = 1;
    stop();
}

/// Before, while the directory is read, a signal ends the process as it ends any other: nothing is lost.
void Daemon::await_signal() {
    boost::system::error_code ignored;
    signals_.add(SIGTERM, ignored);
    signals_.add(SIGINT, ignored);
    signals_.async_wait([this](const boost::system::error_code& error, int) {
        if (error) return;
        if (is_stopping_) return stop();  // asked twice: at once
        await_signal();
        stop_gracefully();
    });
}

/// Somebody else leads before this broker goes, as far as that can be had; clients find their way meanwhile.
void Daemon::stop_gracefully() {
    is_stopping_ = true;
    log_.write(Level::kInfo, "stopping", "gives the leadership up, if it has it");
    clients_.stop_accepting();
    patience_.expires_after(kHandOverPatience);
    patience_.async_wait([this](const boost::system::error_code& cancelled) {
        if (!cancelled) stop();
    });
    loop_.hand_over([this] { stop(); });
}

void Daemon::stop() {
    boost::asio::post(io_, [this] {
        clients_.stop_accepting();
        clients_.close_all("this broker stops");
        if (peer_server_) peer_server_->stop();
        if (operator_server_) operator_server_->stop();
        if (peers_) peers_->stop();
        log_.write(Level::kInfo, "stopped", {});
        io_.stop();
    });
}

}  // namespace tidelock::tidelockd
