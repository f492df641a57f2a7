// What a balanced consumer group with librdkafka promises, with each of its assignors and three brokers. Members commit
// after every record that they process. Checked throughout, for every record of six partitions:
//   - the group processes each partition's records one after the other: no offset is skipped;
//   - what is processed again was not committed yet;
//   - partitions are shared out as the assignor says; they move to the other member when one leaves, and with the
//     cooperative assignor nobody gives up what it keeps;
//   - the group goes on when the broker that coordinates it is killed (kill -9);
//   - a static member (group.instance.id) that is gone for a moment comes back to its partitions, and the other one
//     notices nothing.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tests/brokers/brokers.h"
#include "tests/kafka_clients/librdkafka_client.h"

namespace tidelock::tests {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

using Partition = std::pair<std::string, std::int32_t>;  // topic, index
using Partitions = std::set<Partition>;

constexpr int kPartitionsPerTopic = 3;

/// What the group has done with each partition.
struct Ledger {
    struct Row {
        std::int64_t next = 0;       // one past the last record processed
        std::int64_t committed = 0;  // what a member was told is committed
    };
    std::map<Partition, Row> rows;
    int processed_again = 0;
    std::string wrong;

    void note_processed(const Place& place) {
        Row& row = rows[{place.topic, place.partition}];
        if (place.offset > row.next) wrong += fmt::format("{}: skipped {} to it\n", to_text(place), row.next);
        if (place.offset < row.committed) wrong += fmt::format("{}: again, committed before\n", to_text(place));
        if (place.offset < row.next) ++processed_again;
        row.next = std::max(row.next, place.offset + 1);
    }
    void note_committed(const Place& place) {
        Row& row = rows[{place.topic, place.partition}];
        row.committed = std::max(row.committed, place.offset + 1);
    }
    [[nodiscard]] std::int64_t committed_count() const {
        std::int64_t count = 0;
        for (const auto& [partition, row] : rows) count += row.committed;
        return count;
    }
};

class Member final : RdKafka::RebalanceCb {
  public:
    Member(const Settings& settings, const std::vector<std::string>& topics, Ledger& ledger) : ledger_(ledger) {
        const auto conf = conf_of(settings);
        std::string why;
        conf->set("rebalance_cb", static_cast<RdKafka::RebalanceCb*>(this), why);
        consumer_.reset(RdKafka::KafkaConsumer::create(conf.get(), why));
        INFO(why);
        REQUIRE(consumer_);
        REQUIRE(consumer_->subscribe(topics) == RdKafka::ERR_NO_ERROR);
    }
    ~Member() override { close(); }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Processes one record, if one comes soon, and commits what it has processed of partitions that are still its own.
    void poll() {
        const std::unique_ptr<RdKafka::Message> message(consumer_->consume(10));
        if (message->err() == RdKafka::ERR_NO_ERROR) {
            const Place place = place_of(*message);
            ledger_.note_processed(place);
            uncommitted_[{place.topic, place.partition}] = place;
        }
        std::erase_if(uncommitted_, [&](const auto& each) { return commit(each.second); });
    }
    /// Leaves the group, unless it is a static member.
    void close() {
        if (!std::exchange(is_closed_, true)) consumer_->close();
    }
    [[nodiscard]] Partitions partitions() const {
        std::vector<RdKafka::TopicPartition*> list;
        consumer_->assignment(list);
        Partitions partitions;
        for (const RdKafka::TopicPartition* each : list) partitions.emplace(each->topic(), each->partition());
        RdKafka::TopicPartition::destroy(list);
        return partitions;
    }
    [[nodiscard]] int rebalances() const { return rebalances_; }
    /// How often it gave up partitions because the assignor wanted so.
    [[nodiscard]] int revocations() const { return revocations_; }

  private:
    /// False while the group is between two generations: the commit has to be made again then.
    bool commit(const Place& place) {
        const std::unique_ptr<RdKafka::TopicPartition> next(
            RdKafka::TopicPartition::create(place.topic, place.partition, place.offset + 1));
        std::vector<RdKafka::TopicPartition*> offsets{next.get()};
        if (consumer_->commitSync(offsets) != RdKafka::ERR_NO_ERROR) return false;
        ledger_.note_committed(place);
        return true;
    }
    void rebalance_cb(RdKafka::KafkaConsumer* consumer, RdKafka::ErrorCode error,
                      std::vector<RdKafka::TopicPartition*>& partitions) override {
        const bool is_given = error == RdKafka::ERR__ASSIGN_PARTITIONS;
        ++rebalances_;
        if (!is_given) {
            for (const RdKafka::TopicPartition* each : partitions)
                uncommitted_.erase({each->topic(), each->partition()});
            // A commit that crosses the start of the next generation makes librdkafka forget its own, and lose its
            // partitions: nobody asked for them.
            if (!partitions.empty() && !consumer->assignment_lost()) ++revocations_;
        }
        if (consumer->rebalance_protocol() == "COOPERATIVE") {
            const std::unique_ptr<RdKafka::Error> failed(is_given ? consumer->incremental_assign(partitions)
                                                                  : consumer->incremental_unassign(partitions));
            if (failed) ledger_.wrong += failed->str() + "\n";
        } else if (is_given) {
            consumer->assign(partitions);
        } else {
            consumer->unassign();
        }
    }

    Ledger& ledger_;
    std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
    std::map<Partition, Place> uncommitted_;  // the last one processed of each
    int rebalances_ = 0;
    int revocations_ = 0;
    bool is_closed_ = false;
};

/// A group on two topics of its own, and who produces to them.
class Group {
  public:
    Group(Brokers& brokers, const std::string& assignor)
        : settings_{{"bootstrap.servers", brokers.addresses()},
                    {"group.id", "group-" + assignor},
                    {"partition.assignment.strategy", assignor},
                    {"auto.offset.reset", "earliest"},
                    {"enable.auto.commit", "false"},
                    {"session.timeout.ms", "10000"},
                    {"heartbeat.interval.ms", "100"},
                    {"reconnect.backoff.ms", "20"},
                    {"reconnect.backoff.max.ms", "200"}},
          topics_{assignor + "-a", assignor + "-b"} {
        for (const std::string& topic : topics_) create_topic(brokers, topic, kPartitionsPerTopic);
        std::string why;
        producer_.reset(RdKafka::Producer::create(conf_of({{"bootstrap.servers", brokers.addresses()}}).get(), why));
        REQUIRE(producer_);
    }

    [[nodiscard]] std::unique_ptr<Member> join(const std::string& instance = "") {
        Settings settings = settings_;
        if (!instance.empty()) settings["group.instance.id"] = instance;
        return std::make_unique<Member>(settings, topics_, ledger);
    }
    void produce(int records_per_partition) {
        std::string value = "record";
        for (const std::string& topic : topics_)
            for (int p = 0; p < kPartitionsPerTopic; ++p)
                for (int i = 0; i < records_per_partition; ++i)
                    REQUIRE(producer_->produce(topic, p, RdKafka::Producer::RK_MSG_COPY, value.data(), value.size(),
                                               nullptr, 0, 0, nullptr) == RdKafka::ERR_NO_ERROR);
        REQUIRE(producer_->flush(20'000) == RdKafka::ERR_NO_ERROR);
        produced_ += std::int64_t{records_per_partition} * kPartitionsPerTopic * std::ssize(topics_);
    }
    [[nodiscard]] bool is_done() const { return ledger.committed_count() == produced_; }
    [[nodiscard]] std::int64_t left() const { return produced_ - ledger.committed_count(); }

    Ledger ledger;

  private:
    Settings settings_;
    std::vector<std::string> topics_;
    std::unique_ptr<RdKafka::Producer> producer_;
    std::int64_t produced_ = 0;
};

void poll_until(const std::vector<Member*>& members, const char* what, const std::function<bool()>& is_reached) {
    for (const auto deadline = Clock::now() + 60s; !is_reached();) {
        if (Clock::now() > deadline) FAIL("not within 60 s: " << what);
        for (Member* member : members) member->poll();
    }
}

/// Each partition has one owner, and the members have so many each, the largest first.
bool is_shared_out(const Member& one, const Member& other, std::pair<std::size_t, std::size_t> sizes) {
    const Partitions of_one = one.partitions();
    const Partitions of_other = other.partitions();
    Partitions all = of_one;
    all.insert(of_other.begin(), of_other.end());
    const std::pair<std::size_t, std::size_t> found = std::minmax({of_other.size(), of_one.size()}, std::greater<>());
    return found == sizes && all.size() == sizes.first + sizes.second;
}

void kill_coordinator(Brokers& brokers) {
    const int leader = brokers.leader();
    REQUIRE(leader != 0);
    brokers.kill(leader, SIGKILL);
    REQUIRE(brokers.leader() != 0);
    brokers.start(leader);
}

/// `sizes`: how many partitions each of two members gets.
void two_members_one_leaving(Brokers& brokers, const std::string& assignor, std::pair<std::size_t, std::size_t> sizes) {
    INFO(assignor);
    Group group(brokers, assignor);
    group.produce(8);
    const auto one = group.join();
    auto other = group.join();
    poll_until({one.get(), other.get()}, "two members share", [&] { return is_shared_out(*one, *other, sizes); });
    poll_until({one.get(), other.get()}, "the first records are processed", [&] { return group.is_done(); });
    REQUIRE(group.ledger.wrong == "");

    group.produce(8);
    poll_until({one.get(), other.get()}, "half of the next ones is processed", [&] { return group.left() <= 24; });
    const int revocations_before = one->revocations();
    other.reset();
    poll_until({one.get()}, "all is the first member's", [&] { return one->partitions().size() == 6; });
    poll_until({one.get()}, "the next ones are processed", [&] { return group.is_done(); });
    CHECK(one->revocations() - revocations_before == (assignor == "cooperative-sticky" ? 0 : 1));
    REQUIRE(group.ledger.wrong == "");

    other = group.join();
    poll_until({one.get(), other.get()}, "two members share again", [&] { return is_shared_out(*one, *other, sizes); });
    group.produce(8);
    poll_until({one.get(), other.get()}, "half of the last ones is processed", [&] { return group.left() <= 24; });
    kill_coordinator(brokers);
    poll_until({one.get(), other.get()}, "the last ones are processed", [&] { return group.is_done(); });
    poll_until({one.get(), other.get()}, "two members go on", [&] { return is_shared_out(*one, *other, sizes); });
    REQUIRE(group.ledger.wrong == "");
}

}  // namespace

TEST_CASE("a group shares its partitions, outlives its coordinator and takes over from who leaves", "[group]") {
    Brokers brokers(3, R"("GroupInitialRebalanceDelayMs": 200)");
    two_members_one_leaving(brokers, "range", {4, 2});
    two_members_one_leaving(brokers, "roundrobin", {3, 3});
    two_members_one_leaving(brokers, "cooperative-sticky", {3, 3});
}

TEST_CASE("a static member that is gone for a moment comes back to its partitions without a rebalance", "[group]") {
    Brokers brokers(3, R"("GroupInitialRebalanceDelayMs": 200)");
    Group group(brokers, "roundrobin");
    group.produce(10);
    const auto one = group.join("one");
    auto other = group.join("other");
    poll_until({one.get(), other.get()}, "two members share", [&] { return is_shared_out(*one, *other, {3, 3}); });
    poll_until({one.get(), other.get()}, "the first records are processed", [&] { return group.is_done(); });
    const Partitions before = other->partitions();
    const int rebalances_before = one->rebalances();

    group.produce(10);
    poll_until({one.get(), other.get()}, "some of the next are processed", [&] { return group.left() <= 40; });
    other.reset();
    poll_until({one.get()}, "the member that stays processes its own", [&] { return group.left() <= 30; });
    other = group.join("other");
    poll_until({one.get(), other.get()}, "all records are processed", [&] { return group.is_done(); });
    CHECK(other->partitions() == before);
    CHECK(one->rebalances() == rebalances_before);
    REQUIRE(group.ledger.wrong == "");
}

}  // namespace tidelock::tests
