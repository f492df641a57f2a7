#include "scenarios/durable_promise.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/storage/identity.h"
#include "protocol/storage/recovery.h"

namespace tidelock::scenarios {
namespace {

constexpr std::uint32_t kRaftPromisesPerLook = 8;
constexpr std::uint32_t kRecordPromisesPerLook = 192;

using Broken = std::optional<std::string>;

void add_file(const sim::Disk& disk, const std::string& name, storage::DirectoryImage& image) {
    Bytes content = disk.durable_content(name);
    if (content.size() > 0) image.push_back(storage::ImageFile{storage::FileName(name), std::move(content)});
}

std::optional<raft::PersistentState> durable_raft_state(const sim::Disk& disk) {
    storage::DirectoryImage image;
    add_file(disk, "raft.a", image);
    add_file(disk, "raft.b", image);
    const auto found = storage::recover_state_file(image, "raft", storage::FileOwner::kRaft);
    if (found.condition != storage::StateFileCondition::kValue) return std::nullopt;
    auto state = raft::decode_persistent_state(found.content);
    if (!state) return std::nullopt;
    return std::move(*state);
}

/// What a message says about its sender's state.
struct Told {
    Term term;
    bool is_vote = false;
    LogIndex match_index;
};

/// Refusals promise nothing, nor does what goes before an election: who is refused has to ask again.
std::optional<Told> told_by(const raft::Message& message) {
    if (const auto* vote = std::get_if<raft::VoteAnswer>(&message)) {
        if (vote->granted) return Told{vote->term, true, {}};
    } else if (const auto* appended = std::get_if<raft::AppendAnswer>(&message)) {
        if (appended->accepted) return Told{appended->term, false, appended->match_index};
    } else if (const auto* taken = std::get_if<raft::SnapshotAnswer>(&message)) {
        if (taken->installed) return Told{taken->term, false, taken->last_index};
    } else if (const auto* append = std::get_if<raft::AppendRequest>(&message)) {
        return Told{append->term, false, {}};
    }
    return std::nullopt;
}

/// What `found` lacks of the log of `own` up to `index`; by log matching one entry tells of all before it.
Broken unheld_entries(const raft::PersistentState& found, const raft::PersistentState& own, LogIndex index) {
    if (raft::last_index(found) < index)
        return fmt::format("Raft entries up to {}, of which it would find those up to {}", index.value,
                           raft::last_index(found).value);
    const std::optional<Term> meant = raft::term_at(own, index);
    const std::optional<Term> held = raft::term_at(found, index);
    // What is in a snapshot is committed: those agree.
    if (!meant || !held || *meant == *held) return std::nullopt;
    return fmt::format("Raft entries up to {} of term {}, where it would find one of term {}", index.value,
                       meant->value, held->value);
}

Broken lost_of_partition(const broker::Broker& broker, const storage::StoreRecovery& found, const TopicPartition& tp) {
    const std::optional<storage::LogView> view = broker.logs.view(tp);
    if (!view || view->durable_end_offset <= view->log_start_offset || view->damaged_at) return std::nullopt;
    const std::string promise =
        fmt::format("records [{}, {}) of partition {} of topic {:x}", view->log_start_offset.value,
                    view->durable_end_offset.value, tp.partition.value, tp.topic.value);
    const auto at = std::find_if(found.partitions.begin(), found.partitions.end(),
                                 [&](const storage::PartitionRecovery& each) { return each.tp == tp; });
    if (at == found.partitions.end()) return promise + ", of which nothing would be found";
    if (at->damage != storage::PartitionDamage::kNone)
        return promise + fmt::format(", which would be found damaged at {}", at->damaged_at.value);
    if (at->log_end_offset >= view->durable_end_offset) return std::nullopt;
    return promise +
           fmt::format(", of which [{}, {}) would be found", at->log_start_offset.value, at->log_end_offset.value);
}

Broken lost_of_identity(const broker::Broker& broker, const storage::DirectoryImage& image) {
    const auto found = storage::recover_state_file(image, "identity", storage::FileOwner::kIdentity);
    if (found.condition != storage::StateFileCondition::kValue) return "its identity";
    const auto identity = storage::decode_identity(found.content);
    if (!identity) return "its identity";
    if (identity->data_incarnation != broker.identity.data_incarnation)
        return fmt::format("the data incarnation {:x}", broker.identity.data_incarnation.value);
    if (broker.identity.is_damage_on_record && !identity->is_damage_on_record)
        return "that damage was found in its logs";
    const bool is_static_leader = broker.config.preset == broker::Preset::kStatic && broker.leading;
    if (is_static_leader && (identity->static_epoch < broker.leading->leader_epoch ||
                             identity->role_command != broker.identity.role_command))
        return fmt::format("that it leads in epoch {}", broker.leading->leader_epoch.value);
    return std::nullopt;
}

Broken lost_of_topics(const broker::Broker& broker, const storage::DirectoryImage& image) {
    if (!broker.catalogue_writes.empty()) return std::nullopt;
    const auto found = storage::recover_state_file(image, "topics", storage::FileOwner::kTopics);
    if (found.condition != storage::StateFileCondition::kValue) return "its catalogue of topics";
    const auto topics = storage::decode_topic_catalogue(found.content);
    if (topics && *topics == broker.topics) return std::nullopt;
    return "its newest catalogue of topics";
}

}  // namespace

storage::DirectoryImage image_after_power_loss(const sim::Disk& disk) {
    storage::DirectoryImage image;
    for (const std::string& name : disk.list()) add_file(disk, name, image);
    return image;
}

Broken broken_formation_promise(const sim::Disk& disk, const raft::FormationStatement& statement) {
    if (!statement.formed) return std::nullopt;
    const std::optional<raft::PersistentState> state = durable_raft_state(disk);
    if (state && state->snapshot.formation == statement.members) return std::nullopt;
    return "with whom the group has formed";
}

Broken broken_raft_promise(const sim::Disk& disk, const raft::PersistentState& own, const raft::Message& message,
                           BrokerId to) {
    if (const auto* statement = std::get_if<raft::FormationStatement>(&message))
        return broken_formation_promise(disk, *statement);
    const std::optional<Told> told = told_by(message);
    if (!told || told->term == Term(0)) return std::nullopt;
    const std::optional<raft::PersistentState> state = durable_raft_state(disk);
    if (!state || state->term < told->term) return fmt::format("Raft term {}", told->term.value);
    // In a newer term what it told in an older one binds it no more.
    if (state->term > told->term) return std::nullopt;
    if (told->is_vote && (!state->voted_for || state->voted_for->broker != to))
        return fmt::format("its vote for broker {} in term {}", to.value, told->term.value);
    // In a newer term its log may have become another one.
    if (own.term > told->term) return unheld_entries(*state, *state, told->match_index);
    return unheld_entries(*state, own, told->match_index);
}

Broken broken_leader_promise(const sim::Disk& disk, const raft::Node& node) {
    const auto* leader = std::get_if<raft::Leader>(&node.role);
    if (leader == nullptr) return std::nullopt;
    const auto others = std::count_if(leader->followers.begin(), leader->followers.end(),
                                      [&](const auto& follower) { return follower.match_index >= node.commit_index; });
    if (others > static_cast<std::ptrdiff_t>(node.config.members.size() / 2)) return std::nullopt;
    const std::optional<raft::PersistentState> state = durable_raft_state(disk);
    const Broken unheld = unheld_entries(state.value_or(raft::PersistentState{}), node.persistent, node.commit_index);
    return unheld ? Broken(*unheld + ", committed by its own copy") : std::nullopt;
}

std::vector<BrokenPromise> broken_record_promises(const sim::Disk& disk, const broker::Broker& broker) {
    if (broker.lifecycle != broker::Lifecycle::kRunning || broker.is_identity_renewing) return {};
    const storage::DirectoryImage image = image_after_power_loss(disk);
    if (const Broken lost = lost_of_identity(broker, image)) return {BrokenPromise{std::nullopt, *lost}};
    if (const Broken lost = lost_of_topics(broker, image)) return {BrokenPromise{std::nullopt, *lost}};
    const storage::StoreRecovery found = storage::recover(image, broker.logs.config());
    std::vector<BrokenPromise> broken;
    for (const storage::PartitionLog& log : broker.logs.logs()) {
        if (const Broken lost = lost_of_partition(broker, found, log.tp)) broken.push_back({log.tp, *lost});
    }
    return broken;
}

bool PromiseWatch::is_news(const raft::Message& message) {
    if (const auto* statement = std::get_if<raft::FormationStatement>(&message))
        return statement->formed && !std::exchange(is_formation_told_, true);
    const std::optional<Told> told = told_by(message);
    if (!told) return false;
    const bool is_news = told->is_vote || told->term > term_max_ || told->match_index > match_index_max_;
    if (told->term > term_max_) {
        term_max_ = told->term;
        match_index_max_ = LogIndex(0);
    }
    match_index_max_ = std::max(match_index_max_, told->match_index);
    if (!is_news) return false;
    return told->is_vote || raft_promises_++ % kRaftPromisesPerLook == 0;
}

bool PromiseWatch::is_news(const replication::Message& message) {
    std::int64_t positions = 0;
    if (const auto* fetch = std::get_if<replication::FetchRequest>(&message)) {
        for (const replication::FetchPartition& each : fetch->partitions) positions += each.durable_end_offset.value;
    } else if (const auto* update = std::get_if<replication::PositionUpdate>(&message)) {
        for (const auto& each : update->positions) positions += each.durable_end_offset.value;
    } else {
        return false;
    }
    if (positions == positions_told_) return false;
    positions_told_ = positions;
    return record_promises_++ % kRecordPromisesPerLook == 0;
}

std::optional<checker::PromiseNotDurable> PromiseWatch::look_at_raft(const sim::Disk& disk,
                                                                     const broker::Broker& broker,
                                                                     const raft::Message& message, BrokerId to) {
    if (!is_news(message)) return std::nullopt;
    const Broken broken = broken_raft_promise(disk, broker.raft.persistent, message, to);
    if (!broken) return std::nullopt;
    return checker::PromiseNotDurable{broker.config.id, checker::Promise::kRaftState, *broken};
}

std::optional<checker::PromiseNotDurable> PromiseWatch::look_at_commit(const sim::Disk& disk,
                                                                       const broker::Broker& broker) {
    if (broker.raft.commit_index <= commit_index_) return std::nullopt;
    commit_index_ = broker.raft.commit_index;
    const Broken broken = broken_leader_promise(disk, broker.raft);
    if (!broken) return std::nullopt;
    return checker::PromiseNotDurable{broker.config.id, checker::Promise::kRaftState, *broken};
}

/// L6: nobody hears of an epoch that the next life of its leader could lead in too.
std::optional<checker::PromiseNotDurable> PromiseWatch::look_at_static_epoch(const sim::Disk& disk,
                                                                             const broker::Broker& broker) {
    const bool is_static_leader = broker.config.preset == broker::Preset::kStatic && broker.leading;
    if (!is_static_leader || broker.leading->leader_epoch <= static_epoch_) return std::nullopt;
    static_epoch_ = broker.leading->leader_epoch;
    const Broken broken = lost_of_identity(broker, image_after_power_loss(disk));
    if (!broken) return std::nullopt;
    return checker::PromiseNotDurable{broker.config.id, checker::Promise::kRecords, *broken};
}

std::vector<checker::PromiseNotDurable> PromiseWatch::look(const sim::Disk& disk, const broker::Broker& broker,
                                                           const broker::SendToPeer& message) {
    std::vector<checker::PromiseNotDurable> found;
    if (const auto* raft_message = std::get_if<raft::Message>(&message.message)) {
        if (auto broken = look_at_raft(disk, broker, *raft_message, message.to)) found.push_back(std::move(*broken));
        return found;
    }
    if (auto broken = look_at_static_epoch(disk, broker)) found.push_back(std::move(*broken));
    if (!is_news(std::get<replication::Message>(message.message))) return found;
    for (BrokenPromise& broken : broken_record_promises(disk, broker))
        found.push_back({broker.config.id, checker::Promise::kRecords, std::move(broken.what), broken.partition});
    return found;
}

}  // namespace tidelock::scenarios
