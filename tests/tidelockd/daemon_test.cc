// Real brokers on loopback: processes, sockets and files, killed and started again.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "protocol/storage/record_batch.h"
#include "tests/tidelockd/kafka_client.h"

namespace tidelock::tests {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class Brokers {
  public:
    explicit Brokers(int count) : count_(count) {
        char name[] = "/tmp/tidelockd-test-XXXXXX";
        folder_ = ::mkdtemp(name);
        for (int id = 1; id <= count; ++id) {
            client_ports_[id] = free_port();
            peer_ports_[id] = free_port();
        }
        for (int id = 1; id <= count; ++id) write_config(id);
        for (int id = 1; id <= count; ++id) start(id);
    }
    ~Brokers() {
        for (int id = 1; id <= count_; ++id) kill(id, SIGKILL);
        std::filesystem::remove_all(folder_);
    }
    Brokers(const Brokers&) = delete;
    Brokers& operator=(const Brokers&) = delete;

    void start(int id) {
        const std::string config = file(id, "json");
        const std::string log = file(id, "log");
        const pid_t pid = ::fork();
        if (pid == 0) {
            if (std::freopen(log.c_str(), "a", stderr) == nullptr) ::_exit(126);
            ::execl(TIDELOCKD, "tidelockd", "--config", config.c_str(), nullptr);
            ::_exit(127);
        }
        processes_[id] = pid;
    }
    /// Its exit status; -1 when a signal ended it.
    int kill(int id, int number) {
        if (!processes_.contains(id)) return -1;
        ::kill(processes_[id], number);
        int status = 0;
        ::waitpid(processes_[id], &status, 0);
        processes_.erase(id);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] std::uint16_t port(int id) const { return client_ports_.at(id); }
    [[nodiscard]] bool is_running(int id) const { return processes_.contains(id); }

    /// The broker that serves, as the others say; 0: none within ten seconds.
    int leader() {
        for (const auto end = Clock::now() + 10s; Clock::now() < end; std::this_thread::sleep_for(10ms)) {
            for (int id = 1; id <= count_; ++id) {
                if (!is_running(id)) continue;
                KafkaClient client(port(id));
                const auto metadata = client.call<kafka::MetadataResponse>(kafka::MetadataRequest{}, 9);
                if (metadata && metadata->controller_id.value == id && !metadata->topics.empty()) return id;
            }
        }
        return 0;
    }

  private:
    [[nodiscard]] std::string file(int id, const std::string& ending) const {
        return fmt::format("{}/broker{}.{}", folder_, id, ending);
    }
    void write_config(int id) const {
        std::string peers;
        for (int other = 1; other <= count_; ++other)
            if (other != id)
                peers += fmt::format(R"({}{{"Id": {}, "Address": "127.0.0.1:{}", "ClientAddress": "127.0.0.1:{}"}})",
                                     peers.empty() ? "" : ", ", other, peer_ports_.at(other), client_ports_.at(other));
        std::ofstream(file(id, "json")) << fmt::format(
            R"({{"DataDir": "{}", "Server": {{"Port": {}, "MaxRequestBytes": 4194304, "Replication": {{"ReplicaId": {},
                "ReplicateHost": "127.0.0.1", "ReplicatePort": {}, "ClientAddress": "127.0.0.1:{}", "Token": "secret",
                "Peers": [{}], "Failover": {{"Enabled": true}}}}}}}})",
            file(id, "data"), client_ports_.at(id), id, peer_ports_.at(id), client_ports_.at(id), peers);
    }

    int count_;
    std::string folder_;
    std::map<int, std::uint16_t> client_ports_;
    std::map<int, std::uint16_t> peer_ports_;
    std::map<int, pid_t> processes_;
};

Bytes batch_of(const std::string& value) {
    storage::RecordBatchBuilder builder(storage::BatchOptions{});
    builder.add(1'000, std::nullopt, std::as_bytes(std::span(value)));
    return builder.build();
}

kafka::ProduceRequest produce_of(const std::string& topic, const std::string& value) {
    kafka::ProduceRequest produce;
    produce.acks = -1;
    produce.timeout_ms = 3'000;
    produce.topics = {{topic, {{PartitionIndex(0), batch_of(value)}}}};
    return produce;
}

bool create(KafkaClient& client, const std::string& topic) {
    kafka::CreateTopicsRequest request;
    request.topics.push_back({topic, 1, -1, {}, {}});
    const auto answer = client.call<kafka::CreateTopicsResponse>(request, 5);
    return answer && answer->topics[0].error_code == kafka::ErrorCode::kNone;
}

/// The values in the topic by offset, as far as the high watermark.
std::map<std::int64_t, std::string> read_all(KafkaClient& client, const std::string& topic) {
    std::map<std::int64_t, std::string> values;
    std::int64_t next = 0;
    for (;;) {
        kafka::FetchRequest fetch;
        fetch.max_bytes = 1 << 20;
        fetch.topics.emplace_back().topic = topic;
        auto& partition = fetch.topics[0].partitions.emplace_back();
        partition.fetch_offset = Offset(next);
        partition.partition_max_bytes = 1 << 20;
        const auto answer = client.call<kafka::FetchResponse>(fetch, 11);
        if (!answer || answer->topics[0].partitions[0].records->empty()) return values;
        const auto batches = storage::split_batches(*answer->topics[0].partitions[0].records);
        if (!batches) return values;
        for (const storage::BatchView& batch : *batches) {
            const auto records = storage::decode_records(batch.bytes);
            for (const storage::Record& record : *records) values[next++] = std::string(record.value->text());
        }
    }
}

}  // namespace

TEST_CASE("a broker of its own: what it has acknowledged is there after kill -9, and it stops as asked") {
    Brokers brokers(1);
    REQUIRE(brokers.leader() == 1);
    {
        KafkaClient client(brokers.port(1));
        REQUIRE(create(client, "t"));
        const auto produced = client.call<kafka::ProduceResponse>(produce_of("t", "hello"), 9);
        REQUIRE(produced);
        CHECK(produced->topics[0].partitions[0].error_code == kafka::ErrorCode::kNone);
    }
    brokers.kill(1, SIGKILL);
    brokers.start(1);
    REQUIRE(brokers.leader() == 1);
    KafkaClient client(brokers.port(1));
    CHECK(read_all(client, "t") == std::map<std::int64_t, std::string>{{0, "hello"}});
    CHECK(brokers.kill(1, SIGTERM) == 0);
}

TEST_CASE("G8: three brokers, the leader killed again and again: every acknowledged record stays at its offset") {
    Brokers brokers(3);
    int leader = brokers.leader();
    REQUIRE(leader != 0);
    auto client = std::make_unique<KafkaClient>(brokers.port(leader));
    REQUIRE(create(*client, "orders"));
    std::map<std::int64_t, std::string> acknowledged;
    for (int i = 0; i < 90; ++i) {
        if (i % 30 == 15) {
            const int killed = leader;
            brokers.kill(killed, SIGKILL);
            leader = brokers.leader();
            REQUIRE(leader != 0);
            brokers.start(killed);
            client = std::make_unique<KafkaClient>(brokers.port(leader));
        }
        const std::string value = fmt::format("value {}", i);
        const auto answer = client->call<kafka::ProduceResponse>(produce_of("orders", value), 9);
        if (!answer) {
            leader = brokers.leader();
            client = std::make_unique<KafkaClient>(brokers.port(leader));
            continue;
        }
        const auto& result = answer->topics[0].partitions[0];
        if (result.error_code == kafka::ErrorCode::kNone) acknowledged[result.base_offset.value] = value;
    }
    CHECK(acknowledged.size() > 60);
    KafkaClient reader(brokers.port(brokers.leader()));
    const auto all = read_all(reader, "orders");
    for (const auto& [offset, value] : acknowledged) {
        INFO("offset " << offset);
        REQUIRE(all.contains(offset));
        CHECK(all.at(offset) == value);
    }
}

TEST_CASE("what is no request, or too large a one, costs its own connection and nobody else's") {
    Brokers brokers(1);
    REQUIRE(brokers.leader() == 1);
    KafkaClient other(brokers.port(1));
    REQUIRE(other.call<kafka::ApiVersionsResponse>(kafka::ApiVersionsRequest{}, 3));
    const auto ends = [&](std::string_view bytes) {
        KafkaClient client(brokers.port(1));
        return client.write(std::as_bytes(std::span(bytes))) && client.is_ended();
    };
    CHECK(ends(std::string_view("\xff\xff\xff\xff", 4)));  // a negative size
    CHECK(ends(std::string_view("\x7f\xff\xff\xff", 4)));  // two gigabytes
    CHECK(
        ends(std::string_view("\x00\x00\x00\x04"
                              "GET /",
                              8)));  // another protocol
    CHECK(other.call<kafka::ApiVersionsResponse>(kafka::ApiVersionsRequest{}, 3));
}

}  // namespace tidelock::tests
