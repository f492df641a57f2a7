#include "bench.h"

#include <algorithm>

#include "protocol/storage/record_batch.h"

namespace tidelock::broker {

Bench::Bench(std::int32_t count, const std::function<void(Config&)>& configure) {
    for (std::int32_t id = 1; id <= count; ++id) {
        Config config;
        config.id = BrokerId(id);
        for (std::int32_t member = 1; member <= count; ++member) config.members.push_back(BrokerId(member));
        configure(config);
        nodes_[id].config = config;
    }
}

void Bench::start(std::int32_t id, std::set<storage::FileOwner> held) {
    Node& node = nodes_.at(id);
    std::erase_if(coming_, [id](const Coming& event) { return event.to == id; });
    node.timers.clear();
    node.held.clear();
    node.held_owners = std::move(held);
    node.holds_reads = false;
    node.refusal.clear();
    node.broker.emplace(node.config);
    storage::DirectoryImage image;
    for (const auto& [name, bytes] : node.files)
        image.push_back(storage::ImageFile{storage::FileName(std::string_view(name)), Bytes::copy_of(bytes)});
    step(id, Booted{std::move(image), 1'000 * next_entropy_++ + 7});
}

void Bench::lose(std::int32_t id, const std::string& prefix) {
    std::erase_if(nodes_.at(id).files, [&](const auto& file) { return file.first.starts_with(prefix); });
}

void Bench::rot(std::int32_t id, const std::string& file) {
    rot_at(id, file, nodes_.at(id).files.at(file).size() / 2);
}

void Bench::rot_at(std::int32_t id, const std::string& file, std::size_t position) {
    nodes_.at(id).files.at(file).at(position) ^= std::byte{1};
}

void Bench::start_all() {
    for (auto& [id, node] : nodes_) start(id);
}

void Bench::step(std::int32_t id, const Event& event) {
    take(id, event);
    settle();
}

void Bench::settle() {
    while (!coming_.empty()) {
        const Coming next = std::move(coming_.front());
        coming_.pop_front();
        take(next.to, next.event);
    }
}

void Bench::take(std::int32_t id, const Event& event) {
    Node& node = nodes_.at(id);
    if (!node.broker) return;
    Effects effects;
    broker::step(*node.broker, now_, event, effects);
    for (const Effect& effect : effects) carry_out(id, effect);
}

void Bench::carry_out(std::int32_t id, const Effect& effect) {
    Node& node = nodes_.at(id);
    if (const auto* send = std::get_if<SendToPeer>(&effect)) {
        const std::int32_t to = send->to.value;
        if (unreachable_.contains(id) || unreachable_.contains(to)) return;
        PeerMessage message = send->message;
        if (alter_) alter_(id, message);
        coming_.push_back(Coming{to, PeerMessageReceived{BrokerId(id), std::move(message)}});
    } else if (const auto* answer = std::get_if<AnswerClient>(&effect)) {
        answers_[answer->answer.correlation_id.value] = answer->answer;
    } else if (std::holds_alternative<CloseClients>(effect)) {
        ++node.closings;
    } else if (const auto* timer = std::get_if<SetTimer>(&effect)) {
        // Later brokers are later, so that the first one stands alone.
        const std::int64_t late = std::min<std::int64_t>(timer->max.value - timer->min.value, (id - 1) * 90'000'000L);
        node.timers[timer->timer] = Instant(now_.value + timer->min.value + late);
    } else if (const auto* cancel = std::get_if<CancelTimer>(&effect)) {
        node.timers.erase(cancel->timer);
    } else if (const auto* file = std::get_if<storage::FileEffect>(&effect)) {
        carry_out_file(id, *file);
    } else if (const auto* observed = std::get_if<Observe>(&effect)) {
        if (const auto* refused = std::get_if<RefusedToStart>(&observed->observation)) node.refusal = refused->why;
    }
}

void Bench::carry_out_file(std::int32_t id, const storage::FileEffect& effect) {
    auto& files = nodes_.at(id).files;
    if (const auto* write = std::get_if<storage::WriteFile>(&effect)) {
        if (nodes_.at(id).is_full)
            return coming_.push_back(
                Coming{id, FileCompleted{storage::WriteFailed{write->name, storage::WriteFailure::kFull}}});
        std::vector<std::byte>& bytes = files[std::string(write->name.text())];
        bytes.resize(std::max<std::size_t>(bytes.size(), write->position + write->content.size()));
        std::ranges::copy(write->content.span(), bytes.begin() + static_cast<std::ptrdiff_t>(write->position));
    } else if (const auto* cut = std::get_if<storage::TruncateFile>(&effect)) {
        files[std::string(cut->name.text())].resize(cut->size);
    } else if (const auto* renamed = std::get_if<storage::RenameFile>(&effect)) {
        files[std::string(renamed->to.text())] = std::move(files[std::string(renamed->from.text())]);
        files.erase(std::string(renamed->from.text()));
    } else if (const auto* removed = std::get_if<storage::RemoveFile>(&effect)) {
        files.erase(std::string(removed->name.text()));
    } else if (const auto* sync = std::get_if<storage::SyncFile>(&effect)) {
        complete(id, sync->op, storage::FileSynced{sync->op, true});
    } else if (const auto* directory = std::get_if<storage::SyncDirectory>(&effect)) {
        const bool is_of_logs = storage::owner_of(directory->op) == storage::FileOwner::kLogStore;
        const bool is_well = !is_of_logs || !nodes_.at(id).fails_directory_syncs;
        complete(id, directory->op, storage::FileSynced{directory->op, is_well});
    } else if (const auto* read = std::get_if<storage::ReadFile>(&effect)) {
        const std::vector<std::byte>& bytes = files[std::string(read->name.text())];
        const std::size_t from = std::min<std::size_t>(read->position, bytes.size());
        const std::size_t length = std::min<std::size_t>(read->length, bytes.size() - from);
        const Bytes content = Bytes::copy_of(std::span<const std::byte>(bytes).subspan(from, length));
        complete(id, read->op, storage::FileReadDone{read->op, content});
    }
}

void Bench::complete(std::int32_t id, storage::FileOpId op, storage::FileEvent event) {
    Node& node = nodes_.at(id);
    const bool is_held_read = node.holds_reads && std::holds_alternative<storage::FileReadDone>(event);
    if (is_held_read || node.held_owners.contains(storage::owner_of(op)))
        node.held.push_back(std::move(event));
    else
        coming_.push_back(Coming{id, FileCompleted{std::move(event)}});
}

void Bench::release(std::int32_t id) {
    nodes_.at(id).held_owners.clear();
    nodes_.at(id).holds_reads = false;
    release_once(id);
}

void Bench::release_once(std::int32_t id) {
    Node& node = nodes_.at(id);
    for (storage::FileEvent& event : std::exchange(node.held, {})) coming_.push_back(Coming{id, FileCompleted{event}});
    settle();
}

void Bench::advance(Duration by) {
    const Instant end = now_ + by;
    while (true) {
        std::optional<Coming> next;
        Instant first = end;
        for (auto& [id, node] : nodes_)
            for (const auto& [kind, when] : node.timers)
                if (when < first) {
                    first = when;
                    next = Coming{id, TimerFired{kind}};
                }
        if (!next) break;
        now_ = std::max(now_, first);
        nodes_.at(next->to).timers.erase(std::get<TimerFired>(next->event).timer);
        step(next->to, next->event);
    }
    now_ = end;
}

bool Bench::advance_until(const std::function<bool()>& is_there, Duration at_most) {
    for (const Instant end = now_ + at_most; now_ < end; advance(milliseconds(5)))
        if (is_there()) return true;
    return is_there();
}

CorrelationId Bench::ask(std::int32_t id, clients::RequestBody body) {
    const CorrelationId asked(next_correlation_++);
    step(id, ClientRequested{ConnectionId(static_cast<std::uint64_t>(asked.value)),
                             clients::Request{asked, std::move(body)}});
    return asked;
}

const clients::Answer* Bench::answer_to(CorrelationId asked) const {
    const auto found = answers_.find(asked.value);
    return found == answers_.end() ? nullptr : &found->second;
}

bool Bench::is_answered(CorrelationId asked, clients::ErrorCode error) const {
    const clients::Answer* answer = answer_to(asked);
    return answer != nullptr && clients::error_of(*answer) == error;
}

std::int32_t Bench::serving() const {
    std::int32_t found = 0;
    for (const auto& [id, node] : nodes_) {
        if (!node.broker || unreachable_.contains(id) || !is_serving(*node.broker)) continue;
        if (found != 0) return 0;
        found = id;
    }
    return found;
}

bool Bench::is_whole() const {
    const std::int32_t leader = serving();
    return leader != 0 && at(leader).in_sync.committed().members.size() == nodes_.size() &&
           at(leader).in_sync.lagging_members().empty();
}

bool Bench::form() {
    start_all();
    const auto is_ready = [this] {
        return is_whole() && std::ranges::all_of(
                                 nodes_, [](const auto& entry) { return entry.second.broker->partitions.size() == 2; });
    };
    return advance_until(is_ready);
}

void Bench::withhold_positions(std::int32_t id, TopicPartition partition) {
    const auto is_withheld = [partition](const auto& each) { return each.partition == partition; };
    alter([id, is_withheld](std::int32_t from, PeerMessage& sent) {
        auto* message = std::get_if<replication::Message>(&sent);
        if (message == nullptr || from != id) return;
        if (auto* fetch = std::get_if<replication::FetchRequest>(message))
            std::erase_if(fetch->partitions, is_withheld);
        if (auto* update = std::get_if<replication::PositionUpdate>(message))
            std::erase_if(update->positions, is_withheld);
    });
}

bool Bench::create_topic(const std::string& name, std::int32_t partition_count) {
    const CorrelationId asked = ask(serving(), clients::CreateTopicRequest{name, partition_count, {}});
    return advance_until([&] { return is_answered(asked, clients::ErrorCode::kNone); });
}

bool Bench::transfer_to(std::int32_t id) {
    if (serving() == id) return true;
    ask(serving(), clients::TransferLeadershipRequest{BrokerId(id)});
    return advance_until([&] { return serving() == id; });
}

Bytes one_record(ProducerId producer, std::int32_t sequence) {
    storage::BatchOptions options;
    options.producer_id = producer;
    options.base_sequence = sequence;
    if (producer != kNoProducer) options.producer_epoch = ProducerEpoch(0);
    storage::RecordBatchBuilder builder(options);
    const Bytes value = Bytes::copy_of(std::vector<std::byte>(3, std::byte{7}));
    builder.add(0, std::nullopt, value.span());
    return builder.build();
}

clients::ProduceRequest produce_to(const std::string& topic, clients::Acks acks, Duration timeout) {
    return clients::ProduceRequest{clients::PartitionName{topic, TopicId{}, PartitionIndex(0)}, acks, timeout,
                                   one_record()};
}

}  // namespace tidelock::broker
