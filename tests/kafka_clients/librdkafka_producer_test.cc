// What librdkafka's idempotent producer promises, against three brokers whose leader is killed (kill -9) again and
// again while it produces. Checked at the end, by reading everything:
//   - every record was acknowledged: the producer outlived each kill, with no record failed and no fatal error;
//   - each stands at the offset that was acknowledged for it, with its content: none is lost;
//   - none stands twice, and those of a partition stand in the order in which they were produced.
#include <fmt/format.h>
#include <signal.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "tests/brokers/brokers.h"
#include "tests/kafka_clients/librdkafka_client.h"

namespace tidelock::tests {
namespace {

constexpr int kPartitions = 3;
constexpr int kRecords = 6'000;
constexpr int kKills = 3;
constexpr int kUnderWayMax = 400;

/// What the producer was told of its records.
struct Reports final : RdKafka::DeliveryReportCb, RdKafka::EventCb {
    std::map<Place, std::string> acknowledged;
    std::string failures;

    void dr_cb(RdKafka::Message& message) override {
        const std::string value = text_of(message);
        if (message.err() != RdKafka::ERR_NO_ERROR)
            failures += fmt::format("{}: {}\n", value, message.errstr());
        else if (!acknowledged.emplace(place_of(message), value).second)
            failures += fmt::format("{}: acknowledged at the offset of another one\n", value);
    }
    void event_cb(RdKafka::Event& event) override {
        if (event.fatal()) failures += fmt::format("fatal: {}\n", event.str());
    }
};

std::unique_ptr<RdKafka::Producer> make_producer(Reports& reports, const std::string& addresses) {
    const auto conf = conf_of({{"bootstrap.servers", addresses},
                               {"enable.idempotence", "true"},
                               {"linger.ms", "2"},
                               {"batch.num.messages", "20"},
                               {"retry.backoff.ms", "50"},
                               {"reconnect.backoff.ms", "20"},
                               {"reconnect.backoff.max.ms", "500"},
                               {"message.timeout.ms", "60000"}});
    std::string why;
    conf->set("dr_cb", static_cast<RdKafka::DeliveryReportCb*>(&reports), why);
    conf->set("event_cb", static_cast<RdKafka::EventCb*>(&reports), why);
    std::unique_ptr<RdKafka::Producer> producer(RdKafka::Producer::create(conf.get(), why));
    INFO(why);
    REQUIRE(producer);
    return producer;
}

std::string value_of(int partition, int number) {
    return fmt::format("partition {} record {}", partition, number);
}

/// Hands over record `number`, once there is room.
void produce(RdKafka::Producer& producer, const std::string& topic, int number) {
    const int partition = number % kPartitions;
    std::string value = value_of(partition, number / kPartitions);
    while (producer.outq_len() >= kUnderWayMax) producer.poll(10);
    const auto error = producer.produce(topic, partition, RdKafka::Producer::RK_MSG_COPY, value.data(), value.size(),
                                        nullptr, 0, 0, nullptr);
    if (error != RdKafka::ERR_NO_ERROR) FAIL(RdKafka::err2str(error));
    producer.poll(0);
}

/// Kills the leader with records under way, and starts it again when another one leads.
void kill_leader(Brokers& brokers, RdKafka::Producer& producer) {
    const int leader = brokers.leader();
    REQUIRE(leader != 0);
    REQUIRE(producer.outq_len() > 0);
    brokers.kill(leader, SIGKILL);
    REQUIRE(brokers.leader() != 0);
    brokers.start(leader);
}

}  // namespace

TEST_CASE("an idempotent producer that knows a follower only gets its id from the leader", "[producer]") {
    Brokers brokers(3);
    create_topic(brokers, "orders", kPartitions);
    const int leader = brokers.leader();
    for (int id = 1; id <= 3; ++id) {
        if (id == leader) continue;
        Reports reports;
        const auto producer = make_producer(reports, fmt::format("127.0.0.1:{}", brokers.port(id)));
        produce(*producer, "orders", 0);
        CHECK(producer->flush(20'000) == RdKafka::ERR_NO_ERROR);
        CHECK(reports.failures == "");
        CHECK(reports.acknowledged.size() == 1);
    }
}

TEST_CASE("an idempotent producer outlives killed leaders: nothing lost, nothing twice, in order", "[producer]") {
    Brokers brokers(3);
    create_topic(brokers, "orders", kPartitions);
    Reports reports;
    const auto producer = make_producer(reports, brokers.addresses());

    for (int number = 0; number < kRecords; ++number) {
        produce(*producer, "orders", number);
        if (number % (kRecords / (kKills + 1)) == kRecords / (kKills + 1) - 1 && number + 1 < kRecords)
            kill_leader(brokers, *producer);
    }
    CHECK(producer->flush(60'000) == RdKafka::ERR_NO_ERROR);
    REQUIRE(reports.failures == "");
    REQUIRE(reports.acknowledged.size() == kRecords);

    std::map<int, int> next;  // record of each partition
    std::string wrong;
    std::size_t read = 0;
    for (const auto& [place, value] : read_all(brokers, "orders", kPartitions)) {
        ++read;
        const auto acknowledged = reports.acknowledged.find(place);
        if (acknowledged == reports.acknowledged.end() || acknowledged->second != value)
            wrong += fmt::format("{}: '{}' was not acknowledged there\n", to_text(place), value);
        if (value != value_of(place.partition, next[place.partition]++))
            wrong += fmt::format("{}: '{}' is out of order\n", to_text(place), value);
    }
    REQUIRE(wrong == "");
    REQUIRE(read == kRecords);
}

}  // namespace tidelock::tests
