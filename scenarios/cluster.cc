#include "scenarios/cluster.h"

#include <algorithm>
#include <charconv>

#include "scenarios/call_text.h"
#include "scenarios/match_witness.h"
#include "scenarios/position_witness.h"
#include "sim/rng.h"

namespace tidelock::scenarios {

namespace {

/// A read that failed or answered wrongly once: after this long it has led to a recopy, or never will.
constexpr Duration kHarmlessAfter = seconds(3);

std::optional<checker::DiskDamage> damage_kind(sim::FaultKind kind) {
    switch (kind) {
        case sim::FaultKind::kBitRot:
            return checker::DiskDamage::kBitRot;
        case sim::FaultKind::kMisdirectedWrite:
            return checker::DiskDamage::kMisdirectedWrite;
        case sim::FaultKind::kMisdirectedRead:
            return checker::DiskDamage::kMisdirectedRead;
        case sim::FaultKind::kReadError:
        case sim::FaultKind::kSectorUnreadable:
            return checker::DiskDamage::kUnreadable;
        default:
            return std::nullopt;  // unsynced data, or an emptied disk
    }
}

bool is_lasting(sim::FaultKind kind) {
    return kind != sim::FaultKind::kReadError && kind != sim::FaultKind::kMisdirectedRead;
}

/// "<topic id, hex>-<partition>/<file>"; empty for any other name.
std::optional<TopicPartition> partition_of_file(std::string_view file) {
    const std::size_t dash = file.find('-');
    const std::size_t slash = file.find('/');
    if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) return std::nullopt;
    TopicPartition partition;
    const char* begin = file.data();
    const auto topic = std::from_chars(begin, begin + dash, partition.topic.value, 16);
    const auto number = std::from_chars(begin + dash + 1, begin + slash, partition.partition.value);
    const bool is_whole =
        topic.ec == std::errc{} && topic.ptr == begin + dash && number.ec == std::errc{} && number.ptr == begin + slash;
    return is_whole ? std::optional(partition) : std::nullopt;
}

}  // namespace

namespace {

/// What both promises survive: of the copies of a confirmed record (G8), and of the votes of the group, whose majority
/// must be left to admit who was emptied (R11).
std::int32_t damage_tolerated(const Plan& plan) {
    const auto minority = static_cast<std::int32_t>((plan.settings[Setting::kBrokers] - 1) / 2);
    return std::min(checker::destroyed_copies_tolerated(checker_settings(plan)), minority);
}

/// Drawn for each boot.
bool does_trust_indexes(const Plan& plan, BrokerId broker, std::uint32_t life) {
    sim::Rng rng(plan.seed, "trust-indexes", (std::uint64_t{life} << 8U) | static_cast<std::uint64_t>(broker.value));
    return rng.between(0, 999) < plan.settings[Setting::kTrustIndexesPermille];
}

}  // namespace

Cluster::Cluster(const Plan& plan, sim::DigestRecording recording)
    : plan_(plan),
      world_(world_config(plan, recording), plan.seed),
      checker_(checker_settings(plan)),
      calls_([this](const checker::ClientCall& call) { on_call(call); },
             [this](checker::ClientTopic topic, const std::string& name) {
                 tell_checker(checker::ClientTopicNamed{topic, name});
             }),
      clients_(plan, world_, calls_),
      atlas_(static_cast<std::size_t>(plan.settings[Setting::kBrokers]), damage_tolerated(plan)) {
    set_background_rates(world_.faults(), plan.settings);
    add_brokers();
    watch_damage();
}

// Stories run on everything here. The world would end them too, but only after the members declared behind it are gone.
Cluster::~Cluster() {
    is_judged_ = false;  // what stories say of their ends is no part of the run
    watcher_ = nullptr;
    file_watcher_ = nullptr;
    first_boot_watcher_ = nullptr;
    death_watcher_ = nullptr;
    world_.end_stories();
}

void Cluster::add_brokers() {
    for (std::int32_t id = 1; id <= plan_.settings[Setting::kBrokers]; ++id) {
        const BrokerId broker(id);
        world_.add_host(scenarios::host_of(broker), "broker-" + std::to_string(id), broker_host_config(plan_, broker));
        BrokerWatch watch;
        watch.on_observation = [this](sim::Host& host, const broker::Observation& observation) {
            on_observation(host, observation);
        };
        watch.on_fact = [this](const checker::HostFact& fact) {
            tell_checker(fact);
            stop_if_violated();
        };
        watch.on_stepped = [this](sim::Host& host, const broker::Broker& stepped) {
            if (host.is_alive() && raft::is_leader(stepped.raft)) look_at_followers(stepped);
            look_at_disk(host);
        };
        watch.on_file_effect = [this, broker](sim::Host&, const storage::FileEffect& effect) {
            if (file_watcher_) file_watcher_(broker, effect);
        };
        brokers_.push_back(std::make_unique<BrokerHost>(broker_config(plan_.settings, broker), std::move(watch)));
        disk_watches_.emplace_back();
        refusals_.emplace_back();
        data_incarnations_.emplace_back();
        are_files_hurt_.push_back(false);
        world_.set_boot_story(scenarios::host_of(broker), [this, broker](sim::Host& host) { live(broker, host); });
    }
}

void Cluster::look_at_followers(const broker::Broker& leader) {
    // What is wrong stays so until the follower's next fetch.
    constexpr std::uint32_t kStepsPerLook = 4;
    const bool looks_at_positions = leader_steps_++ % kStepsPerLook == 0;
    for (const auto& host : brokers_) {
        const broker::Broker* follower = host->broker();
        if (follower == nullptr || follower->config.id == leader.config.id) continue;
        if (auto unheld = unheld_match(leader.raft, follower->raft))
            tell_checker(checker::MatchNotHeld{leader.config.id, follower->config.id, std::move(*unheld)});
        if (looks_at_positions)
            for (UnheldPosition& unheld : unheld_positions(leader, *follower))
                tell_checker(checker::PositionNotHeld{leader.config.id, follower->config.id, unheld.partition,
                                                      std::move(unheld.what)});
        stop_if_violated();
    }
}

void Cluster::start_brokers() {
    for (std::int32_t id = 1; id <= broker_count(); ++id) start_broker(BrokerId(id));
}

void Cluster::start_broker(BrokerId broker) {
    sim::Host& host = world_.host(scenarios::host_of(broker));
    world_.spawn(host, [this, broker, &host] { live(broker, host); });
}

/// One life of a broker, from boot to death.
void Cluster::live(BrokerId broker, sim::Host& host) {
    tell_checker(checker::BrokerBooted{broker, host.life()});
    refusals_[index(broker)].clear();
    if (first_boot_watcher_ && host.disk().list().empty()) first_boot_watcher_(broker);
    broker_host(broker).trust_sealed_indexes(does_trust_indexes(plan_, broker, host.life()));
    broker_host(broker).limit_gateway(plan_.settings[Setting::kGatewayBytesMax]);
    broker_host(broker).run(host);
    tell_checker(checker::BrokerKilled{broker, is_losing_power_});
    if (death_watcher_) death_watcher_(broker);
}

AdminHooks Cluster::admin_hooks() {
    AdminHooks hooks;
    hooks.before_delete_topic = [this](const std::string& topic) { tell_checker(checker::TopicDeletionAsked{topic}); };
    hooks.before_delete_records = [this](const std::string& topic, PartitionIndex partition, Offset before) {
        tell_checker(checker::RecordDeletionAsked{topic, partition, before});
    };
    hooks.after_fault = [this](const PlannedFault& fault, bool was_done) {
        if (was_done) count_fault(fault.kind);
    };
    return hooks;
}

// --- what the world does to brokers
// -----------------------------------------------------------------------------------

bool Cluster::kill(BrokerId broker) {
    return world_.kill(scenarios::host_of(broker));
}

void Cluster::lose_power(const std::vector<BrokerId>& brokers) {
    std::vector<sim::HostId> hosts;
    for (const BrokerId broker : brokers) hosts.push_back(scenarios::host_of(broker));
    is_losing_power_ = true;  // the lives end inside the call
    world_.lose_power(hosts);
    is_losing_power_ = false;
}

bool Cluster::restart(BrokerId broker) {
    return world_.restart(scenarios::host_of(broker));
}

bool Cluster::empty_disk(BrokerId broker) {
    sim::Host& host = world_.host(scenarios::host_of(broker));
    return !host.is_alive() && host.disk().empty();
}

bool Cluster::rejoin_as_empty(BrokerId broker) {
    if (!allows_damage(broker)) return false;
    kill(broker);
    tell_checker(checker::OperatorRejoinedEmpty{broker});
    empty_disk(broker);
    return restart(broker);
}

void Cluster::watch_damage() {
    const bool is_unlimited = plan_.settings[Setting::kUnlimitedFaults] != 0;
    if (!is_unlimited)
        world_.faults().set_damage_gate([this](const sim::Damage& damage) {
            return !is_broker_host(damage.host) || allows_damage(broker_of(damage.host));
        });
    world_.faults().set_damage_listener([this](const sim::Damage& damage) { on_damage(damage); });
}

void Cluster::on_damage(const sim::Damage& damage) {
    if (!is_broker_host(damage.host)) return;
    const BrokerId broker = broker_of(damage.host);
    const Incarnation life = data_incarnations_[index(broker)];
    const std::optional<checker::DiskDamage> kind = damage_kind(damage.kind);
    if (damage.kind == sim::FaultKind::kDiskEmptied) {
        disk_watches_[index(broker)].on_emptied();
        are_files_hurt_[index(broker)] = false;
        tell_checker(checker::DiskEmptied{broker});
    } else if (kind) {
        disk_watches_[index(broker)].on_hurt();
        are_files_hurt_[index(broker)] = true;
        tell_checker(checker::DiskDamaged{broker, *kind, partition_of_file(damage.file), damage.file});
    } else {
        return;
    }
    atlas_.on_damage(broker, life, is_lasting(damage.kind));
    // Reads are not asked about before they fail: the next one must not hit somebody else.
    if (plan_.settings[Setting::kUnlimitedFaults] == 0 && !allows_damage_to_anybody()) {
        world_.faults().set_rate(sim::FaultKind::kReadError, {});
        world_.faults().set_rate(sim::FaultKind::kMisdirectedRead, {});
    }
    if (!is_lasting(damage.kind))
        world_.call_at(world_.now() + kHarmlessAfter, [this, broker, life] {
            if (is_up(broker) && data_incarnations_[index(broker)] == life) atlas_.on_harmless(broker, life);
        });
}

bool Cluster::allows_damage(BrokerId victim) {
    return plan_.settings[Setting::kUnlimitedFaults] != 0 || atlas_.allows(victim, conditions());
}

bool Cluster::allows_damage_to_anybody() {
    return plan_.settings[Setting::kUnlimitedFaults] != 0 || atlas_.allows_anybody(conditions());
}

bool Cluster::is_everybody_whole() {
    return atlas_.is_everybody_whole(conditions());
}

// --- what happens ---------------------------------------------------------------------------------------------------

void Cluster::on_observation(sim::Host& host, const broker::Observation& observation) {
    // A process that was killed in the middle of a step says nothing any more.
    if (!host.is_alive()) return;
    const BrokerId broker = broker_of(host.id());
    world_.add_observation(broker::digest_of(observation));
    if (world_.is_traced()) world_.note(host.id(), sim::TraceKind::kObservation, broker::to_text(observation));
    if (const auto* mark = std::get_if<broker::MarkReached>(&observation)) {
        ++marks_[static_cast<std::size_t>(mark->mark)];
    } else if (const auto* started = std::get_if<broker::Started>(&observation)) {
        data_incarnations_[index(broker)] = started->data_incarnation;
    } else if (const auto* renewed = std::get_if<broker::DataIncarnationRenewed>(&observation)) {
        data_incarnations_[index(broker)] = renewed->incarnation;
    } else if (const auto* refused = std::get_if<broker::RefusedToStart>(&observation)) {
        refusals_[index(broker)] = refused->why;
        // A lost disk is none: whoever finds no file at all begins anew, and what it writes then is its own.
        if (!atlas_.is_damaged(broker) || !are_files_hurt_[index(broker)])
            report("progress", host.name() + " refuses to start though nothing hurt its files: " + refused->why);
    }
    if (is_judged_) checker_.on_observation(world_.now().value, broker, host.life(), observation);
    if (watcher_) watcher_(broker, observation);
    stop_if_violated();
}

void Cluster::look_at_disk(const sim::Host& host) {
    const BrokerId broker = broker_of(host.id());
    if (!disk_watches_[index(broker)].is_sound_again(host, broker_host(broker))) return;
    if (world_.is_traced()) world_.note(host.id(), sim::TraceKind::kNote, "its disk is sound again");
    tell_checker(checker::DiskSound{broker});
}

void Cluster::on_call(const checker::ClientCall& call) {
    if (world_.is_traced()) world_.note(sim::HostId(call.client.value), sim::TraceKind::kNote, "call " + text_of(call));
    if (is_judged_) checker_.on_call(call);
    stop_if_violated();
}

void Cluster::report(std::string_view invariant, std::string message) {
    reports_.emplace_back(std::string(invariant), std::move(message));
}

void Cluster::stop_if_violated() {
    if (stops_at_violation_ && has_violation()) world_.request_stop();
}

void Cluster::finish(bool judge_progress) {
    calls_.end_all(world_.now().value);
    if (!is_judged_) return;
    checker::FinalView view = final_view();
    view.judge_progress = judge_progress;
    checker_.at_end(world_.now().value, view);
}

}  // namespace tidelock::scenarios
