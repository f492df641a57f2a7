#include "tools/tidelockd/metrics.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <nlohmann/json.hpp>

namespace tidelock::tidelockd {
namespace {

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}
/// A scrape lists no more pairs of group and partition than that; clients make as many groups as they like.
constexpr std::size_t kGroupSeriesMax = 20'000;

template <typename Number>
void single(std::string& out, std::string_view name, std::string_view type, std::string_view help, Number value) {
    head(out, name, type, help);
    fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}
template <typename Number>
void counter(std::string& out, std::string_view name, std::string_view help, Number value) {
    single(out, name, "counter", help, value);
}
template <typename Number>
void gauge(std::string& out, std::string_view name, std::string_view help, Number value) {
    single(out, name, "gauge", help, value);
}

/// How many bytes the character takes that begins here; 0: none does (RFC 3629).
std::size_t character_bytes(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
    for (std::size_t at = 1; at < size; ++at)
        if ((byte(at) & 0xC0U) != 0x80) return 0;
    const bool is_overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool is_no_character = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
    return is_overlong || is_no_character ? 0 : size;
}

/// In a label's value. Clients choose names: bytes that are no UTF-8 would have a whole scrape refused.
std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t size = character_bytes(text);
        if (text.front() == '\\' || text.front() == '"') out += '\\';
        if (text.front() == '\n')
            out += "\\n";
        else if (size == 0)
            fmt::format_to(std::back_inserter(out), "\\\\x{:02x}", static_cast<unsigned char>(text.front()));
        else
            out += text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

double seconds_of(std::uint64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

std::string topic_name(const broker::Broker& broker, TopicId id) {
    const storage::TopicEntry* topic = broker.topics.find(id);
    return topic == nullptr ? std::string() : escaped(topic->name);
}

void write_partitions(std::string& out, const broker::Broker& broker) {
    head(out, "tidelock_partition_high_watermark", "gauge", "Offset up to which records are confirmed");
    for (const auto& [tp, partition] : broker.partitions)
        fmt::format_to(std::back_inserter(out),
                       "tidelock_partition_high_watermark{{topic=\"{}\",partition=\"{}\"}} {}\n",
                       topic_name(broker, tp.topic), tp.partition.value, partition.high_watermark.value().value);
    head(out, "tidelock_partition_log_end_offset", "gauge", "Offset after the last record appended");
    head(out, "tidelock_partition_log_start_offset", "gauge", "Offset of the first record kept");
    for (const auto& [tp, partition] : broker.partitions) {
        const auto view = broker.logs.view(tp);
        if (!view) continue;
        const std::string labels =
            fmt::format("{{topic=\"{}\",partition=\"{}\"}}", topic_name(broker, tp.topic), tp.partition.value);
        fmt::format_to(std::back_inserter(out), "tidelock_partition_log_end_offset{} {}\n", labels,
                       view->log_end_offset.value);
        fmt::format_to(std::back_inserter(out), "tidelock_partition_log_start_offset{} {}\n", labels,
                       view->log_start_offset.value);
    }
}

/// How far behind the high watermark what a group has committed is.
void write_group_lag(std::string& out, const broker::Broker& broker) {
    if (!broker.leading) return;
    head(out, "tidelock_group_lag", "gauge", "Records between what the group has committed and the high watermark");
    std::size_t left = kGroupSeriesMax;
    for (const std::string& group : broker.leading->offsets.groups()) {
        for (const auto& [tp, committed] : broker.leading->offsets.of_group(group)) {
            if (left-- == 0) return;
            const auto partition = broker.partitions.find(tp);
            if (partition == broker.partitions.end()) continue;
            const std::int64_t lag =
                std::max<std::int64_t>(0, partition->second.high_watermark.value() - committed.offset);
            fmt::format_to(std::back_inserter(out),
                           "tidelock_group_lag{{group=\"{}\",topic=\"{}\",partition=\"{}\"}} {}\n", escaped(group),
                           topic_name(broker, tp.topic), tp.partition.value, lag);
        }
    }
}

nlohmann::ordered_json status_object(const broker::Broker& broker) {
    const clients::StatusAnswer status = broker::status(broker);
    nlohmann::ordered_json json;
    json["replica_id"] = broker.config.id.value;
    json["role"] = clients::name_of(status.role);
    json["leader"] = status.leader.value;
    json["epoch"] = status.leader_epoch.value;
    json["term"] = status.term.value;
    json["isr"] = nlohmann::ordered_json::array();
    for (const Replica& each : status.in_sync_replicas) json["isr"].push_back(each.broker.value);
    json["lagging"] = nlohmann::ordered_json::array();
    for (const Replica& each : status.lagging_members) json["lagging"].push_back(each.broker.value);
    json["durability"] = clients::name_of(status.durability);
    json["under_replicated_partitions"] = status.under_replicated_count;
    json["positions"] = broker.config.seed_rules.positions_as_received ? "received" : "durable";
    return json;
}

}  // namespace

void Histogram::add(Duration duration) {
    const std::uint64_t us = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.value, 0)) / 1'000;
    const std::size_t bucket = std::min<std::size_t>(std::bit_width(us), kBuckets - 1);
    ++counts_[bucket];
    ++count_;
    sum_ns_ += duration.value;
}

void Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
    std::uint64_t below = 0;
    const std::string_view comma = labels.empty() ? "" : ",";
    for (std::size_t b = 0; b + 1 < kBuckets; ++b) {
        below += counts_[b];
        fmt::format_to(std::back_inserter(out), "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma,
                       static_cast<double>(std::uint64_t{1} << b) / 1e6, below);
    }
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, count_);
    fmt::format_to(std::back_inserter(out), "{}_sum{{{}}} {}\n{}_count{{{}}} {}\n", name, labels,
                   static_cast<double>(sum_ns_) / 1e9, name, labels, count_);
}

void Metrics::on_answered(kafka::ApiKey api, Duration took) {
    requests_[api].add(took);
}

struct Metrics::Count {
    Metrics& self;
    void operator()(const broker::RecordsAcknowledged& o) const {
        self.records_acknowledged_ += static_cast<std::uint64_t>(o.last_offset - o.base_offset + 1);
    }
    void operator()(const broker::RecordsServed& o) const {
        self.records_served_ += static_cast<std::uint64_t>(o.to - o.from);
    }
    void operator()(const broker::RaftLeaderElected&) const { ++self.elections_; }
    void operator()(const broker::LeadershipEnded&) const { ++self.leaderships_ended_; }
    void operator()(const broker::InSyncSetCommitted&) const { ++self.in_sync_changes_; }
    void operator()(const broker::DamageFound&) const { ++self.damage_found_; }
    void operator()(const broker::GroupChanged& o) const {
        if (o.news.change == clients::GroupChange::kRebalance) ++self.rebalances_;
    }
    template <typename Other>
    void operator()(const Other&) const {}
};

void Metrics::on_observation(const broker::Observation& observation) {
    std::visit(Count{*this}, observation);
}

std::string Metrics::to_prometheus(const MetricsView& view) const {
    const broker::Broker& broker = view.broker;
    const clients::StatusAnswer status = broker::status(broker);
    std::string out;
    gauge(out, "tidelock_is_leader", "Whether this broker leads", broker.leading ? 1 : 0);
    gauge(out, "tidelock_is_serving", "Whether this broker serves clients", broker::is_serving(broker) ? 1 : 0);
    gauge(out, "tidelock_leader_id", "The leader as this broker knows it, 0 for none", status.leader.value);
    gauge(out, "tidelock_leader_epoch", "The epoch it leads or follows in", status.leader_epoch.value);
    gauge(out, "tidelock_raft_term", "Raft term", status.term.value);
    gauge(out, "tidelock_isr_size", "Members of the in-sync set", status.in_sync_replicas.size());
    gauge(out, "tidelock_under_replicated_partitions", "Partitions with members missing from the in-sync set",
          status.under_replicated_count);
    gauge(out, "tidelock_partitions", "Partitions on this broker", broker.partitions.size());
    gauge(out, "tidelock_client_connections", "Open connections of clients", view.connection_count);
    counter(out, "tidelock_client_connections_accepted_total", "Connections taken", view.clients.accepted);
    counter(out, "tidelock_client_connections_refused_total", "Connections not taken", view.clients.refused);
    counter(out, "tidelock_client_connections_shed_total", "Connections ended as all clients together held too much",
            view.clients.shed);
    gauge(out, "tidelock_client_buffered_bytes", "Parts of requests and unsent answers", view.client_buffered_bytes);
    counter(out, "tidelock_client_malformed_total", "Connections ended for what was no request",
            view.clients.malformed);
    counter(out, "tidelock_client_timeouts_total", "Connections ended for silence", view.clients.timed_out);
    counter(out, "tidelock_client_bytes_in_total", "Bytes from clients", view.clients.bytes_in);
    counter(out, "tidelock_client_bytes_out_total", "Bytes to clients", view.clients.bytes_out);
    counter(out, "tidelock_records_acknowledged_total", "Records whose producers were told so", records_acknowledged_);
    counter(out, "tidelock_records_served_total", "Records given to consumers", records_served_);
    counter(out, "tidelock_elections_won_total", "Elections won by this broker", elections_);
    counter(out, "tidelock_leaderships_ended_total", "Times this broker stopped leading", leaderships_ended_);
    counter(out, "tidelock_isr_changes_total", "Changes of the in-sync set", in_sync_changes_);
    counter(out, "tidelock_damage_found_total", "Places where records on disk were found damaged", damage_found_);
    counter(out, "tidelock_group_rebalances_total", "Rebalances of consumer groups", rebalances_);
    counter(out, "tidelock_disk_syncs_total", "Syncs of files", view.files.syncs);
    counter(out, "tidelock_disk_sync_seconds_total", "Time spent in them", seconds_of(view.files.sync_ns));
    gauge(out, "tidelock_disk_sync_seconds_max", "The longest of them", seconds_of(view.files.sync_ns_max));
    counter(out, "tidelock_disk_written_bytes_total", "Bytes written to files", view.files.bytes_written);
    counter(out, "tidelock_disk_read_bytes_total", "Bytes read from files", view.files.bytes_read);
    counter(out, "tidelock_disk_failures_total", "Writes, reads and syncs that failed", view.files.failures);
    counter(out, "tidelock_descriptor_shortages_total", "Times a file could not be opened for want of descriptors",
            view.files.shortages);
    if (view.peers != nullptr) {
        counter(out, "tidelock_peer_messages_sent_total", "Messages sent to peers", view.peers->sent);
        counter(out, "tidelock_peer_messages_dropped_total", "Messages that could not be sent", view.peers->dropped);
        counter(out, "tidelock_peer_connection_breaks_total", "Links to peers that broke", view.peers->breaks);
    }
    head(out, "tidelock_request_duration_seconds", "histogram", "From a request's arrival to its answer");
    for (const auto& [api, histogram] : requests_)
        histogram.write(out, "tidelock_request_duration_seconds", fmt::format("api=\"{}\"", kafka::api_of(api).name));
    write_partitions(out, broker);
    write_group_lag(out, broker);
    return out;
}

std::string Metrics::to_json(const MetricsView& view) const {
    nlohmann::ordered_json json;
    json["replication"] = status_object(view.broker);
    json["partitions"] = view.broker.partitions.size();
    json["clients"] = {{"connections", view.connection_count},
                       {"accepted", view.clients.accepted},
                       {"refused", view.clients.refused},
                       {"bytes_in", view.clients.bytes_in},
                       {"bytes_out", view.clients.bytes_out}};
    json["records"] = {{"acknowledged", records_acknowledged_}, {"served", records_served_}};
    json["disk"] = {{"syncs", view.files.syncs},
                    {"sync_seconds", seconds_of(view.files.sync_ns)},
                    {"written_bytes", view.files.bytes_written},
                    {"read_bytes", view.files.bytes_read},
                    {"failures", view.files.failures},
                    {"shortages", view.files.shortages}};
    return json.dump(2) + "\n";
}

std::string status_json(const broker::Broker& broker) {
    return status_object(broker).dump(2) + "\n";
}

}  // namespace tidelock::tidelockd
