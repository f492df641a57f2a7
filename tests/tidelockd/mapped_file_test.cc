// Records at boot: mapped, not copied; and what the medium has lost of them is told.
#include "tools/tidelockd/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "protocol/storage/record_batch.h"
#include "tests/brokers/brokers.h"
#include "tests/brokers/kafka_client.h"
#include "tools/tidelockd/broker_loop.h"
#include "tools/tidelockd/data_directory.h"

namespace tidelock::tidelockd {
namespace {

constexpr std::size_t kPage = 4096;

struct File {
    explicit File(const std::string& content) {
        char name[] = "/tmp/tidelockd-mapped-XXXXXX";
        descriptor = ::mkstemp(name);
        path = name;
        REQUIRE(::write(descriptor, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    }
    ~File() {
        ::close(descriptor);
        std::filesystem::remove(path);
    }
    int descriptor = -1;
    std::string path;
};

constexpr std::size_t kMapped = 64 << 10;  // a file of records of this size is mapped

/// A topic of one partition, with `count` records of `bytes` each.
void write_records(const tests::Brokers& brokers, int count, std::size_t bytes) {
    tests::KafkaClient client(brokers.port(1));
    kafka::CreateTopicsRequest create;
    create.topics.push_back({"orders", 1, -1, {}, {}});
    REQUIRE(client.call<kafka::CreateTopicsResponse>(create, 5));
    const std::string value(bytes, 'v');
    for (int i = 0; i < count; ++i) {
        storage::RecordBatchBuilder builder(storage::BatchOptions{});
        builder.add(1'000, std::nullopt, std::as_bytes(std::span(value)));
        kafka::ProduceRequest produce;
        produce.acks = -1;
        produce.timeout_ms = 3'000;
        produce.topics = {{"orders", {{PartitionIndex(0), builder.build()}}}};
        const auto answer = client.call<kafka::ProduceResponse>(produce, 7);
        REQUIRE(answer);
        REQUIRE(answer->topics[0].partitions[0].error_code == kafka::ErrorCode::kNone);
    }
}

struct Nobody : PeerSender, ClientSender {
    void send(BrokerId, const broker::PeerMessage&) override {}
    void send(const gateway::SendFrame&) override {}
    void close(ConnectionId, const std::string&) override {}
    void close_all(const std::string&) override {}
    void pause(ConnectionId) override {}
    void resume(ConnectionId) override {}
};

}  // namespace

TEST_CASE("a mapped file reads as it is, and is let go with the last part of it") {
    const std::string content(kPage + 100, 'x');
    const File file(content);
    Bytes part;
    {
        const auto mapped = map_file(file.descriptor, content.size(), "records");
        REQUIRE(mapped);
        CHECK(mapped->text() == content);
        part = mapped->slice(kPage, 100);
    }
    CHECK(mapped_file_count() == 1);
    CHECK(part.text() == std::string(100, 'x'));
    part = Bytes();
    CHECK(mapped_file_count() == 0);
    CHECK(take_unreadable_mapped_files().empty());
    CHECK(map_file(file.descriptor, 0, "empty")->empty());
}

TEST_CASE("what cannot be read of a mapped file reads as zeros from there on, and its name is told once") {
    const File whole(std::string(3 * kPage, 'w'));
    const File cut(std::string(3 * kPage, 'c'));
    const auto first = map_file(whole.descriptor, 3 * kPage, "whole");
    const auto second = map_file(cut.descriptor, 3 * kPage, "cut");
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(::ftruncate(cut.descriptor, kPage) == 0);
    CHECK(second->text() == std::string(kPage, 'c') + std::string(2 * kPage, '\0'));
    CHECK(first->text() == std::string(3 * kPage, 'w'));
    CHECK(take_unreadable_mapped_files() == std::vector<std::string>{"cut"});
    CHECK(take_unreadable_mapped_files().empty());
}

TEST_CASE("L4: records that the medium loses while a boot reads them are damage, found once, and not zeros") {
    tests::Brokers brokers(1);
    REQUIRE(brokers.leader() == 1);
    write_records(brokers, 8, kMapped / 4);
    brokers.kill(1, SIGKILL);

    const auto directory = DataDirectory::open(brokers.data_directory(1));
    REQUIRE(directory);
    auto content = directory->read();
    REQUIRE(content);
    REQUIRE(mapped_file_count() == 1);
    const auto is_large = [](const storage::ImageFile& file) {
        return file.content && file.content->size() >= kMapped;
    };
    const auto segment = std::ranges::find_if(content->image, is_large);
    std::filesystem::resize_file(brokers.data_directory(1) + "/" + std::string(segment->name.text()), kPage);

    boost::asio::io_context io;
    BrokerLoop loop(io, default_settings(), directory->descriptor());
    Nobody nobody;
    int damage_count = 0;
    loop.attach(nobody, nobody, [&](const broker::Observation& seen) {
        if (std::holds_alternative<broker::DamageFound>(seen)) ++damage_count;
    });
    loop.boot(std::move(content->image));
    CHECK(damage_count == 1);
    CHECK(mapped_file_count() == 0);
    CHECK(loop.broker().lifecycle != broker::Lifecycle::kRefused);
}

}  // namespace tidelock::tidelockd
