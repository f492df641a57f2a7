// Tells a story: each line is carried out between two events of the world, which runs on while the line waits.
#include "scenarios/script_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sim/arena.h"

namespace tidelock::scenarios {

namespace {

constexpr Duration kStep = milliseconds(5);
constexpr Duration kConvergeWait = seconds(40);
constexpr std::int64_t kStorySeconds = 1'000;

/// Short delays, so that the lines of a story and not the dice decide the order of things.
Plan plan_of(const Script& script) {
    Plan plan;
    plan.scenario = script.name;
    plan.seed = script.seed;
    Settings& settings = plan.settings;
    settings[Setting::kChaosSeconds] = kStorySeconds;
    settings[Setting::kDelayMaxUs] = 1'000;
    settings[Setting::kSyncMaxUs] = 1'000;
    settings[Setting::kDriftPpm] = 0;
    settings[Setting::kTopics] = 0;
    for (const ScriptLine& line : script.lines) {
        if (line.verb == Verb::kSet) settings[*setting_of(line.name)] = line.amount;
        if (line.verb == Verb::kCluster) settings[Setting::kBrokers] = line.amount;
    }
    std::int64_t& minimum = settings[Setting::kMinInsyncReplicas];
    if (minimum == 0) minimum = settings[Setting::kPreset] == kPresetGroup ? settings[Setting::kBrokers] / 2 + 1 : 1;
    return plan;
}

}  // namespace

StoryRun::StoryRun(const Script& script, const Plan& plan, TraceAdapter& trace, bool is_traced)
    : script_(script), cluster_(plan, sim::DigestRecording::kNothing), world_(cluster_.world()) {
    cluster_.set_watcher([this](BrokerId broker, const broker::Observation& seen) { on_observation(broker, seen); });
    if (!is_traced) return;
    trace.set_world(&world_);
    world_.set_trace(&trace);
}

std::string StoryRun::run() {
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

void StoryRun::copy_out(StoryResult& result) {
    result.digest = world_.digest();
    result.events = static_cast<std::int64_t>(world_.event_count());
    result.virtual_ns = world_.now().value;
    result.acked_records = cluster_.checker().acknowledged_record_count();
    result.read_records = cluster_.checker().read_record_count();
    for (const checker::Violation& violation : cluster_.checker().violations())
        result.violations.push_back(
            {std::string(checker::name_of(violation.invariant)), violation.time_ns, std::string(violation.message)});
}

std::string StoryRun::run_line(const ScriptLine& line) {
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

std::string StoryRun::run_on_brokers(const ScriptLine& line) {
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

std::string StoryRun::resolve(const std::vector<std::string>& words, Groups& brokers) {
    for (const std::string& word : words) {
        const std::string wrong = resolve_one(word, brokers);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

std::string StoryRun::resolve_one(const std::string& word, Groups& brokers) {
    constexpr std::string_view kRoles[] = {"all", "followers", "follower", "last-follower"};
    if (std::find(std::begin(kRoles), std::end(kRoles), word) != std::end(kRoles)) return resolve_role(word, brokers);
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

std::string StoryRun::resolve_role(const std::string& word, Groups& brokers) {
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

bool StoryRun::run_until(Duration at_most, const std::function<bool()>& question) {
    const sim::TimeNs end = world_.now() + at_most;
    while (!question()) {
        if (world_.now() >= end || world_.run_until(std::min(end, world_.now() + kStep)) == sim::RunStop::kEventBudget)
            return false;
    }
    return true;
}

void StoryRun::run_for(Duration duration) {
    world_.run_until(world_.now() + duration);
}

void StoryRun::on_observation(BrokerId broker, const broker::Observation& observation) {
    if (std::holds_alternative<broker::RaftLeaderElected>(observation)) ++elections_;
    const auto armed = armed_.find(broker);
    if (armed == armed_.end() || armed->second != observation.index()) return;
    armed_.erase(armed);
    world_.kill_at_effect(host_of(broker), 1);
}

std::string StoryRun::converge() {
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

std::string StoryRun::end_well() {
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
