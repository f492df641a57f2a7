#include "tests/kafka_clients/librdkafka_client.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

#include "tests/brokers/brokers.h"
#include "tests/brokers/kafka_client.h"

namespace tidelock::tests {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

Place place_of(const RdKafka::Message& message) {
    return {message.topic_name(), message.partition(), message.offset()};
}

std::string text_of(const RdKafka::Message& message) {
    return {static_cast<const char*>(message.payload()), message.len()};
}

std::string to_text(const Place& place) {
    return fmt::format("{}-{} offset {}", place.topic, place.partition, place.offset);
}

std::unique_ptr<RdKafka::Conf> conf_of(const Settings& settings) {
    std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
    for (const auto& [name, value] : settings) {
        std::string why;
        const auto result = conf->set(name, value, why);
        INFO(name << ": " << why);
        REQUIRE(result == RdKafka::Conf::CONF_OK);
    }
    return conf;
}

void create_topic(const Brokers& brokers, const std::string& topic, int partitions) {
    const int leader = brokers.leader();
    REQUIRE(leader != 0);
    KafkaClient client(brokers.port(leader));
    kafka::CreateTopicsRequest request;
    request.topics.push_back({topic, partitions, -1, {}, {}});
    const auto answer = client.call<kafka::CreateTopicsResponse>(request, 5);
    REQUIRE(answer);
    REQUIRE(answer->topics[0].error_code == kafka::ErrorCode::kNone);
}

std::map<Place, std::string> read_all(const Brokers& brokers, const std::string& topic, int partitions) {
    const auto conf =
        conf_of({{"bootstrap.servers", brokers.addresses()}, {"group.id", "reader"}, {"enable.partition.eof", "true"}});
    std::string why;
    const std::unique_ptr<RdKafka::KafkaConsumer> consumer(RdKafka::KafkaConsumer::create(conf.get(), why));
    INFO(why);
    REQUIRE(consumer);
    std::vector<RdKafka::TopicPartition*> all;
    for (int p = 0; p < partitions; ++p)
        all.push_back(RdKafka::TopicPartition::create(topic, p, RdKafka::Topic::OFFSET_BEGINNING));
    consumer->assign(all);
    RdKafka::TopicPartition::destroy(all);

    std::map<Place, std::string> records;
    std::map<int, std::int64_t> last;
    int ends = 0;
    for (const auto deadline = Clock::now() + 60s; ends < partitions;) {
        if (Clock::now() > deadline) FAIL("the end of " << topic << " is not reached in 60 s");
        const std::unique_ptr<RdKafka::Message> message(consumer->consume(100));
        if (message->err() == RdKafka::ERR__PARTITION_EOF) ++ends;
        if (message->err() != RdKafka::ERR_NO_ERROR) continue;
        const auto before = last.find(message->partition());
        if (before != last.end() && message->offset() <= before->second) FAIL(to_text(place_of(*message)) << " again");
        last[message->partition()] = message->offset();
        records.emplace(place_of(*message), text_of(*message));
    }
    consumer->close();
    return records;
}

}  // namespace tidelock::tests
