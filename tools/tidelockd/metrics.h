/// What operators measure: counters of what has happened, gauges of what is, in Prometheus' text format and as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "protocol/broker/broker.h"
#include "protocol/broker/observation.h"
#include "protocol/kafka/api.h"
#include "tools/tidelockd/file_engine.h"
#include "tools/tidelockd/kafka_listener.h"
#include "tools/tidelockd/peer_links.h"

namespace tidelock::tidelockd {

/// Latencies by powers of two of a microsecond, up to about half a minute.
class Histogram {
  public:
    void add(Duration duration);
    /// `name_bucket{labels,le="..."}` and so on, in seconds.
    void write(std::string& out, std::string_view name, std::string_view labels) const;

  private:
    static constexpr std::size_t kBuckets = 26;
    std::array<std::uint64_t, kBuckets> counts_{};
    std::uint64_t count_ = 0;
    std::int64_t sum_ns_ = 0;
};

/// What is read off the parts of the daemon when somebody asks.
struct MetricsView {
    const broker::Broker& broker;
    const ClientCounters& clients;
    std::size_t connection_count = 0;
    std::size_t client_buffered_bytes = 0;
    const PeerCounters* peers = nullptr;  // null: a broker alone
    FileCounters files;
};

class Metrics {
  public:
    void on_observation(const broker::Observation& observation);
    void on_answered(kafka::ApiKey api, Duration took);

    [[nodiscard]] std::string to_prometheus(const MetricsView& view) const;
    /// As `GET /stats`: the same figures, and the status under `replication`.
    [[nodiscard]] std::string to_json(const MetricsView& view) const;

  private:
    struct Count;

    std::map<kafka::ApiKey, Histogram> requests_;
    std::uint64_t records_acknowledged_ = 0;
    std::uint64_t records_served_ = 0;
    std::uint64_t elections_ = 0;
    std::uint64_t leaderships_ended_ = 0;
    std::uint64_t in_sync_changes_ = 0;
    std::uint64_t damage_found_ = 0;
    std::uint64_t rebalances_ = 0;
};

/// What `GET /replication/status` says (O1).
[[nodiscard]] std::string status_json(const broker::Broker& broker);

}  // namespace tidelock::tidelockd
