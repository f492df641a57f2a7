// Tells a story: each line is carried out between two events of the world, which runs on while the line waits.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "protocol/storage/record_batch.h"
#include "scenarios/cluster.h"
#include "scenarios/script.h"
#include "scenarios/trace_adapter.h"
#include "sim/arena.h"

namespace tidelock::scenarios {

namespace {

constexpr Duration kStep = milliseconds(5);
constexpr Duration kDefaultWait = seconds(10);
constexpr Duration kClientWait = seconds(12);
constexpr Duration kConvergeWait = seconds(40);
constexpr std::int64_t kStorySeconds = 1'000;

/// Short delays, so that the lines of a story and not the dice decide the order of things.
Plan plan_of(const Script& script) {
    Plan plan;
    plan.scenario = script.name;
    plan.seed = 1;
    Settings& settings = plan.settings;
    settings[Setting::kChaosSeconds] = kStorySeconds;
    settings[Setting::kDelayMaxUs] = 1'000;
    settings[Setting::kSyncMaxUs] = 1'000;
    settings[Setting::kDriftPpm] = 0;
    settings[Setting::kTopics] = 0;
    for (const ScriptLine& line : script.lines) {
        if (line.verb == Verb::kSet) settings[*setting_of(line.name)] = line.amount;
        if (line.verb == Verb::kSeed) plan.seed = static_cast<std::uint64_t>(line.amount);
        if (line.verb == Verb::kCluster) settings[Setting::kBrokers] = line.amount;
    }
    std::int64_t& minimum = settings[Setting::kMinInsyncReplicas];
    if (minimum == 0) minimum = settings[Setting::kPreset] == kPresetGroup ? settings[Setting::kBrokers] / 2 + 1 : 1;
    return plan;
}

class StoryRun {
  public:
    StoryRun(const Script& script, const Plan& plan, TraceAdapter& trace, bool is_traced)
        : script_(script), cluster_(plan, sim::DigestRecording::kNothing), world_(cluster_.world()) {
        cluster_.set_watcher(
            [this](BrokerId broker, const broker::Observation& seen) { on_observation(broker, seen); });
        if (!is_traced) return;
        trace.set_world(&world_);
        world_.set_trace(&trace);
    }

    /// Empty if the story went as told.
    std::string run() {
        for (const ScriptLine& line : script_.lines) {
            if (world_.is_traced()) world_.note(sim::kNoHost, sim::TraceKind::kNote, "story " + line.text);
            const std::string wrong = run_line(line);
            if (!wrong.empty()) return fmt::format("{}:{}: {}", script_.file, line.number, wrong);
            const std::string broken = unexpected_violation();
            if (!broken.empty()) return fmt::format("{}:{}: {}", script_.file, line.number, broken);
        }
        if (!script_.expected_violation.empty()) return {};
        const std::string wrong = end_well();
        return wrong.empty() ? wrong : fmt::format("{}: at the end: {}", script_.file, wrong);
    }

    void copy_out(StoryResult& result) {
        result.digest = world_.digest();
        for (const checker::Violation& violation : cluster_.checker().violations())
            result.violations.push_back({std::string(checker::name_of(violation.invariant)), violation.time_ns,
                                         std::string(violation.message)});
    }

  private:
    using Groups = std::vector<BrokerId>;

    // --- names
    // ---------------------------------------------------------------------------------------------------------
    std::string resolve(const std::vector<std::string>& words, Groups& brokers) {
        for (const std::string& word : words) {
            const std::string wrong = resolve_one(word, brokers);
            if (!wrong.empty()) return wrong;
        }
        return {};
    }

    std::string resolve_one(const std::string& word, Groups& brokers) {
        constexpr std::string_view kRoles[] = {"all", "followers", "follower", "last-follower"};
        if (std::find(std::begin(kRoles), std::end(kRoles), word) != std::end(kRoles))
            return resolve_role(word, brokers);
        if (const auto alias = aliases_.find(word); alias != aliases_.end()) {
            brokers.push_back(alias->second);
            return {};
        }
        if (word == "leader") {
            const std::optional<BrokerId> leader = cluster_.leader();
            if (!leader) return "nobody leads";
            brokers.push_back(*leader);
            return {};
        }
        const bool is_number = word.size() == 1 && word[0] >= '1' && word[0] <= '9';
        const BrokerId broker(is_number ? word[0] - '0' : 0);
        if (broker.value < 1 || broker.value > cluster_.broker_count())
            return fmt::format("there is no broker \"{}\"", word);
        brokers.push_back(broker);
        return {};
    }

    std::string resolve_role(const std::string& word, Groups& brokers) {
        const std::optional<BrokerId> leader = cluster_.leader();
        if (word != "all" && !leader) return "nobody leads";
        Groups found;
        for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
            if (word == "all" || leader != BrokerId(id)) found.emplace_back(id);
        if (found.empty()) return "there is no follower";
        if (word == "follower") found.resize(1);
        if (word == "last-follower") found = {found.back()};
        brokers.insert(brokers.end(), found.begin(), found.end());
        return {};
    }

    static std::vector<sim::HostId> hosts_of(const Groups& brokers) {
        std::vector<sim::HostId> hosts;
        for (const BrokerId broker : brokers) hosts.push_back(host_of(broker));
        return hosts;
    }

    // --- running the world
    // -----------------------------------------------------------------------------------------------
    /// Runs until the question is answered with yes; false if it is not in time.
    template <typename Question>
    bool run_until(Duration at_most, Question question) {
        const sim::TimeNs end = world_.now() + at_most;
        while (!question()) {
            if (world_.now() >= end ||
                world_.run_until(std::min(end, world_.now() + kStep)) == sim::RunStop::kEventBudget)
                return false;
        }
        return true;
    }

    void run_for(Duration duration) { world_.run_until(world_.now() + duration); }

    std::string unexpected_violation() {
        if (!script_.expected_violation.empty() || !cluster_.has_violation()) return {};
        if (!cluster_.reports().empty())
            return fmt::format("{}: {}", cluster_.reports().front().first, cluster_.reports().front().second);
        const checker::Violation& first = cluster_.checker().violations().front();
        return fmt::format("{}: {}", checker::name_of(first.invariant), first.message);
    }

    bool has_expected_violation() {
        const auto& found = cluster_.checker().violations();
        return std::any_of(found.begin(), found.end(), [this](const checker::Violation& violation) {
            return checker::name_of(violation.invariant) == script_.expected_violation;
        });
    }

    void on_observation(BrokerId broker, const broker::Observation& observation) {
        if (std::holds_alternative<broker::RaftLeaderElected>(observation)) ++elections_;
        const auto armed = armed_.find(broker);
        if (armed == armed_.end() || armed->second != observation.index()) return;
        armed_.erase(armed);
        world_.kill_at_effect(host_of(broker), 1);
    }

    // --- clients
    // ---------------------------------------------------------------------------------------------------------
    Client& new_client() {
        sim::Host& host = cluster_.add_client_host(next_client_, fmt::format("script-{}", next_client_ - kScriptHost));
        Client& client = clients_.emplace_back(cluster_.workload(), host, checker::ClientId(next_client_));
        ++next_client_;
        if (const std::optional<BrokerId> leader = cluster_.leader()) client.set_target(*leader);
        return client;
    }

    /// Runs the call on a client of its own. The reply of a call that has not returned in time is "no answer".
    CallReply call(const clients::RequestBody& body, std::optional<BrokerId> via, Duration timeout = seconds(4)) {
        Client& client = new_client();
        auto reply = std::make_shared<std::optional<CallReply>>();
        world_.spawn(client.host(), [&client, body, via, timeout, reply] {
            *reply = via ? client.await_call(*via, body, timeout) : client.await_leader_call(body, timeout);
        });
        run_until(kClientWait, [&reply] { return reply->has_value(); });
        return reply->value_or(CallReply{});
    }

    std::string via_of(const ScriptLine& line, std::optional<BrokerId>& via) {
        Groups brokers;
        const std::string wrong = resolve(line.other_brokers, brokers);
        if (!brokers.empty()) via = brokers.front();
        return wrong;
    }

    static Bytes batch_of(const std::vector<std::uint64_t>& values) {
        storage::RecordBatchBuilder builder({});
        for (const std::uint64_t value : values) {
            ByteWriter bytes;
            bytes.u64(value);
            builder.add(0, std::nullopt, bytes.span());
        }
        return builder.build();
    }

    /// Starts a produce; `*done` holds its outcome once it has returned.
    std::string start_produce(const ScriptLine& line, std::shared_ptr<std::optional<checker::Outcome>> done) {
        std::optional<BrokerId> via;
        if (std::string wrong = via_of(line, via); !wrong.empty()) return wrong;
        Client& client = new_client();
        const auto acks = static_cast<clients::Acks>(line.acks);
        const clients::ProduceRequest request{
            {line.name, TopicId(0), PartitionIndex(line.partition)}, acks, seconds(2), batch_of(line.values)};
        world_.spawn(client.host(), [this, &client, &line, request, via, done] {
            client.begin_call(checker::ProduceCall{
                cluster_.calls().partition_number(line.name, PartitionIndex(line.partition)), kNoProducer,
                ProducerEpoch(-1), -1, static_cast<checker::Acks>(line.acks), line.values, std::nullopt});
            const CallReply reply =
                via ? client.await_call(*via, request, seconds(4)) : client.await_leader_call(request, seconds(4));
            const auto* answer = std::get_if<clients::ProduceAnswer>(&reply.answer.body);
            if (reply.is_ok() && answer != nullptr && answer->base_offset.value >= 0)
                client.calls().operation_of<checker::ProduceCall>(client.id()).base_offset = answer->base_offset;
            if (reply.end == CallEnd::kAnswered) last_error_ = clients::to_text(reply.error());
            client.end_call(reply.outcome());
            if (reply.is_ok()) acked_.insert(acked_.end(), line.values.begin(), line.values.end());
            *done = reply.outcome();
        });
        return {};
    }

    std::string produce(const ScriptLine& line) {
        auto done = std::make_shared<std::optional<checker::Outcome>>();
        last_error_ = "no answer";
        if (std::string wrong = start_produce(line, done); !wrong.empty()) return wrong;
        run_until(kClientWait, [&done] { return done->has_value(); });
        const auto outcome = static_cast<Expected>(done->value_or(checker::Outcome::kUnknown));
        if (outcome == line.expected) return {};
        return fmt::format("the produce ended otherwise: {} ({})", word_of(outcome), last_error_);
    }

    static std::string_view word_of(Expected outcome) {
        if (outcome == Expected::kOk) return "ok";
        return outcome == Expected::kRefused ? "refused" : "unknown";
    }

    std::string read(const ScriptLine& line) {
        std::optional<BrokerId> via;
        if (std::string wrong = via_of(line, via); !wrong.empty()) return wrong;
        const clients::PartitionName name{line.name, TopicId(0), PartitionIndex(line.partition)};
        std::vector<std::uint64_t> values;
        Offset next(line.amount);
        while (true) {
            const CallReply reply = call(clients::FetchRequest{name, next, 1 << 20, milliseconds(50)}, via);
            const auto* answer = std::get_if<clients::FetchAnswer>(&reply.answer.body);
            if (!reply.is_ok() || answer == nullptr)
                return reply.end == CallEnd::kAnswered
                           ? fmt::format("the read failed: {}", clients::to_text(reply.error()))
                           : "the read was not answered";
            const Offset before = next;
            const auto records = records_in(answer->batches, next, next);
            if (!records) return "the read answered no whole batches";
            for (const checker::ReadRecord& record : *records) values.push_back(record.value);
            if (next == before || next >= answer->high_watermark) break;
        }
        if (values == line.values) return {};
        return fmt::format("read {} instead", values.empty() ? "nothing" : fmt::format("{}", fmt::join(values, " ")));
    }

    /// Anything that changes something at the leader, tried again while the refusal says that may help.
    /// `done_already`: what the leader says when an earlier try, whose answer was lost, has done it.
    std::string change(const clients::RequestBody& body, Expected expected = Expected::kOk,
                       clients::ErrorCode done_already = clients::ErrorCode::kNone) {
        CallReply reply;
        int tries = 0;
        const bool is_answered = run_until(kClientWait, [&] {
            reply = call(body, std::nullopt);
            if (++tries > 1 && reply.end == CallEnd::kAnswered && reply.error() == done_already) reply = done();
            const bool may_help = reply.end == CallEnd::kNoAnswer || clients::traits_of(reply.error()).is_retriable;
            return reply.is_ok() || !may_help || expected != Expected::kOk;
        });
        const checker::Outcome outcome = reply.outcome();
        if (is_answered && static_cast<Expected>(outcome) == expected) return {};
        return fmt::format("it ended otherwise: {}",
                           reply.end == CallEnd::kAnswered ? clients::to_text(reply.error()) : "no answer");
    }

    static CallReply done() { return {CallEnd::kAnswered, {CorrelationId(0), BrokerId(0), clients::StatusAnswer{}}}; }

    /// A change as the history knows it: one call, however often it had to be sent.
    std::string told_change(decltype(checker::ClientCall::operation) operation, const clients::RequestBody& body,
                            clients::ErrorCode done_already = clients::ErrorCode::kNone) {
        const checker::ClientId administrator(kAdminHost);
        cluster_.calls().begin(administrator, world_.now().value, std::move(operation));
        std::string wrong = change(body, Expected::kOk, done_already);
        cluster_.calls().end(administrator, world_.now().value,
                             wrong.empty() ? checker::Outcome::kOk : checker::Outcome::kUnknown);
        return wrong;
    }

    std::string change_topic(const ScriptLine& line) {
        const auto count = static_cast<std::int32_t>(line.amount);
        const checker::ClientTopic topic = cluster_.calls().topic_number(line.name);
        if (line.verb == Verb::kCreateTopic)
            return told_change(checker::CreateTopicCall{topic, count},
                               clients::CreateTopicRequest{line.name, count, {}},
                               clients::ErrorCode::kTopicAlreadyExists);
        if (line.verb == Verb::kGrowTopic)
            return told_change(checker::GrowTopicCall{topic, count}, clients::GrowTopicRequest{line.name, count});
        cluster_.tell_checker(checker::TopicDeletionAsked{line.name});
        return told_change(checker::DeleteTopicCall{topic}, clients::DeleteTopicRequest{line.name},
                           clients::ErrorCode::kUnknownTopicOrPartition);
    }

    std::string delete_records(const ScriptLine& line) {
        const PartitionIndex partition(line.partition);
        cluster_.tell_checker(checker::RecordDeletionAsked{line.name, partition, Offset(line.amount)});
        return told_change(
            checker::DeleteRecordsCall{cluster_.calls().partition_number(line.name, partition), Offset(line.amount)},
            clients::DeleteRecordsRequest{{line.name, TopicId(0), partition}, Offset(line.amount)});
    }

    std::string transfer(const ScriptLine& line, BrokerId to) {
        const clients::TransferLeadershipRequest request{to};
        if (line.amount != 0) return change(request, line.expected);
        call(request, std::nullopt);
        return {};
    }

    std::string commit(const ScriptLine& line) {
        clients::OffsetCommitRequest request;
        request.group = "story";
        request.partition = {line.name, TopicId(0), PartitionIndex(line.partition)};
        request.offset = Offset(line.amount);
        return told_change(
            checker::OffsetCommitCall{cluster_.calls().group_number(request.group),
                                      cluster_.calls().partition_number(line.name, PartitionIndex(line.partition)),
                                      Offset(line.amount)},
            request);
    }

    std::string committed(const ScriptLine& line) {
        const clients::OffsetFetchRequest request{"story", {line.name, TopicId(0), PartitionIndex(line.partition)}};
        CallReply reply;
        run_until(kClientWait, [&] {
            reply = call(request, std::nullopt);
            return reply.is_ok();
        });
        const auto* answer = std::get_if<clients::OffsetFetchAnswer>(&reply.answer.body);
        if (!reply.is_ok() || answer == nullptr) return "nobody answers";
        return answer->offset.value == line.amount ? "" : fmt::format("it is {}", answer->offset.value);
    }

    // --- what is done to brokers
    // ---------------------------------------------------------------------------------------------
    std::string cut(const ScriptLine& line, const Groups& brokers, const Groups& others) {
        const std::vector<sim::HostId> one = hosts_of(brokers);
        const std::vector<sim::HostId> other = hosts_of(others);
        if (line.verb == Verb::kCut)
            world_.network().cut(sim::two_sided(one, other), sim::FaultKind::kPartitionTwoSided);
        else
            world_.network().cut(sim::one_way(one, other), sim::FaultKind::kPartitionOneWay);
        return {};
    }

    void clog(const Groups& brokers, const Groups& others, bool clogs) {
        for (const BrokerId from : brokers)
            for (const BrokerId to : others) {
                if (clogs)
                    world_.network().clog(host_of(from), host_of(to));
                else
                    world_.network().reset_connection(host_of(from), host_of(to));
            }
    }

    void unclog_all() {
        for (std::int32_t from = 1; from <= cluster_.broker_count(); ++from)
            for (std::int32_t to = 1; to <= cluster_.broker_count(); ++to)
                if (from != to) world_.network().unclog(sim::HostId(from), sim::HostId(to));
    }

    void lose(const ScriptLine& line, const Groups& brokers, const Groups& others) {
        if (line.name == "nothing") return world_.network().restore_all();
        const auto kind = static_cast<std::uint8_t>(line.amount);
        if (brokers.empty()) return world_.network().set_kind_loss(kind, sim::kMillion);
        for (const BrokerId from : brokers)
            for (const BrokerId to : others) world_.network().drop_next(host_of(from), host_of(to), kind, UINT32_MAX);
    }

    std::string on_each(const ScriptLine& line, const Groups& brokers) {
        for (const BrokerId broker : brokers) {
            const std::string wrong = on_one(line, broker);
            if (!wrong.empty()) return wrong;
        }
        return {};
    }

    std::string on_one(const ScriptLine& line, BrokerId broker) {
        const sim::HostId host = host_of(broker);
        const std::string name = fmt::format("broker {}", broker.value);
        switch (line.verb) {
            case Verb::kKill:
                return cluster_.kill(broker) ? "" : name + " is not running";
            case Verb::kRestart:
            case Verb::kStart:
                return start(broker) ? "" : name + " is running";
            case Verb::kWipe:
                if (world_.host(host).is_alive()) return name + " is running: kill it first";
                return cluster_.empty_disk(broker) ? ""
                                                   : "the promise would not survive it (unlimited_faults lifts that)";
            case Verb::kPause:
                return world_.pause(host) ? "" : name + " cannot be paused";
            case Verb::kResume:
                return world_.resume(host) ? "" : name + " is not paused";
            case Verb::kRejoin:
                return cluster_.rejoin_as_empty(broker) ? "" : "the promise would not survive it";
            case Verb::kKillAt:
                armed_[broker] = static_cast<std::size_t>(line.amount);
                return {};
            default:
                return on_disk(line, world_.host(host).disk());
        }
    }

    bool start(BrokerId broker) {
        if (started_.size() < static_cast<std::size_t>(cluster_.broker_count()) &&
            std::find(started_.begin(), started_.end(), broker) == started_.end()) {
            started_.push_back(broker);
            cluster_.start_broker(broker);
            return true;
        }
        return cluster_.restart(broker);
    }

    std::string on_disk(const ScriptLine& line, sim::Disk& disk) {
        if (line.verb == Verb::kSlowDisk) disk.slow_down(static_cast<std::uint32_t>(line.amount));
        if (line.verb == Verb::kStallDisk) disk.stall();
        if (line.verb == Verb::kReleaseDisk) disk.release();
        if (line.verb == Verb::kFullDisk)
            disk.set_capacity(disk.used_bytes() + static_cast<std::uint64_t>(line.amount));
        if (line.verb == Verb::kFreeDisk) disk.set_capacity(UINT64_MAX);
        return line.verb == Verb::kRot ? rot(line.name, disk) : "";
    }

    /// A bit in the middle of the first file whose name holds these letters.
    static std::string rot(const std::string& name, sim::Disk& disk) {
        for (const std::string& file : disk.list()) {
            const std::size_t size = disk.durable_content(file).size();
            if (file.find(name) == std::string::npos || size == 0) continue;
            return disk.rot_bit(file, size / 2, 3) ? "" : "the promise would not survive it";
        }
        return fmt::format("no file like \"{}\" has durable content", name);
    }

    void fail_syncs(const ScriptLine& line) {
        const std::uint64_t budget =
            world_.faults().delivered(sim::FaultKind::kSyncFailed) + static_cast<std::uint64_t>(line.amount);
        world_.faults().set_rate(sim::FaultKind::kSyncFailed, {sim::kMillion, static_cast<std::uint32_t>(budget)});
    }

    void command_role(const ScriptLine& line, const Groups& brokers) {
        const broker::RoleCommanded command{brokers.front(), static_cast<std::int32_t>(line.amount)};
        for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
            if (cluster_.is_up(BrokerId(id))) cluster_.broker_host(BrokerId(id)).command_role(world_, command);
    }

    // --- conditions
    // ----------------------------------------------------------------------------------------------------
    std::string check(const ScriptLine& line) {
        Groups brokers;
        std::string wrong;
        // Roles are looked up anew at each look; aliases and numbers stay.
        const auto holds = [&] {
            brokers.clear();
            wrong = resolve(line.brokers, brokers);
            return wrong.empty() && is_true(line, brokers) != line.is_negated;
        };
        const bool waits = line.verb == Verb::kAwait;
        const bool is_met = waits ? run_until(line.within.value_or(kDefaultWait), holds) : holds();
        if (is_met) return {};
        return fmt::format("{}: {}", waits ? "it did not come to this" : "it is not so",
                           wrong.empty() ? describe() : wrong);
    }

    bool is_true(const ScriptLine& line, const Groups& brokers) {
        switch (line.condition) {
            case Condition::kLeader: {
                const std::optional<BrokerId> leader = cluster_.leader();
                return leader && (brokers.empty() || *leader == brokers.front());
            }
            case Condition::kInSync: {
                const Groups all = in_sync_brokers();
                Groups wanted = brokers;
                std::sort(wanted.begin(), wanted.end());
                return all == wanted;
            }
            case Condition::kMark:
                return cluster_.mark_count(static_cast<broker::Mark>(line.amount)) > 0;
            case Condition::kElections:
                return elections_ >= line.amount;
            case Condition::kAcked:
                return std::all_of(line.values.begin(), line.values.end(), [this](std::uint64_t value) {
                    return std::find(acked_.begin(), acked_.end(), value) != acked_.end();
                });
            case Condition::kRaftLeader:
                return is_raft_leader(brokers);
            default:
                return std::all_of(brokers.begin(), brokers.end(),
                                   [&](BrokerId broker) { return is_true_on(line, broker); });
        }
    }

    Groups in_sync_brokers() const {
        Groups found;
        for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
            if (cluster_.is_in_sync(BrokerId(id))) found.emplace_back(id);
        return found;
    }

    bool is_raft_leader(const Groups& brokers) const {
        for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id) {
            const broker::Broker* broker = cluster_.broker(BrokerId(id));
            if (broker == nullptr || !raft::is_leader(broker->raft)) continue;
            if (brokers.empty() || brokers.front() == BrokerId(id)) return true;
        }
        return false;
    }

    bool is_true_on(const ScriptLine& line, BrokerId id) const {
        if (line.condition == Condition::kRefused) return !cluster_.refusal(id).empty();
        if (line.condition == Condition::kUp) return cluster_.is_up(id);
        const broker::Broker* broker = cluster_.broker(id);
        if (broker == nullptr) return false;
        const storage::TopicEntry* topic = broker->topics.find(line.name);
        if (line.condition == Condition::kTopic)
            return topic != nullptr && (line.amount == 0 || topic->partition_count == line.amount);
        if (topic == nullptr) return false;
        const TopicPartition partition{topic->id, PartitionIndex(line.partition)};
        const std::optional<storage::LogView> log = broker->logs.view(partition);
        const auto state = broker->partitions.find(partition);
        if (!log || state == broker->partitions.end()) return false;
        const Offset offset(line.amount);
        if (line.condition == Condition::kHighWatermark) return state->second.high_watermark.value() == offset;
        return line.condition == Condition::kLogEnd ? log->log_end_offset == offset : log->log_start_offset == offset;
    }

    /// The cluster in one line, for failures.
    std::string describe() const {
        const std::optional<BrokerId> leader = cluster_.leader();
        std::string text = leader ? fmt::format("leader {}", leader->value) : "no leader";
        text += ", in sync";
        for (const BrokerId broker : in_sync_brokers()) text += fmt::format(" {}", broker.value);
        for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id) text += describe_logs(BrokerId(id));
        return text;
    }

    std::string describe_logs(BrokerId id) const {
        const broker::Broker* broker = cluster_.broker(id);
        if (broker == nullptr) return fmt::format("; {} down", id.value);
        std::string text = fmt::format("; {} term {}", id.value, broker->raft.persistent.term.value);
        for (const storage::TopicEntry& topic : broker->topics.topics) {
            if (topic.config.is_internal) continue;
            const TopicPartition partition{topic.id, PartitionIndex(0)};
            const std::optional<storage::LogView> log = broker->logs.view(partition);
            const auto state = broker->partitions.find(partition);
            if (!log || state == broker->partitions.end()) continue;
            text += fmt::format(" {}-0 [{}, {}) durable {} watermark {}", topic.name, log->log_start_offset.value,
                                log->log_end_offset.value, log->durable_end_offset.value,
                                state->second.high_watermark.value().value);
        }
        return text;
    }

    // --- the end
    // ---------------------------------------------------------------------------------------------------------
    std::string converge() {
        if (!is_heal_told_) cluster_.tell_checker(checker::HealBegan{});
        is_heal_told_ = true;
        armed_.clear();
        world_.stop_faults();
        for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
            if (!world_.host(sim::HostId(id)).is_alive()) cluster_.restart(BrokerId(id));
        const bool is_whole = run_until(kConvergeWait, [this] {
            for (std::int32_t id = 1; id <= cluster_.broker_count(); ++id)
                if (!cluster_.refusal(BrokerId(id)).empty()) cluster_.rejoin_as_empty(BrokerId(id));
            return cluster_.leader() && in_sync_brokers().size() == static_cast<std::size_t>(cluster_.broker_count());
        });
        return is_whole ? "" : fmt::format("the healed cluster did not come back: {}", describe());
    }

    std::string end_well() {
        const std::string wrong = converge();
        if (wrong.empty()) {
            run_for(seconds(1));
            cluster_.start_verifier();
            run_until(kConvergeWait, [this] { return cluster_.verification().is_finished; });
            run_for(seconds(1));
        }
        cluster_.finish(true);
        const std::string broken = unexpected_violation();
        return broken.empty() ? wrong : broken;
    }

    std::string expect_violation() {
        if (has_expected_violation()) return {};
        end_well();
        if (has_expected_violation()) return {};
        std::string seen;
        for (const checker::Violation& violation : cluster_.checker().violations())
            seen += fmt::format(" {}", checker::name_of(violation.invariant));
        return fmt::format("{} holds{}{}: {}", script_.expected_violation, seen.empty() ? "" : "; broken:", seen,
                           describe());
    }

    // --- one line
    // --------------------------------------------------------------------------------------------------------
    std::string run_line(const ScriptLine& line) {
        switch (line.verb) {
            case Verb::kSet:
            case Verb::kSeed:
            case Verb::kCluster:
                return {};  // read before the world was made
            case Verb::kProduce:
                return produce(line);
            case Verb::kSend:
                return start_produce(line, std::make_shared<std::optional<checker::Outcome>>());
            case Verb::kRead:
                return read(line);
            case Verb::kCreateTopic:
            case Verb::kGrowTopic:
            case Verb::kDeleteTopic:
                return change_topic(line);
            case Verb::kDeleteRecords:
                return delete_records(line);
            case Verb::kCommit:
                return commit(line);
            case Verb::kCommitted:
                return committed(line);
            case Verb::kConverge:
                return converge();
            case Verb::kAwait:
            case Verb::kExpect:
                return check(line);
            case Verb::kExpectViolation:
                return expect_violation();
            default:
                return run_on_brokers(line);
        }
    }

    std::string run_on_brokers(const ScriptLine& line) {
        Groups brokers;
        Groups others;
        std::string wrong = resolve(line.brokers, brokers);
        if (wrong.empty()) wrong = resolve(line.other_brokers, others);
        if (!wrong.empty()) return wrong;
        switch (line.verb) {
            case Verb::kLet:
                aliases_[line.name] = brokers.front();
                return {};
            case Verb::kTransfer:
                return transfer(line, brokers.front());
            case Verb::kCut:
            case Verb::kCutOneWay:
                return cut(line, brokers, others);
            case Verb::kHeal:
                world_.network().heal_all();
                return {};
            case Verb::kClog:
            case Verb::kReset:
                clog(brokers, others, line.verb == Verb::kClog);
                return {};
            case Verb::kUnclog:
                unclog_all();
                return {};
            case Verb::kLose:
                lose(line, brokers, others);
                return {};
            case Verb::kPowerLoss:
                cluster_.lose_power(brokers);
                return {};
            case Verb::kFailSyncs:
                fail_syncs(line);
                return {};
            case Verb::kRole:
                command_role(line, brokers);
                return {};
            case Verb::kWait:
                run_for(*line.within);
                return {};
            default:
                return on_each(line, brokers);
        }
    }

    const Script& script_;
    Cluster cluster_;
    sim::World& world_;
    std::deque<Client> clients_;
    std::int32_t next_client_ = kScriptHost;
    std::map<std::string, BrokerId> aliases_;
    std::vector<BrokerId> started_;
    std::map<BrokerId, std::size_t> armed_;  // to be killed at an observation
    std::vector<std::uint64_t> acked_;
    std::string last_error_;
    std::int64_t elections_ = 0;
    bool is_heal_told_ = false;
};

}  // namespace

StoryResult run_script(const Script& script, TraceSink* sink) {
    StoryResult result;
    const Plan plan = plan_of(script);
    TraceAdapter trace(sink);
    sim::Arena::reset();
    {
        const sim::ArenaScope scope;
        auto run = std::make_unique<StoryRun>(script, plan, trace, sink != nullptr);
        const std::string failure = run->run();
        {
            const sim::ArenaPause pause;
            result.failure = std::string(failure.data(), failure.size());
            run->copy_out(result);
        }
        if (sim::kArenaEnabled) static_cast<void>(run.release());
    }
    result.passed = result.failure.empty();
    return result;
}

}  // namespace tidelock::scenarios
