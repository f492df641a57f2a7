#include "tools/live/live_schedule.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "checker/checker.h"
#include "scenarios/client_hosts.h"
#include "scenarios/cluster.h"
#include "tools/live/broker_doors.h"
#include "tools/live/live_nemesis.h"
#include "tools/live/silence.h"

namespace tidelock::live {
namespace {

using scenarios::Setting;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLogEntriesMin = 8;
constexpr std::int64_t kStatusIntervalMs = 500;
/// How often brokers are looked at.
constexpr std::int64_t kLookNs = 10'000'000;
constexpr std::int64_t kNapNs = 5'000'000;
/// Real brokers need that long to come up before there is anything to disturb.
constexpr std::int64_t kHeadStartNs = 3 * kSecond;

sim::WorldConfig world_of_clients() {
    sim::WorldConfig config;
    config.network.link.delay = sim::Distribution::fixed(nanoseconds(1));
    return config;
}

std::vector<sockaddr_in> addresses_of(const BrokerNetwork& network, const BrokerProcesses& brokers) {
    std::vector<sockaddr_in> addresses;
    for (int id = 1; id <= brokers.count(); ++id) {
        sockaddr_in& address = addresses.emplace_back();
        address.sin_family = AF_INET;
        address.sin_port = htons(brokers.client_port(BrokerId(id)));
        ::inet_pton(AF_INET, network.host_of(BrokerId(id)).c_str(), &address.sin_addr);
    }
    return addresses;
}

class LiveRun {
  public:
    LiveRun(const scenarios::Plan& plan, const LiveOptions& options, BrokerNetwork& network, std::string folder)
        : plan_(plan),
          options_(options),
          begin_ns_(now_ns()),
          world_(world_of_clients(), plan.seed),
          calls_([this](const checker::ClientCall& call) { on_call(call); },
                 [this](checker::ClientTopic topic, const std::string& name) {
                     // Not later than the call that begins now, which has the time of its world.
                     history_.add(begin_ns_ + world_.now().value,
                                  checker::HostFact(checker::ClientTopicNamed{topic, name}));
                 }),
          clients_(plan_, world_, calls_),
          brokers_(options.program, std::move(folder), plan_.settings, network, history_),
          nemesis_(plan_, brokers_, network, clients_.workload()),
          network_(network) {}
    ~LiveRun() { world_.end_stories(); }

    LiveResult run() {
        LiveResult result;
        result.unsound = brokers_.prepare();
        if (!result.unsound.empty()) return result;
        doors_ = std::make_unique<BrokerDoors>(world_, wires_, addresses_of(network_, brokers_));
        for (int id = 1; id <= brokers_.count(); ++id) brokers_.start(BrokerId(id));
        clients_.start(admin_hooks());
        run_phases(result);
        calls_.end_all(elapsed_ns());
        brokers_.stop_all();
        if (std::string error = brokers_.look_at_the_end(); !error.empty() && result.unsound.empty())
            result.unsound = error;
        judge(result);
        return result;
    }

  private:
    [[nodiscard]] std::int64_t elapsed_ns() const { return now_ns() - begin_ns_; }
    void add_fact(checker::HostFact fact) { history_.add(now_ns(), std::move(fact)); }
    /// Calls tell times of the world, which began with this run.
    void on_call(checker::ClientCall call) {
        call.invoked_ns += begin_ns_;
        call.returned_ns += begin_ns_;
        const bool is_acknowledged =
            call.outcome == checker::Outcome::kOk && std::holds_alternative<checker::ProduceCall>(call.operation);
        if (is_acknowledged) acknowledged_ns_.push_back(call.returned_ns);
        history_.add(call.returned_ns, std::move(call));
    }

    scenarios::AdminHooks admin_hooks() {
        scenarios::AdminHooks hooks;
        hooks.before_delete_topic = [this](const std::string& topic) { add_fact(checker::TopicDeletionAsked{topic}); };
        hooks.before_delete_records = [this](const std::string& topic, PartitionIndex partition, Offset before) {
            add_fact(checker::RecordDeletionAsked{topic, partition, before});
        };
        hooks.after_fault = [this](const scenarios::PlannedFault& fault, bool was_done) {
            if (was_done) ++asked_[scenarios::full_name_of(fault.kind)];
        };
        return hooks;
    }

    void run_phases(LiveResult& result) {
        const std::int64_t heal_at = kHeadStartNs + plan_.settings[Setting::kChaosSeconds] * kSecond;
        const std::int64_t heal = plan_.settings[Setting::kHealSeconds] * kSecond;
        if (!run_to(kHeadStartNs, result)) return;
        if (!run_to(heal_at, result)) return;
        nemesis_.heal();
        add_fact(checker::HealBegan{});
        if (!run_to(heal_at + heal * 3 / 10, result)) return;
        clients_.workload().are_producers_done = true;
        if (!run_to(heal_at + heal * 4 / 10, result)) return;
        clients_.start_verifier();
        run_to(heal_at + heal * 2, result);
    }

    /// False: it is over.
    bool run_to(std::int64_t end_ns, LiveResult& result) {
        while (elapsed_ns() < end_ns) {
            if (options_.stop != nullptr && *options_.stop) {
                result.was_stopped = true;
                return false;
            }
            if (clients_.verification().is_finished) return true;
            step(end_ns);
            if (!error_.empty()) result.unsound = error_;
            // Whoever stops the run may have stopped brokers first.
            const bool is_stopped = options_.stop != nullptr && *options_.stop;
            if (!error_.empty() || (!is_stopped && !brokers_.unexpected_ends().empty())) return false;
        }
        return true;
    }

    void step(std::int64_t end_ns) {
        nemesis_.run_until(std::max<std::int64_t>(0, elapsed_ns() - kHeadStartNs), world_.now());
        if (elapsed_ns() >= next_look_ns_) {
            error_ = brokers_.look();
            next_look_ns_ = elapsed_ns() + kLookNs;
        }
        world_.run_until(sim::TimeNs(elapsed_ns()));
        const std::optional<sim::TimeNs> next_event = world_.queue().next_time();
        const std::int64_t until = std::min({end_ns, elapsed_ns() + kNapNs, next_event ? next_event->value : end_ns});
        std::vector<WireNews> news = wires_.await_news(nanoseconds(until - elapsed_ns()));
        if (news.empty()) return;
        // What has come was sent before this moment.
        world_.run_until(sim::TimeNs(elapsed_ns()));
        doors_->deliver(std::move(news));
    }

    void judge(LiveResult& result) {
        checker::Checker judge(scenarios::checker_settings(plan_));
        result.observations = static_cast<std::int64_t>(history_.size());
        history_.tell(judge);
        checker::FinalView view;
        for (int id = 1; id <= brokers_.count(); ++id)
            view.brokers.push_back(
                {BrokerId(id), true, brokers_.refusal(BrokerId(id)), brokers_.data_incarnation(BrokerId(id)), false});
        view.in_sync_replicas = brokers_.in_sync_replicas();
        view.leader = history_.last_serving();
        clients_.add_to(view);
        for (checker::FinalRead& read : view.reads)
            if (read.last_invoked_ns != std::numeric_limits<std::int64_t>::max() && read.last_invoked_ns != 0)
                read.last_invoked_ns += begin_ns_;
        if (view.topics_listed_ns != std::numeric_limits<std::int64_t>::max()) view.topics_listed_ns += begin_ns_;
        view.judge_progress = false;  // by what is said below: nobody looks into real brokers
        judge.at_end(now_ns(), view);
        for (const checker::Violation& each : judge.violations())
            result.violations.push_back(
                {std::string(checker::name_of(each.invariant)), each.time_ns - begin_ns_, std::string(each.message)});
        judge_ends(result);
        result.acked_records = judge.acknowledged_record_count();
        result.read_records = judge.read_record_count();
        for (const std::int64_t kill : nemesis_.leader_kills_ns())
            if (const auto silence = silence_after(kill, acknowledged_ns_))
                result.leader_kill_silences_ns.push_back(*silence);
        result.faults = nemesis_.delivered();
        for (std::size_t i = 0; i < scenarios::order_kinds().size(); ++i)
            if (const std::int64_t taken = clients_.workload().orders_taken[i]; taken > 0)
                result.faults[scenarios::full_name_of(scenarios::order_kinds()[i])] += taken;
        for (const auto& [name, count] : asked_) result.faults[name] += count;
        if (!nemesis_.complaints().empty() && result.unsound.empty()) result.unsound = nemesis_.complaints().front();
        if (!brokers_.failure().empty() && result.unsound.empty()) result.unsound = brokers_.failure();
        // A run in which nothing happened shows nothing.
        const bool is_whole = result.unsound.empty() && !result.was_stopped && result.violations.empty();
        if (is_whole && result.acked_records == 0) result.unsound = "no record was acknowledged";
    }

    void judge_ends(LiveResult& result) {
        if (result.was_stopped) return;
        for (const UnexpectedEnd& end : brokers_.unexpected_ends())
            result.violations.push_back(
                {"crash", elapsed_ns(),
                 fmt::format("broker {} ended {}\n{}", end.broker.value, end.how, end.last_words)});
        const bool is_whole = result.unsound.empty() && !result.was_stopped && brokers_.unexpected_ends().empty();
        if (is_whole && !clients_.verification().is_finished)
            result.violations.push_back(
                {"progress", elapsed_ns(), "faults have stopped, but not every partition was written to and read"});
    }

    const scenarios::Plan& plan_;
    const LiveOptions& options_;
    std::int64_t begin_ns_;
    sim::World world_;
    History history_;
    scenarios::CallLog calls_;
    scenarios::ClientHosts clients_;
    BrokerProcesses brokers_;
    LiveNemesis nemesis_;
    BrokerNetwork& network_;
    BrokerWires wires_;
    std::unique_ptr<BrokerDoors> doors_;
    std::map<std::string, std::int64_t> asked_;  // faults that the administrator did
    std::vector<std::int64_t> acknowledged_ns_;  // in order of return
    std::int64_t next_look_ns_ = 0;
    std::string error_;
};

}  // namespace

scenarios::Plan for_real(scenarios::Plan plan, bool can_cut, std::int64_t& skipped_faults) {
    scenarios::Settings& settings = plan.settings;
    const scenarios::Settings defaults;
    settings[Setting::kPreset] = scenarios::kPresetGroup;
    settings[Setting::kUnlimitedFaults] = 0;
    settings[Setting::kKafkaPermille] = 1'000;
    settings[Setting::kRetentionRecords] = 0;  // Kafka's words for it come later
    for (const Setting setting :
         {Setting::kSeedExpandAtHighWatermarkOnly, Setting::kSeedSingleShotTruncation, Setting::kSeedNoCaretaker,
          Setting::kSeedIgnoreDataIncarnation, Setting::kSeedPositionsAsReceived, Setting::kSeedExpandWithinLagBound,
          Setting::kSeedHighWatermarkMayFall, Setting::kSeedObserveInTwoReads, Setting::kSeedNoPreVote,
          Setting::kSeedShrinkBelowMinimum})
        settings[setting] = 0;
    for (const Setting setting : {Setting::kAckLeaderDurably, Setting::kProducersRemembered})
        settings[setting] = defaults[setting];
    // What a configuration may say.
    settings[Setting::kRaftLogEntriesMax] = std::max(settings[Setting::kRaftLogEntriesMax], kLogEntriesMin);
    settings[Setting::kHeartbeatMs] =
        std::min(settings[Setting::kHeartbeatMs], settings[Setting::kElectionTimeoutMinMs] / 2);
    if (plan.pollers.empty()) plan.pollers.push_back({1, kStatusIntervalMs});  // V22
    const auto is_out = [&](const scenarios::PlannedFault& fault) { return !is_possible(fault.kind, can_cut); };
    skipped_faults = static_cast<std::int64_t>(std::erase_if(plan.faults, is_out));
    return plan;
}

LiveResult run_live(const scenarios::Plan& planned, const LiveOptions& options) {
    LiveResult result;
    const int count = static_cast<int>(planned.settings[Setting::kBrokers]);
    std::unique_ptr<BrokerNetwork> network = BrokerNetwork::of_loopback(count);
    if (options.wants_namespaces) {
        auto made = BrokerNetwork::of_namespaces(count);
        if (made)
            network = std::move(*made);
        else
            result.fallback = made.error();
    }
    const scenarios::Plan plan = for_real(planned, network->can_cut(), result.skipped_faults);
    const std::string folder = fmt::format("{}/{}-{}", options.folder, plan.scenario, plan.seed);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    std::filesystem::create_directories(folder, error);
    if (error) {
        result.unsound = fmt::format("{}: {}", folder, error.message());
        return result;
    }
    LiveResult seen = LiveRun(plan, options, *network, folder).run();
    seen.skipped_faults = result.skipped_faults;
    seen.fallback = result.fallback;
    seen.folder = folder;
    result = std::move(seen);
    if (result.violations.empty() && result.unsound.empty()) std::filesystem::remove_all(folder, error);
    return result;
}

}  // namespace tidelock::live
