/// A few brokers on one bench: steps, messages, disks and timers by hand, in the order a test wants them. No faults of
/// its own; what is lost, late or held back is said by the test.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/broker/broker.h"

namespace tidelock::broker {

class Bench {
  public:
    /// Brokers 1 to `count`, not started yet.
    Bench(std::int32_t count, const std::function<void(Config&)>& configure);

    /// Boots a broker from what its disk holds now; what it was before is gone.
    /// What syncs and reads of the `held` owners end in is not told before release().
    void start(std::int32_t id, std::set<storage::FileOwner> held = {});
    void start_all();
    /// From its next start on, this broker is configured with other members.
    void set_members(std::int32_t id, std::vector<BrokerId> members) { nodes_.at(id).config.members = members; }
    void configure(std::int32_t id, const std::function<void(Config&)>& change) { change(nodes_.at(id).config); }
    /// One event of one broker, and everything that follows without time passing.
    void step(std::int32_t id, const Event& event);
    /// Lets time pass; timers fire in their order, each at its earliest moment.
    void advance(Duration by);
    /// Lets time pass until `is_there` holds. False: it did not within `at_most`.
    bool advance_until(const std::function<bool()>& is_there, Duration at_most = seconds(20));

    /// Asks as a client; the answer, if any, is found by the number returned.
    CorrelationId ask(std::int32_t id, clients::RequestBody body);
    [[nodiscard]] const clients::Answer* answer_to(CorrelationId asked) const;
    /// Whether the request was answered, and so.
    [[nodiscard]] bool is_answered(CorrelationId asked, clients::ErrorCode error) const;

    /// Syncs and reads of this owner are not answered before release().
    void hold(std::int32_t id, storage::FileOwner owner) { nodes_.at(id).held_owners.insert(owner); }
    void release(std::int32_t id);
    /// Reads of the log are not answered before release().
    void hold_reads(std::int32_t id) { nodes_.at(id).holds_reads = true; }
    /// From now on reads are answered again; those that are held are not.
    void pass_reads(std::int32_t id) { nodes_.at(id).holds_reads = false; }
    /// From now on no write finds room on this disk.
    void fill_disk(std::int32_t id) { nodes_.at(id).is_full = true; }
    /// Files whose names begin so are gone.
    void lose(std::int32_t id, const std::string& prefix);
    /// Flips a bit in the middle of the file.
    void rot(std::int32_t id, const std::string& file);
    /// Flips a bit of the byte there.
    void rot_at(std::int32_t id, const std::string& file, std::size_t position);
    /// From now on syncs of the directory that the log store asks for fail, or are well again.
    void fail_directory_syncs(std::int32_t id, bool do_fail) { nodes_.at(id).fails_directory_syncs = do_fail; }
    void free_disk(std::int32_t id) { nodes_.at(id).is_full = false; }
    /// Answers only what is held right now; what is asked for because of it is held again.
    void release_once(std::int32_t id);
    /// Nothing reaches or leaves this broker from now on.
    void cut_off(std::int32_t id) { unreachable_.insert(id); }
    void reconnect(std::int32_t id) { unreachable_.erase(id); }
    /// What brokers send to each other is changed so on its way, from now on; null: nothing is.
    void alter(std::function<void(std::int32_t from, PeerMessage& message)> change) { alter_ = std::move(change); }

    /// From now on this broker tells nobody its position in the partition.
    void withhold_positions(std::int32_t id, TopicPartition partition);
    void tell_positions() { alter_ = nullptr; }

    [[nodiscard]] const Broker& at(std::int32_t id) const { return *nodes_.at(id).broker; }
    /// Why the broker refused to start, or to go on; empty: it did not.
    [[nodiscard]] const std::string& refusal(std::int32_t id) const { return nodes_.at(id).refusal; }
    /// How often it has closed all its clients' connections, in this life and those before.
    [[nodiscard]] int closings(std::int32_t id) const { return nodes_.at(id).closings; }
    /// The broker that serves; 0: none, or two.
    [[nodiscard]] std::int32_t serving() const;
    /// Whether every broker is in the serving one's committed set.
    [[nodiscard]] bool is_whole() const;
    /// Starts all and waits until one serves, the internal topics exist and everybody is in step.
    bool form();
    bool create_topic(const std::string& name, std::int32_t partition_count = 1);
    /// Has this in-sync broker lead.
    bool transfer_to(std::int32_t id);
    [[nodiscard]] Instant now() const { return now_; }

  private:
    struct Node {
        Config config;
        std::optional<Broker> broker;
        std::map<std::string, std::vector<std::byte>> files;
        std::map<TimerKind, Instant> timers;
        std::set<storage::FileOwner> held_owners;
        std::vector<storage::FileEvent> held;
        bool holds_reads = false;
        int closings = 0;
        bool is_full = false;
        bool fails_directory_syncs = false;
        std::string refusal;
    };
    struct Coming {
        std::int32_t to;
        Event event;
    };
    void take(std::int32_t id, const Event& event);
    void carry_out(std::int32_t id, const Effect& effect);
    void carry_out_file(std::int32_t id, const storage::FileEffect& effect);
    void complete(std::int32_t id, storage::FileOpId op, storage::FileEvent event);
    void settle();

    std::map<std::int32_t, Node> nodes_;
    std::deque<Coming> coming_;
    std::set<std::int32_t> unreachable_;
    std::function<void(std::int32_t from, PeerMessage& message)> alter_;
    std::map<std::int64_t, clients::Answer> answers_;
    std::int64_t next_correlation_ = 1;
    std::uint64_t next_entropy_ = 1;
    Instant now_{1'000'000'000};
};

/// A batch of one record.
Bytes one_record(ProducerId producer = kNoProducer, std::int32_t sequence = -1);
clients::ProduceRequest produce_to(const std::string& topic, clients::Acks acks, Duration timeout);

}  // namespace tidelock::broker
