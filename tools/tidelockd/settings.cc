#include "tools/tidelockd/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "scenarios/json_reader.h"

namespace tidelock::tidelockd {
namespace {

using scenarios::Complaint;
using scenarios::ObjectReader;
using scenarios::Range;

constexpr Range kPorts{0, 65'535};
constexpr Range kBrokerIds{1, 1'000'000};
constexpr Range kMilliseconds{1, 600'000};
constexpr Range kGraceMilliseconds{0, 600'000};  // 0: a member has all of its lag
constexpr Range kSecondsRange{1, 86'400};

std::int64_t integer(ObjectReader& in, std::string_view key, Range bounds, std::int64_t otherwise) {
    std::int64_t value = otherwise;
    in.integer(key, bounds, value);
    return value;
}

/// `host:port` under a key; leaves `out` as it was when the key is absent.
void address(ObjectReader& in, std::string_view key, HostPort& out) {
    if (!in.has(key)) return;
    std::string text;
    in.string(key, text);
    const auto parsed = parse_host_port(text);
    if (!parsed || parsed->port == 0) return in.complain(key, "an address is written host:port, as 192.0.2.1:9092");
    out = *parsed;
}

void read_tls(ObjectReader& parent, std::string_view key, TlsSettings& tls) {
    const nlohmann::json* value = parent.member(key);
    if (value == nullptr) return;
    ObjectReader in(*value, parent.path_of(key), parent.complaint());
    in.require("Certificate");
    in.require("Key");
    in.string("Certificate", tls.certificate);
    in.string("Key", tls.key);
    in.string("Authorities", tls.authorities);
    static constexpr std::string_view kVerify[] = {"none", "required"};
    std::int64_t verify = 0;
    in.choice("Verify", kVerify, verify);
    tls.verify = verify == 1 ? TlsVerify::kRequired : TlsVerify::kNone;
    if (tls.verify == TlsVerify::kRequired && tls.authorities.empty())
        in.complain("Authorities", "Verify required needs the authorities whose certificates are taken");
    in.finish();
}

void read_peer(const nlohmann::json& value, const std::string& path, Complaint& complaint, Settings& settings) {
    ObjectReader in(value, path, complaint);
    for (const char* key : {"Id", "Address", "ClientAddress"}) in.require(key);
    PeerSettings peer;
    peer.id = BrokerId(static_cast<std::int32_t>(integer(in, "Id", kBrokerIds, 1)));
    address(in, "Address", peer.address);
    address(in, "ClientAddress", peer.client_address);
    in.finish();
    const bool is_known = peer.id == settings.broker.id ||
                          std::ranges::find(settings.peers, peer.id, &PeerSettings::id) != settings.peers.end();
    if (is_known) in.complain("Id", "another broker of this group has the same Id");
    settings.peers.push_back(std::move(peer));
}

void read_peers(ObjectReader& replication, Settings& settings) {
    const nlohmann::json* peers = replication.member("Peers");
    if (peers == nullptr) return;
    if (!peers->is_array()) return replication.complain("Peers", "is a list of brokers");
    for (std::size_t at = 0; at < peers->size(); ++at)
        read_peer((*peers)[at], fmt::format("{}[{}]", replication.path_of("Peers"), at), replication.complaint(),
                  settings);
}

/// Whether the group elects its leader.
bool read_failover(ObjectReader& replication, broker::Config& broker) {
    const nlohmann::json* value = replication.member("Failover");
    if (value == nullptr) return false;
    ObjectReader in(*value, replication.path_of("Failover"), replication.complaint());
    bool is_on = false;
    in.boolean("Enabled", is_on);
    broker.election_timeout_min =
        milliseconds(integer(in, "ElectionTimeoutMinMs", kMilliseconds, broker.election_timeout_min.value / 1'000'000));
    broker.election_timeout_max =
        milliseconds(integer(in, "ElectionTimeoutMaxMs", kMilliseconds, broker.election_timeout_max.value / 1'000'000));
    broker.heartbeat_interval =
        milliseconds(integer(in, "HeartbeatMs", kMilliseconds, broker.heartbeat_interval.value / 1'000'000));
    broker.isr_lag = seconds(integer(in, "IsrLagSeconds", kSecondsRange, broker.isr_lag.value / 1'000'000'000));
    broker.disconnect_grace =
        milliseconds(integer(in, "DisconnectGraceMs", kGraceMilliseconds, broker.disconnect_grace.value / 1'000'000));
    broker.raft_log_entries_max =
        static_cast<std::int32_t>(integer(in, "MaxLogEntries", {8, 1'000'000}, broker.raft_log_entries_max));
    in.finish();
    if (broker.election_timeout_max < broker.election_timeout_min)
        in.complain("ElectionTimeoutMaxMs", "is below ElectionTimeoutMinMs");
    if (broker.heartbeat_interval * 2 > broker.election_timeout_min)
        in.complain("HeartbeatMs", "is to be half of ElectionTimeoutMinMs at most");
    return is_on;
}

void read_role(ObjectReader& replication, broker::Config& broker) {
    static constexpr std::string_view kRoles[] = {"leader", "follower", "both"};
    std::int64_t role = 2;
    replication.choice("Role", kRoles, role);
    broker.role = static_cast<broker::ConfiguredRole>(role);
}

void read_static(ObjectReader& replication, Settings& settings) {
    broker::Config& broker = settings.broker;
    broker.preset = broker::Preset::kStatic;
    if (broker.role == broker::ConfiguredRole::kLeader) {
        broker.static_leader = broker.id;
    } else {
        std::int64_t leader = 0;
        replication.require("Leader");
        replication.integer("Leader", kBrokerIds, leader);
        broker.static_leader = BrokerId(static_cast<std::int32_t>(leader));
        const bool is_peer =
            std::ranges::find(settings.peers, broker.static_leader, &PeerSettings::id) != settings.peers.end();
        if (!is_peer) replication.complain("Leader", "is the Id of the peer that this broker follows");
    }
    if (replication.has("LagMax"))
        broker.replica_lag_records_max = integer(replication, "LagMax", {0, 1'000'000'000}, 0);
    if (replication.has("ReplicaLagTimeoutMs"))
        broker.replica_lag_timeout = milliseconds(integer(replication, "ReplicaLagTimeoutMs", kMilliseconds, 10'000));
}

void take_members(ObjectReader& replication, Settings& settings) {
    broker::Config& broker = settings.broker;
    broker.members = {broker.id};
    for (const PeerSettings& peer : settings.peers) broker.members.push_back(peer.id);
    std::ranges::sort(broker.members);
    const auto count = static_cast<std::int64_t>(broker.members.size());
    broker.min_insync_replicas = static_cast<std::int32_t>(integer(
        replication, "MinInsyncReplicas", {1, count}, broker.preset == broker::Preset::kGroup ? count / 2 + 1 : 1));
    for (const PeerSettings& peer : settings.peers)
        settings.gateway.endpoints[peer.id] = {peer.client_address.host, peer.client_address.port};
}

void read_replication(ObjectReader& server, Settings& settings, bool& has_failover) {
    const nlohmann::json* value = server.member("Replication");
    if (value == nullptr) return;
    ObjectReader in(*value, server.path_of("Replication"), server.complaint());
    bool is_on = true;
    in.boolean("Enabled", is_on);
    broker::Config& broker = settings.broker;
    broker.id = BrokerId(static_cast<std::int32_t>(integer(in, "ReplicaId", kBrokerIds, 1)));
    read_role(in, broker);
    settings.peer_listen = {"127.0.0.1", 9095};
    in.string("ReplicateHost", settings.peer_listen.host);
    settings.peer_listen.port = static_cast<std::uint16_t>(integer(in, "ReplicatePort", kPorts, 9095));
    address(in, "ClientAddress", settings.client_advertised);
    in.string("Token", settings.peer_token);
    settings.ack_timeout = seconds(integer(in, "AckTimeout", {1, 3'600}, 30));
    read_tls(in, "Tls", settings.peer_tls);
    read_peers(in, settings);
    has_failover = read_failover(in, broker);
    if (is_on && !has_failover)
        read_static(in, settings);
    else
        for (const char* key : {"Leader", "LagMax", "ReplicaLagTimeoutMs"})
            if (is_on && in.has(key)) in.complain(key, "belongs to static replication; Failover is enabled");
    if (is_on) take_members(in, settings);
    if (is_on && !settings.peers.empty() && settings.peer_listen.port == 0)
        in.complain("ReplicatePort", "peers need a port that they know, not 0");
    const auto is_plain = [](unsigned char c) { return c > ' ' && c < 0x7F; };
    if (!std::ranges::all_of(settings.peer_token, is_plain))
        in.complain("Token", "is printable ASCII without blanks, as it travels in an HTTP header");
    in.finish();
    if (!is_on) {
        const broker::Config alone = default_settings().broker;
        broker.id = alone.id;
        broker.members = alone.members;
        broker.preset = alone.preset;
        broker.role = alone.role;
        broker.static_leader = alone.static_leader;
        broker.min_insync_replicas = alone.min_insync_replicas;
        settings.peer_tls = {};
        settings.gateway.endpoints.clear();
        settings.peers.clear();
        settings.peer_listen = {};
        has_failover = false;
    }
}

void read_metrics(ObjectReader& root, Settings& settings) {
    const nlohmann::json* value = root.member("Metrics");
    if (value == nullptr) return;
    ObjectReader in(*value, "Metrics", root.complaint());
    settings.metrics_listen.host = "127.0.0.1";
    in.string("Host", settings.metrics_listen.host);
    settings.metrics_listen.port = static_cast<std::uint16_t>(integer(in, "Port", kPorts, 0));
    in.finish();
}

/// Parts of the seeds' configuration that belong to presets of their own.
void read_cluster(ObjectReader& parent, std::string_view key, bool has_failover) {
    const nlohmann::json* value = parent.member(key);
    if (value == nullptr) return;
    if (!value->is_object()) return parent.complain(key, "is an object");
    const auto enabled = value->find("Enabled");
    if (enabled == value->end()) return;
    if (!enabled->is_boolean()) return parent.complain(key, "Enabled is true or false");
    if (!enabled->get<bool>()) return;
    parent.complain(key, has_failover
                             ? "cannot be combined with Server.Replication.Failover: a replication group holds "
                               "one set of data, a cluster splits it (G6)"
                             : "is not available in this build; leave it out or set Enabled to false");
}

void read_limits(ObjectReader& server, Settings& settings) {
    settings.connections_max = static_cast<std::int32_t>(integer(server, "MaxConnections", {1, 1'000'000}, 10'000));
    settings.request_bytes_max =
        static_cast<std::int32_t>(integer(server, "MaxRequestBytes", {1'024, 1 << 30}, 100 << 20));
    settings.buffered_bytes_max =
        integer(server, "MaxBufferedBytes", {1 << 20, std::int64_t{1} << 40}, settings.buffered_bytes_max);
    settings.broker.batch_bytes_max =
        static_cast<std::int32_t>(integer(server, "MaxBatchBytes", {1'024, 256 << 20}, 1 << 20));
    settings.idle_timeout = seconds(integer(server, "IdleSeconds", {10, 86'400}, 600));
    settings.broker.segment_bytes_max =
        static_cast<std::int32_t>(integer(server, "SegmentBytes", {1 << 20, 1 << 30}, 64 << 20));
    bool verifies_at_start = false;
    server.boolean("VerifyAtStart", verifies_at_start);
    settings.broker.trusts_sealed_indexes = !verifies_at_start;
    settings.broker.groups.first_rebalance_delay =
        milliseconds(integer(server, "GroupInitialRebalanceDelayMs", {0, 60'000}, 3'000));
    settings.broker.groups.session_timeout_min =
        milliseconds(integer(server, "GroupMinSessionTimeoutMs", {100, 600'000}, 6'000));
    if (settings.broker.segment_bytes_max < settings.broker.batch_bytes_max)
        server.complain("SegmentBytes", "is below MaxBatchBytes");
    if (server.has("Replication") && settings.broker.batch_bytes_max > (32 << 20))
        server.complain("MaxBatchBytes", "is above 33554432, more than brokers send to each other at once");
    if (settings.request_bytes_max < settings.broker.batch_bytes_max)
        server.complain("MaxRequestBytes", "is below MaxBatchBytes");
    if (settings.buffered_bytes_max < settings.request_bytes_max)
        server.complain("MaxBufferedBytes", "is below MaxRequestBytes");
}

void read_server(ObjectReader& root, Settings& settings, bool& has_failover) {
    const nlohmann::json* value = root.member("Server");
    if (value == nullptr) return;
    ObjectReader in(*value, "Server", root.complaint());
    in.string("Host", settings.client_listen.host);
    settings.client_listen.port = static_cast<std::uint16_t>(integer(in, "Port", kPorts, 9092));
    address(in, "AdvertisedAddress", settings.client_advertised);
    static constexpr std::string_view kAcks[] = {"none", "leader", "all"};
    std::int64_t acks = 2;
    in.choice("Acks", kAcks, acks);  // of clients that do not say; Kafka's all do
    in.boolean("AutoCreateTopics", settings.gateway.creates_topics);
    settings.gateway.partition_count_default =
        static_cast<std::int32_t>(integer(in, "DefaultPartitions", {1, 10'000}, 1));
    read_limits(in, settings);
    read_replication(in, settings, has_failover);
    read_cluster(in, "Cluster", has_failover);
    in.finish();
}

/// Comments and blanks aside, the first character.
char first_character(std::string_view text) {
    while (!text.empty()) {
        if (text.starts_with("//")) {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
        } else if (text.starts_with("/*")) {
            const std::size_t end = text.find("*/");
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
        } else if (std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos) {
            text.remove_prefix(1);
        } else {
            return text.front();
        }
    }
    return '\0';
}

void finish(Settings& settings) {
    if (settings.client_advertised.port == 0) settings.client_advertised = settings.client_listen;
    settings.gateway.self = settings.broker.id;
    settings.gateway.endpoints[settings.broker.id] = {settings.client_advertised.host, settings.client_advertised.port};
    settings.gateway.min_insync_replicas = settings.broker.min_insync_replicas;
    settings.gateway.ack_timeout_max = settings.ack_timeout;
    settings.gateway.request_bytes_max = std::max<std::int64_t>(settings.request_bytes_max, 64 << 20);
}

}  // namespace

std::optional<HostPort> parse_host_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string_view::npos)
        return std::nullopt;  // which colon is the port's?
    std::uint16_t port = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    const bool is_whole = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size() && !digits.empty();
    if (!is_whole || host.empty()) return std::nullopt;
    return HostPort{std::string(host), port};
}

std::string to_text(const HostPort& address) {
    const bool is_v6 = address.host.find(':') != std::string::npos;
    return is_v6 ? fmt::format("[{}]:{}", address.host, address.port)
                 : fmt::format("{}:{}", address.host, address.port);
}

Settings default_settings() {
    Settings settings;
    settings.broker.id = BrokerId(1);
    settings.broker.members = {BrokerId(1)};
    settings.broker.preset = broker::Preset::kGroup;
    settings.broker.min_insync_replicas = 1;
    settings.broker.segment_bytes_max = 64 << 20;
    settings.broker.trusts_sealed_indexes = true;
    settings.broker.journal_bytes_max = 8 << 20;
    settings.gateway.cluster_id = "tidelock";
    finish(settings);
    return settings;
}

Result<Settings, std::string> parse_settings(std::string_view text, std::string_view file) {
    const bool has_braces = first_character(text) != '"';
    const std::string wrapped = has_braces ? std::string(text) : "{" + std::string(text) + "\n}";
    const auto json = scenarios::parse_json(wrapped, file);
    if (!json) return Failure<std::string>(json.error().text);
    Complaint complaint;
    Settings settings = default_settings();
    settings.gateway.endpoints.clear();
    settings.client_advertised = {};
    ObjectReader root(*json, "", complaint);
    root.string("DataDir", settings.data_directory);
    root.string("ClusterId", settings.gateway.cluster_id);
    bool has_failover = false;
    read_server(root, settings, has_failover);
    read_cluster(root, "Autobalance", has_failover);
    read_metrics(root, settings);
    root.finish();
    finish(settings);
    const auto& advertised = settings.client_advertised.host;
    if (advertised == "0.0.0.0" || advertised == "::")
        complaint.add("Server.AdvertisedAddress", "clients cannot connect to " + advertised +
                                                      ": give the address under which they reach this broker");
    if (settings.data_directory.empty()) complaint.add("DataDir", "is empty");
    if (!complaint.is_empty()) return Failure<std::string>(fmt::format("{}: {}", file, complaint.text()));
    return settings;
}

std::string default_settings_text() {
    return R"(// The configuration of a broker that is given none. Every key may be left out.
{
  "DataDir": "tidelock-data",
  "ClusterId": "tidelock",              // as clients see it
  "Server": {
    "Host": "127.0.0.1",                // where clients are listened to
    "Port": 9092,
    // "AdvertisedAddress": "host:port",   as clients are told; default: Host and Port
    "Acks": "all",                      // of clients that do not say
    "AutoCreateTopics": true,           // that a client asks for by name
    "DefaultPartitions": 1,             // of topics for which nobody says how many
    "MaxConnections": 10000,
    "MaxRequestBytes": 104857600,       // a larger request ends its connection
    "MaxBufferedBytes": 536870912,      // unread and unsent, of all clients: beyond it whoever holds most is let go
    "MaxBatchBytes": 1048576,
    "SegmentBytes": 67108864,
    "VerifyAtStart": false,             // also records that were verified when they were written; reads verify them
    "IdleSeconds": 600,                 // a client silent for so long is let go
    "GroupInitialRebalanceDelayMs": 3000,
    "GroupMinSessionTimeoutMs": 6000    // members that ask for less are refused
    // A group of three: the same on each, with its own ids and addresses.
    // "Replication": {
    //   "Enabled": true,
    //   "ReplicaId": 1,
    //   "Role": "both",                // who may lead before anybody has: leader, follower, both
    //   "ReplicateHost": "0.0.0.0",
    //   "ReplicatePort": 9095,
    //   "ClientAddress": "192.0.2.1:9092",
    //   "Token": "known-to-all-three",      // that peers have to know
    //   "AckTimeout": 5,               // seconds; no producer waits longer for its acknowledgement
    //   "MinInsyncReplicas": 2,        // default: a majority
    //   "Tls": { "Certificate": "broker.pem", "Key": "broker.key", "Authorities": "ca.pem", "Verify": "required" },
    //   "Peers": [
    //     { "Id": 2, "Address": "192.0.2.2:9095", "ClientAddress": "192.0.2.2:9092" },
    //     { "Id": 3, "Address": "192.0.2.3:9095", "ClientAddress": "192.0.2.3:9092" }
    //   ],
    //   "Failover": { "Enabled": true, "ElectionTimeoutMinMs": 300, "ElectionTimeoutMaxMs": 600, "HeartbeatMs": 100,
    //                 "IsrLagSeconds": 3,       // a member behind for so long is not waited for any more
    //                 "DisconnectGraceMs": 200, // nor one whose connection ended so long ago
    //                 "MaxLogEntries": 64 }
    // }
  }
  // "Metrics": { "Host": "127.0.0.1", "Port": 9096 }
}
)";
}

}  // namespace tidelock::tidelockd
