// kcat as people use it on a shell, against three brokers: what is there, producing, consuming from anywhere, offsets
// by time, groups; and that what is compressed stays as its producer made it.
#include <fmt/format.h>
#include <stdio.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "protocol/storage/record_batch.h"
#include "tests/brokers/brokers.h"
#include "tests/brokers/kafka_client.h"

namespace tidelock::tests {
namespace {

using Clock = std::chrono::system_clock;
using namespace std::chrono_literals;

class Kcat {
  public:
    explicit Kcat(const Brokers& brokers) : brokers_(brokers.addresses()) {}

    /// What kcat writes, with `before` ahead of it in the shell's line. Fails the test if it fails, or in 60 s.
    std::string operator()(const std::string& arguments, const std::string& before = "") const {
        const std::string line = fmt::format("{} timeout 60 kcat -b {} {}", before, brokers_, arguments);
        FILE* pipe = ::popen(line.c_str(), "r");
        REQUIRE(pipe != nullptr);
        std::string output;
        char part[4096];
        for (std::size_t size = 0; (size = ::fread(part, 1, sizeof part, pipe)) > 0;) output.append(part, size);
        const int status = ::pclose(pipe);
        INFO(line << "\n" << output);
        REQUIRE(WIFEXITED(status));
        REQUIRE(WEXITSTATUS(status) == 0);
        return output;
    }

  private:
    std::string brokers_;
};

/// As `seq`.
std::string numbers(int first, int last) {
    std::string lines;
    for (int i = first; i <= last; ++i) lines += fmt::format("{}\n", i);
    return lines;
}

std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

/// The first partition of the topic, byte for byte as the leader gives it.
Bytes stored(const Brokers& brokers, const std::string& topic) {
    KafkaClient client(brokers.port(brokers.leader()));
    kafka::FetchRequest fetch;
    fetch.max_bytes = 4 << 20;
    fetch.topics.emplace_back().topic = topic;
    fetch.topics[0].partitions.emplace_back().partition_max_bytes = 4 << 20;
    const auto answer = client.call<kafka::FetchResponse>(fetch, 11);
    REQUIRE(answer);
    REQUIRE(answer->topics[0].partitions[0].records);
    return *answer->topics[0].partitions[0].records;
}

}  // namespace

TEST_CASE("kcat lists brokers, topics and leaders, whichever broker it asks") {
    Brokers brokers(3, R"("DefaultPartitions": 3)");
    const int leader = brokers.leader();
    const Kcat kcat(brokers);
    kcat("-P -t listed", "echo one |");
    for (int id = 1; id <= 3; ++id) {
        const std::string list = kcat(fmt::format("-L -b 127.0.0.1:{}", brokers.port(id)));
        INFO(list);
        CHECK(list.find(" 3 brokers:\n") != std::string::npos);
        for (int other = 1; other <= 3; ++other) {
            const std::string role = other == leader ? " (controller)" : "";
            CHECK(list.find(fmt::format("broker {} at 127.0.0.1:{}{}\n", other, brokers.port(other), role)) !=
                  std::string::npos);
        }
        CHECK(list.find("topic \"listed\" with 3 partitions:\n") != std::string::npos);
        for (int p = 0; p < 3; ++p)
            CHECK(list.find(fmt::format("partition {}, leader {}, replicas: ", p, leader)) != std::string::npos);
    }
}

TEST_CASE("kcat reads what it has produced, from wherever and by time") {
    Brokers brokers(3);
    REQUIRE(brokers.leader() != 0);
    const Kcat kcat(brokers);
    kcat("-P -t lines", "seq 1000 |");
    const std::int64_t between = now_ms() + 1;
    while (now_ms() < between) std::this_thread::sleep_for(1ms);
    kcat("-P -t lines", "seq 1001 1500 |");
    CHECK(kcat("-C -t lines -o beginning -e -q") == numbers(1, 1500));
    CHECK(kcat("-C -t lines -o 700 -c 3 -q -f '%o %s\\n'") == "700 701\n701 702\n702 703\n");
    CHECK(kcat("-C -t lines -o -2 -e -q") == numbers(1499, 1500));
    CHECK(kcat(fmt::format("-C -t lines -o s@{} -e -q", between)) == numbers(1001, 1500));

    CHECK(kcat(fmt::format("-Q -t lines:0:{}", between)) == "lines [0] offset 1000\n");
    CHECK(kcat("-Q -t lines:0:-2") == "lines [0] offset 0\n");
    CHECK(kcat("-Q -t lines:0:-1") == "lines [0] offset 1500\n");
    CHECK(kcat("-Q -t lines:0:0") == "lines [0] offset 0\n");

    kcat("-P -t keyed -K: -H color=blue -H size=3", "printf 'a:1\\nb:2\\na:\\n' |");
    CHECK(kcat("-C -t keyed -o beginning -e -q -f '%o %k=%s %h\\n'") ==
          "0 a=1 color=blue,size=3\n1 b=2 color=blue,size=3\n2 a= color=blue,size=3\n");
}

TEST_CASE("kcat in a group goes on where the group has come to") {
    Brokers brokers(3, R"("GroupInitialRebalanceDelayMs": 100)");
    REQUIRE(brokers.leader() != 0);
    const Kcat kcat(brokers);
    kcat("-P -t grouped", "seq 1000 |");
    CHECK(kcat("-G readers -X auto.offset.reset=earliest -q -c 600 grouped") == numbers(1, 600));
    CHECK(kcat("-G readers -X auto.offset.reset=earliest -q -c 400 grouped") == numbers(601, 1000));
    CHECK(kcat("-G others -X auto.offset.reset=earliest -q -c 5 grouped") == numbers(1, 5));
}

TEST_CASE("what kcat compresses stands as it was compressed, and comes back whole") {
    Brokers brokers(3);
    REQUIRE(brokers.leader() != 0);
    const Kcat kcat(brokers);
    const std::string line(300, 'x');
    std::string lines;
    for (int i = 1; i <= 2'000; ++i) lines += fmt::format("{} {}\n", i, line);
    const std::string produced = fmt::format("seq -f '%.0f {}' 2000 |", line);
    const std::vector<std::pair<std::string, int>> codecs = {{"gzip", 1}, {"snappy", 2}, {"lz4", 3}, {"zstd", 4}};
    for (const auto& [name, number] : codecs) {
        INFO(name);
        kcat(fmt::format("-P -t {0} -z {0}", name), produced);
        CHECK(kcat(fmt::format("-C -t {} -o beginning -e -q", name)) == lines);
        const Bytes bytes = stored(brokers, name);
        CHECK(bytes.size() < lines.size() / 4);
        const auto batches = storage::split_batches(bytes);
        REQUIRE(batches);
        REQUIRE(!batches->empty());
        for (const storage::BatchView& batch : *batches) {
            CHECK(batch.header.compression() == number);
            CHECK(storage::validate_batch(batch.bytes.span(), {}));  // its producer's checksum, of all but its place
        }
    }
}

}  // namespace tidelock::tests
