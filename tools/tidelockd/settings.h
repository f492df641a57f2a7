/// What an operator has configured: the seeds' JSON (O3), read whole and checked before anything starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/broker/config.h"
#include "protocol/gateway/gateway.h"

namespace tidelock::tidelockd {

/// A name or address, and a port.
struct HostPort {
    std::string host;
    std::uint16_t port = 0;
    auto operator<=>(const HostPort&) const = default;
};
/// `host:port`, or `[v6 address]:port`. Empty: it is neither.
[[nodiscard]] std::optional<HostPort> parse_host_port(std::string_view text);
[[nodiscard]] std::string to_text(const HostPort& address);

/// Whether whoever connects has to show a certificate.
enum class TlsVerify : std::uint8_t { kNone, kRequired };
/// Files in PEM. Without `certificate` there is no TLS.
struct TlsSettings {
    std::string certificate;
    std::string key;
    std::string authorities;  // whose certificates are taken
    TlsVerify verify = TlsVerify::kNone;
    bool operator==(const TlsSettings&) const = default;

    [[nodiscard]] bool is_on() const { return !certificate.empty(); }
};

struct PeerSettings {
    BrokerId id;
    HostPort address;         // of its replication port
    HostPort client_address;  // where clients reach it
    bool operator==(const PeerSettings&) const = default;
};

struct Settings {
    std::string data_directory = "tidelock-data";
    HostPort client_listen{"127.0.0.1", 9092};
    HostPort client_advertised;  // as clients are told
    HostPort peer_listen;        // no port: no peers
    std::vector<PeerSettings> peers;
    std::string peer_token;  // empty: none is asked for
    TlsSettings peer_tls;
    HostPort metrics_listen;             // no port: none
    Duration ack_timeout = seconds(30);  // no producer waits longer for its acknowledgement

    std::int32_t connections_max = 10'000;
    std::int32_t request_bytes_max = 100 << 20;   // a larger frame ends its connection, unread
    std::int64_t buffered_bytes_max = 512 << 20;  // of all clients together: whoever holds the most is let go
    std::int64_t answer_bytes_max = 64 << 20;     // unsent, a connection; it is not read from meanwhile
    Duration idle_timeout = seconds(600);         // a client that says nothing for so long is let go
    Duration slow_request_timeout = seconds(60);  // a frame begun has to be complete by then
    std::int64_t peer_bytes_max = 64 << 20;       // unsent, a peer; what comes on top is dropped

    broker::Config broker;
    gateway::GatewayConfig gateway;
};

/// Reads a configuration; `file` names it in errors, which name the key's path and what would be right. Text whose
/// outermost braces are missing is read as if they were there. Comments are allowed.
[[nodiscard]] Result<Settings, std::string> parse_settings(std::string_view text, std::string_view file);
/// A broker of its own on loopback.
[[nodiscard]] Settings default_settings();
/// The configuration of `default_settings`, every key with what it means.
[[nodiscard]] std::string default_settings_text();

}  // namespace tidelock::tidelockd
