// What the tests with librdkafka share: configurations, places of records, a topic to begin with, reading all of it.
#pragma once

#include <librdkafka/rdkafkacpp.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace tidelock::tests {

class Brokers;

/// Where a record is.
struct Place {
    std::string topic;
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    auto operator<=>(const Place&) const = default;
};
Place place_of(const RdKafka::Message& message);
std::string text_of(const RdKafka::Message& message);
std::string to_text(const Place& place);

using Settings = std::map<std::string, std::string>;
/// Fails the test where librdkafka does not take a setting.
std::unique_ptr<RdKafka::Conf> conf_of(const Settings& settings);

void create_topic(const Brokers& brokers, const std::string& topic, int partitions);

/// Everything in the topic from its beginning to its end, as a consumer without a group reads it. An offset that it
/// gives twice, or after a higher one, fails the test.
std::map<Place, std::string> read_all(const Brokers& brokers, const std::string& topic, int partitions);

}  // namespace tidelock::tests
