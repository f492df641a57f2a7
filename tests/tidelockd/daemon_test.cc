// Real brokers on loopback: processes, sockets and files, killed and started again.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "protocol/storage/record_batch.h"
#include "tests/brokers/brokers.h"
#include "tests/brokers/kafka_client.h"

namespace tidelock::tests {
namespace {

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

/// Waits for so many members of the set, twenty seconds at most.
bool has_in_sync(KafkaClient& client, const std::string& topic, std::size_t members) {
    kafka::MetadataRequest request;
    request.topics.emplace().push_back({{}, topic});
    for (int i = 0; i < 400; ++i) {
        const auto answer = client.call<kafka::MetadataResponse>(request, 9);
        if (answer && answer->topics[0].partitions[0].isr_nodes.size() == members) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
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

TEST_CASE("R8, R11: a broker whose identity is lost refuses to start, and rejoins as empty when told") {
    Brokers brokers(3);
    const int leader = brokers.leader();
    REQUIRE(leader != 0);
    KafkaClient client(brokers.port(leader));
    REQUIRE(create(client, "t"));
    REQUIRE(client.call<kafka::ProduceResponse>(produce_of("t", "kept"), 9));
    const int damaged = leader % 3 + 1;
    const int whole = damaged % 3 + 1;
    brokers.kill(damaged, SIGKILL);
    for (const auto& entry : std::filesystem::directory_iterator(brokers.data_directory(damaged)))
        if (entry.path().filename().string().starts_with("identity")) std::filesystem::remove(entry.path());
    REQUIRE(has_in_sync(client, "t", 2));
    CHECK(brokers.run(damaged) == 1);
    CHECK(brokers.logs().find("--rejoin-as-empty") != std::string::npos);
    CHECK(brokers.run(damaged, "--rejoin-as-empty") == 0);
    brokers.start(damaged);

    REQUIRE(has_in_sync(client, "t", 3));
    // With the third one gone, an acknowledgement needs the one that rejoined.
    brokers.kill(whole, SIGKILL);
    const auto later = client.call<kafka::ProduceResponse>(produce_of("t", "later"), 9);
    REQUIRE(later);
    CHECK(later->topics[0].partitions[0].error_code == kafka::ErrorCode::kNone);
    CHECK(read_all(client, "t").at(0) == "kept");
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

TEST_CASE("clients that fill the memory for requests lose their connections, and others are served") {
    Brokers brokers(1, R"("MaxBufferedBytes": 4194304)");
    REQUIRE(brokers.leader() == 1);
    const std::string begun = std::string("\x00\x3f\xff\xff", 4) + std::string(1'500'000, 'x');
    std::vector<std::unique_ptr<KafkaClient>> hoarders;
    for (int i = 0; i < 4; ++i) {
        hoarders.push_back(std::make_unique<KafkaClient>(brokers.port(1)));
        hoarders.back()->write(std::as_bytes(std::span(begun)));
    }
    KafkaClient other(brokers.port(1));
    CHECK(other.call<kafka::ApiVersionsResponse>(kafka::ApiVersionsRequest{}, 3));
    const auto ended = std::ranges::count_if(hoarders, [](const auto& client) { return client->is_ended(); });
    CHECK(ended == 2);
}

}  // namespace tidelock::tests
