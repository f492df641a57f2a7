#include "scenarios/broker_host.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "protocol/base/check.h"
#include "protocol/base/crc32c.h"
#include "protocol/raft/invariants.h"
#include "scenarios/journal_witness.h"
#include "scenarios/needless_wait.h"
#include "sim/host.h"

namespace tidelock::scenarios {
namespace {

ConnectionId connection_of(sim::HostId client, std::uint32_t generation) {
    return ConnectionId((static_cast<std::uint64_t>(client.value) << 32U) | generation);
}
/// The Kafka side of a client's connection counts as one of its own: its requests are numbered by the gateway.
constexpr std::uint64_t kKafkaSide = std::uint64_t{1} << 63U;
ConnectionId kafka_side_of(ConnectionId connection) {
    return ConnectionId(connection.value | kKafkaSide);
}
bool is_kafka_side(ConnectionId connection) {
    return (connection.value & kKafkaSide) != 0;
}
sim::HostId client_of(ConnectionId connection) {
    return sim::HostId(static_cast<std::int32_t>((connection.value & ~kKafkaSide) >> 32U));
}

constexpr std::uint32_t kKafkaMark = 0x6B61'666B;  // in the checksum of Kafka frames
constexpr std::int32_t kKafkaPort = 9092;

gateway::GatewayConfig gateway_config(const broker::Config& config, std::int64_t bytes_max) {
    gateway::GatewayConfig gateway;
    gateway.request_bytes_max = bytes_max;
    gateway.fetch_bytes_max = std::min(gateway.fetch_bytes_max, bytes_max);
    gateway.self = config.id;
    for (const BrokerId member : config.members)
        gateway.endpoints[member] = {"broker-" + std::to_string(member.value), kKafkaPort};
    gateway.cluster_id = "simulated";
    gateway.min_insync_replicas = config.min_insync_replicas;
    return gateway;
}

template <typename Message>
Bytes client_frame(const Message& message) {
    ByteWriter out;
    out.u32(0);
    clients::encode(message, out);
    out.patch_u32(0, crc32c(out.span().subspan(sizeof(std::uint32_t))));
    return out.take();
}

Result<Bytes, DecodeError> frame_body(const Bytes& frame) {
    ByteReader in(frame);
    const std::uint32_t crc = in.u32();
    if (in.failed() || crc != crc32c(frame.span().subspan(sizeof crc)))
        return decode_failure("client frame: wrong checksum");
    return frame.slice(sizeof crc, frame.size() - sizeof crc);
}

/// Partition files are lent, as by a host that maps them; `lent_count` is of those that are not back yet.
storage::DirectoryImage directory_image(sim::Disk& disk, const std::shared_ptr<std::size_t>& lent_count) {
    storage::DirectoryImage image;
    for (sim::FileImage& file : disk.boot_image()) {
        Result<Bytes, storage::ReadError> content = std::move(file.content);
        if (file.error != sim::DiskError::kNone) content = Failure<storage::ReadError>(storage::ReadError::kIo);
        if (content && file.name.find('/') != std::string::npos) {
            const Bytes kept = *content;
            ++*lent_count;
            content = Bytes::borrow(kept.span(), [kept, lent_count] { --*lent_count; });
        }
        image.push_back(storage::ImageFile{storage::FileName(file.name), std::move(content)});
    }
    return image;
}

storage::FileReadDone read_done(const sim::DiskRead& read) {
    const storage::FileOpId op(read.op.value);
    if (read.error == sim::DiskError::kNone) return {op, read.content};
    const bool is_missing = read.error == sim::DiskError::kNoSuchFile;
    return {op, Failure<storage::ReadError>(is_missing ? storage::ReadError::kMissing : storage::ReadError::kIo)};
}

struct FileRoute {
    sim::Disk& disk;

    void operator()(const storage::WriteFile& e) const { disk.write(e.name.text(), e.position, e.content); }
    void operator()(const storage::TruncateFile& e) const { disk.truncate(e.name.text(), e.size); }
    void operator()(const storage::SyncFile& e) const { disk.sync(e.name.text(), sim::DiskOp(e.op.value)); }
    void operator()(const storage::SyncDirectory& e) const { disk.sync_directory(sim::DiskOp(e.op.value)); }
    void operator()(const storage::RenameFile& e) const { disk.rename(e.from.text(), e.to.text()); }
    void operator()(const storage::RemoveFile& e) const { disk.remove(e.name.text()); }
    void operator()(const storage::ReadFile& e) const {
        disk.read(e.name.text(), e.position, e.length, sim::DiskOp(e.op.value));
    }
};

/// What a successful answer to the request means for a topic; none: no change.
std::optional<checker::TopicChangeTold> topic_change(BrokerId broker, const clients::RequestBody& asked) {
    if (const auto* create = std::get_if<clients::CreateTopicRequest>(&asked))
        return checker::TopicChangeTold{broker, create->topic, create->partition_count};
    if (const auto* grow = std::get_if<clients::GrowTopicRequest>(&asked))
        return checker::TopicChangeTold{broker, grow->topic, grow->partition_count};
    if (const auto* drop = std::get_if<clients::DeleteTopicRequest>(&asked))
        return checker::TopicChangeTold{broker, drop->topic, 0};
    return std::nullopt;
}

constexpr std::uint32_t kLogStartsPerLook = 8;

/// The longest that a broker gives what names no time of its own: topic changes, offsets, ids, bounds, transfers.
Duration patience_of(const broker::Config& config) {
    return std::max({seconds(5), config.request_timeout * 5, config.transfer_timeout});
}

/// The same for the same members, each in the same life.
std::string line_up_of(const std::vector<raft::FormedMember>& members) {
    std::string text;
    for (const raft::FormedMember& member : members)
        text += fmt::format("{}{}:{:x}/{:02x}", text.empty() ? "" : " ", member.broker.value, member.incarnation.value,
                            fmt::join(member.payload.span(), ""));
    return text;
}

}  // namespace

Bytes encode_client_frame(const clients::Request& request) {
    return client_frame(request);
}
Bytes encode_client_frame(const clients::Answer& answer) {
    return client_frame(answer);
}

Bytes encode_kafka_frame(const Bytes& content) {
    ByteWriter out;
    out.u32(crc32c(content.span()) ^ kKafkaMark);
    out.raw(content.span());
    return out.take();
}

std::optional<Bytes> decode_kafka_frame(const Bytes& frame) {
    ByteReader in(frame);
    const std::uint32_t crc = in.u32();
    if (in.failed() || crc != (crc32c(frame.span().subspan(sizeof crc)) ^ kKafkaMark)) return std::nullopt;
    return frame.slice(sizeof crc, frame.size() - sizeof crc);
}

Result<clients::Request, DecodeError> decode_request_frame(const Bytes& frame) {
    return frame_body(frame).and_then([](const Bytes& body) { return clients::decode_request(body); });
}
Result<clients::Answer, DecodeError> decode_answer_frame(const Bytes& frame) {
    return frame_body(frame).and_then([](const Bytes& body) { return clients::decode_answer(body); });
}

BrokerHost::BrokerHost(broker::Config config, BrokerWatch watch)
    : config_(std::move(config)),
      watch_(std::move(watch)),
      gateway_(gateway_config(config_, gateway_bytes_max_)),
      answers_(patience_of(config_)) {}

void BrokerHost::run(sim::Host& host) {
    connections_.clear();
    gateway_ = gateway::Gateway(gateway_config(config_, gateway_bytes_max_));
    unread_.clear();
    asked_.clear();
    reads_under_way_.clear();
    promises_ = PromiseWatch();
    raft_before_.reset();
    answers_ = AnswerWitness(patience_of(config_));
    fairness_ = FetchFairness();
    writers_ = ConfirmedWriters();
    told_log_starts_.clear();
    log_start_moved_.reset();
    has_begun_to_serve_ = false;
    broker_ = std::make_unique<broker::Broker>(config_);
    const auto lent_count = std::make_shared<std::size_t>(0);
    broker::Booted booted{directory_image(host.disk(), lent_count), host.draw_bits() | 1U};
    if (watch_.on_fact)
        if (auto damage = journal_damage(booted.image)) watch_.on_fact(checker::JournalFoundBad{config_.id, *damage});
    damage_.begin_life(booted.image);
    step(host, booted);
    if (watch_.on_fact && host.is_alive()) tell_forgotten(booted.image);
    booted.image.clear();
    CHECK(*lent_count == 0);
    while (const std::optional<sim::Arrival> arrival = host.await_arrival()) {
        if (const std::optional<broker::Event> event = to_event(host, *arrival)) step(host, *event);
        handle_asked(host);
    }
    broker_.reset();
}

void BrokerHost::command_role(sim::World& world, broker::RoleCommanded command) {
    role_command_ = command;
    world.post(host_of(config_.id), 0);
}

void BrokerHost::step(sim::Host& host, const broker::Event& event) {
    broker::Effects effects;
    broker::step(*broker_, host.local_now(), event, effects);
    for (const broker::Effect& effect : effects) carry_out(host, effect);
    if (host.is_alive() && std::holds_alternative<broker::TimerFired>(event)) check_state();
    if (watch_.on_fact && host.is_alive() && raft::is_leader(broker_->raft))
        tell_leading(host, std::holds_alternative<broker::TimerFired>(event));
    if (watch_.on_fact && host.is_alive()) tell_overdue(host, std::holds_alternative<broker::TimerFired>(event));
    if (watch_.on_fact && host.is_alive() && log_start_moved_) tell_untold(host);
    if (watch_.on_fact && host.is_alive() && std::exchange(has_begun_to_serve_, false)) tell_opening(host);
    if (watch_.on_stepped) watch_.on_stepped(host, *broker_);
}

std::optional<broker::Event> BrokerHost::to_event(sim::Host& host, const sim::Arrival& arrival) {
    struct Route {
        BrokerHost& self;
        sim::Host& host;
        using Event = std::optional<broker::Event>;

        Event operator()(const sim::FrameArrived& a) const { return self.frame_to_event(host, a); }
        Event operator()(const sim::ConnectionBroken& a) const {
            if (is_broker_host(a.peer)) return broker::PeerDisconnected{broker_of(a.peer)};
            const ConnectionId connection = connection_of(a.peer, a.connection);
            self.forget_client(connection);
            return broker::ClientDisconnected{connection};
        }
        Event operator()(const sim::TimerFired& a) const {
            return broker::TimerFired{static_cast<broker::TimerKind>(a.timer.value)};
        }
        Event operator()(const sim::DiskSynced& a) const {
            const bool ok = a.error == sim::DiskError::kNone;
            return broker::FileCompleted{storage::FileSynced{storage::FileOpId(a.op.value), ok}};
        }
        Event operator()(const sim::DiskRead& a) const {
            std::erase_if(self.reads_under_way_, [&a](const ReadUnderWay& read) { return read.op == a.op; });
            return broker::FileCompleted{read_done(a)};
        }
        Event operator()(const sim::DiskWriteFailed& a) const {
            const bool is_full = a.error == sim::DiskError::kNoSpace;
            return broker::FileCompleted{storage::WriteFailed{
                storage::FileName(a.file), is_full ? storage::WriteFailure::kFull : storage::WriteFailure::kError}};
        }
        Event operator()(const sim::Woken&) const {
            if (!self.role_command_) return std::nullopt;
            return *std::exchange(self.role_command_, std::nullopt);
        }
        Event operator()(const sim::DeadlinePassed&) const { return std::nullopt; }
    };
    return std::visit(Route{*this, host}, arrival);
}

std::optional<broker::Event> BrokerHost::frame_to_event(sim::Host& host, const sim::FrameArrived& arrived) {
    if (is_broker_host(arrived.from)) {
        auto message = broker::decode_frame(arrived.frame);
        if (message) {
            note_arrival(host, broker_of(arrived.from), *message);
            return broker::PeerMessageReceived{broker_of(arrived.from), std::move(*message)};
        }
    } else if (const auto content = decode_kafka_frame(arrived.frame)) {
        take_kafka_frame(host, connection_of(arrived.from, arrived.connection), *content);
        return std::nullopt;
    } else if (auto request = decode_request_frame(arrived.frame)) {
        if (host.world().is_traced()) host.note("from client: " + clients::to_text(*request));
        const ConnectionId connection = connection_of(arrived.from, arrived.connection);
        if (std::ranges::find(connections_, connection) == connections_.end()) connections_.push_back(connection);
        answers_.on_request(connection, *request);
        return broker::ClientRequested{connection, std::move(*request)};
    }
    // Bytes hurt on the way: as on a real stream, nothing after them can be trusted.
    host.close_connection(arrived.from);
    if (is_broker_host(arrived.from)) return broker::PeerDisconnected{broker_of(arrived.from)};
    const ConnectionId connection = connection_of(arrived.from, arrived.connection);
    forget_client(connection);
    return broker::ClientDisconnected{connection};
}

void BrokerHost::note_answer(const broker::AnswerClient& answered) {
    const auto asked = answers_.on_answer(answered.connection, answered.answer.correlation_id);
    if (!asked || !watch_.on_fact || clients::error_of(answered.answer) != clients::ErrorCode::kNone) return;
    if (auto told = topic_change(config_.id, *asked)) watch_.on_fact(*std::move(told));
    if (const auto* answer = std::get_if<clients::DeleteRecordsAnswer>(&answered.answer.body))
        note_log_start(std::get<clients::DeleteRecordsRequest>(*asked).partition, answer->log_start_offset);
}

void BrokerHost::note_log_start(const clients::PartitionName& name, Offset log_start_offset) {
    const storage::TopicEntry* topic = broker_->topics.find(name.topic);
    if (topic == nullptr) return;
    Offset& told = told_log_starts_[TopicPartition{topic->id, name.partition}];
    told = std::max(told, log_start_offset);
}

/// A look reads the whole topic. It matters most when what it held before goes.
void BrokerHost::tell_untold(sim::Host& host) {
    const TopicPartition moved = *std::exchange(log_start_moved_, std::nullopt);
    const storage::TopicEntry* home = broker_->topics.find(clients::kProducerIdsTopic);
    const bool is_home = home != nullptr && home->id == moved.topic;
    if (!is_home && log_starts_moved_++ % kLogStartsPerLook != 0) return;
    for (std::string& what : untold_to_successor(host.disk(), *broker_, writers_, told_log_starts_))
        watch_.on_fact(checker::PromiseNotDurable{config_.id, checker::Promise::kProducers, std::move(what),
                                                  TopicPartition{home->id, PartitionIndex(0)}});
}

/// A new leader has just learned what it knows, in one of several ways.
void BrokerHost::tell_opening(sim::Host& host) {
    for (std::string& what : deletions_not_made(host.disk(), *broker_))
        watch_.on_fact(checker::OpenedBeforeDeletion{config_.id, std::move(what)});
    for (std::string& what : misremembered_producers(host.disk(), *broker_, writers_))
        watch_.on_fact(checker::PromiseNotDurable{config_.id, checker::Promise::kProducers, std::move(what)});
}

void BrokerHost::tell_forgotten(const storage::DirectoryImage& image) {
    if (broker_->lifecycle == broker::Lifecycle::kRefused) return;
    for (std::string& what : damage_.forgotten_at_boot(image, broker_->logs.config().segment.batch))
        watch_.on_fact(checker::DamageForgotten{config_.id, std::move(what)});
}

void BrokerHost::forget_client(ConnectionId connection) {
    std::erase(connections_, connection);
    answers_.on_closed(connection);
    const ConnectionId kafka_side = kafka_side_of(connection);
    if (std::erase(connections_, kafka_side) == 0) return;
    answers_.on_closed(kafka_side);
    gateway_.close(kafka_side);
    unread_.erase(kafka_side);
    asked_.push_back(broker::ClientDisconnected{kafka_side});
}

void BrokerHost::take_kafka_frame(sim::Host& host, ConnectionId connection, const Bytes& content) {
    const ConnectionId kafka_side = kafka_side_of(connection);
    if (std::ranges::find(connections_, kafka_side) == connections_.end()) {
        connections_.push_back(kafka_side);
        gateway_.open(kafka_side, "client-" + std::to_string(client_of(connection).value));
    }
    const auto unread = unread_.find(kafka_side);
    if (unread == unread_.end()) return give_to_gateway(host, kafka_side, content);
    unread->second.push_back(content);
}

void BrokerHost::give_to_gateway(sim::Host& host, ConnectionId kafka_side, const Bytes& content) {
    gateway::Effects effects;
    gateway_.on_frame(host.local_now(), kafka_side, content, effects);
    carry_out(host, effects);
}

/// What was not read goes to the gateway until that has enough once more.
void BrokerHost::resume(sim::Host& host, ConnectionId kafka_side) {
    const auto at = unread_.find(kafka_side);
    if (at == unread_.end()) return;
    std::deque<Bytes> frames = std::move(at->second);
    unread_.erase(at);
    for (; !frames.empty() && !unread_.contains(kafka_side); frames.pop_front()) {
        if (std::ranges::find(connections_, kafka_side) == connections_.end()) return;
        give_to_gateway(host, kafka_side, frames.front());
    }
    if (frames.empty()) return;
    std::deque<Bytes>& behind = unread_[kafka_side];
    behind.insert(behind.end(), frames.begin(), frames.end());
}

void BrokerHost::carry_out(sim::Host& host, gateway::Effects& effects) {
    for (gateway::Effect& effect : effects) {
        if (auto* ask = std::get_if<gateway::AskBroker>(&effect)) {
            if (host.world().is_traced()) host.note("from Kafka client: " + clients::to_text(ask->request));
            answers_.on_request(ask->connection, ask->request);
            asked_.push_back(broker::ClientRequested{ask->connection, std::move(ask->request)});
        } else if (const auto* send = std::get_if<gateway::SendFrame>(&effect)) {
            const Bytes frame = send->frame.flat();
            const Bytes content = frame.slice(kafka::kFrameSizeBytes, frame.size() - kafka::kFrameSizeBytes);
            host.send(client_of(send->connection), encode_kafka_frame(content), sim::FrameTag{kClientAnswerKind, true});
        } else if (const auto* close = std::get_if<gateway::CloseConnection>(&effect)) {
            if (host.world().is_traced()) host.note("closes a Kafka client's connection: " + close->why);
            host.close_connection(client_of(close->connection));
            const ConnectionId connection(close->connection.value & ~kKafkaSide);
            forget_client(connection);
            asked_.push_back(broker::ClientDisconnected{connection});
        } else if (const auto* pause = std::get_if<gateway::PauseReading>(&effect)) {
            unread_.try_emplace(pause->connection);
        } else if (const auto* resumed = std::get_if<gateway::ResumeReading>(&effect)) {
            resume(host, resumed->connection);
        }
    }
}

void BrokerHost::handle_asked(sim::Host& host) {
    while (!asked_.empty() && host.is_alive()) {
        const broker::Event event = std::move(asked_.front());
        asked_.pop_front();
        step(host, event);
    }
}

/// What costs too much after each step.
void BrokerHost::check_state() {
    constexpr std::uint32_t kTimersPerCheck = 8;
    if (broker_->lifecycle != broker::Lifecycle::kRunning || timers_fired_++ % kTimersPerCheck != 0) return;
    broker_->in_sync.check_invariants();
    check_invariants(broker_->logs);
    if (raft_before_) {
        const std::string broken = raft::find_broken_delta(*raft_before_, broker_->raft);
        if (!broken.empty()) check_failed(__FILE__, __LINE__, broken.c_str());
    }
    raft_before_ = broker_->raft;
}

void BrokerHost::tell_overdue(sim::Host& host, bool by_timer) {
    if (auto request = answers_.look(host.local_now(), !reads_under_way_.empty()))
        watch_.on_fact(checker::RequestOverdue{config_.id, "beyond its time: " + *std::move(request) + " (A5)"});
    if (!by_timer) return;
    if (auto waiting = needless_wait(*broker_))
        watch_.on_fact(checker::RequestOverdue{config_.id, "without need: " + *std::move(waiting)});
}

void BrokerHost::tell_leading(sim::Host& host, bool by_timer) {
    if (const auto broken = promises_.look_at_commit(host.disk(), *broker_)) watch_.on_fact(*broken);
    const Term term = broker_->raft.persistent.term;
    if (!raft::is_caretaker(broker_->raft) && broker_->in_log.leader_epoch != group::leader_epoch_of(term))
        watch_.on_fact(checker::ClaimNotMade{config_.id, term});
    // Leaders look around when they send heartbeats; asking at every step would only cost.
    if (!by_timer) return;
    const raft::Config& raft = broker_->raft.config;
    watch_.on_fact(checker::LeaderActed{config_.id, broker_->raft.persistent.term, host.local_now().value,
                                        raft.election_timeout_max.value, raft.heartbeat_interval.value});
}

void BrokerHost::note_arrival(sim::Host& host, BrokerId from, const broker::PeerMessage& message) {
    if (host.world().is_traced())
        host.note("from broker " + std::to_string(from.value) + ": " + broker::to_text(message));
    if (watch_.on_fact && std::holds_alternative<raft::Message>(message) && broker::is_answer(message))
        watch_.on_fact(checker::PeerAnswered{config_.id, from, host.local_now().value});
    const auto* replicated = std::get_if<replication::Message>(&message);
    if (watch_.on_fact == nullptr || replicated == nullptr || !broker_->leading) return;
    if (const auto* request = std::get_if<replication::FetchRequest>(replicated))
        if (auto starving = fairness_.on_request(*request, *broker_))
            watch_.on_fact(checker::RequestOverdue{config_.id, "without need: " + *std::move(starving) + " (F1)"});
}

void BrokerHost::send_to_peer(sim::Host& host, const broker::SendToPeer& message) {
    if (host.world().is_traced())
        host.note("to broker " + std::to_string(message.to.value) + ": " + broker::to_text(message.message));
    if (watch_.on_fact && host.is_alive()) {
        const bool was_formation_told = promises_.is_formation_told();
        for (const auto& broken : promises_.look(host.disk(), *broker_, message)) watch_.on_fact(broken);
        if (!was_formation_told && promises_.is_formation_told())
            watch_.on_fact(
                checker::GroupFormationTold{config_.id, line_up_of(broker_->raft.persistent.snapshot.formation)});
        if (const auto* replicated = std::get_if<replication::Message>(&message.message))
            if (const auto* answer = std::get_if<replication::FetchAnswer>(replicated))
                fairness_.on_answer(message.to, *answer, *broker_);
    }
    host.send(host_of(message.to), broker::encode_frame(message.message),
              sim::FrameTag{broker::kind_number(message.message), broker::is_answer(message.message)});
}

void BrokerHost::carry_out(sim::Host& host, const broker::Effect& effect) {
    struct Route {
        BrokerHost& self;
        sim::Host& host;

        void operator()(const broker::SendToPeer& e) const { self.send_to_peer(host, e); }
        void operator()(const broker::AnswerClient& e) const {
            if (host.world().is_traced()) host.note("to client: " + clients::to_text(e.answer));
            self.note_answer(e);
            if (std::ranges::find(self.connections_, e.connection) == self.connections_.end()) return;
            if (is_kafka_side(e.connection)) {
                gateway::Effects asked;
                self.gateway_.on_answer(host.local_now(), e.connection, e.answer, asked);
                return self.carry_out(host, asked);
            }
            host.send(client_of(e.connection), encode_client_frame(e.answer), sim::FrameTag{kClientAnswerKind, true});
        }
        void operator()(const broker::CloseClients&) const {
            for (const ConnectionId connection : self.connections_) host.close_connection(client_of(connection));
            self.connections_.clear();
            self.gateway_.close_all();
            self.unread_.clear();
            self.asked_.clear();
            self.answers_.on_all_closed();
        }
        void operator()(const storage::FileEffect& e) const {
            if (const auto* read = std::get_if<storage::ReadFile>(&e))
                self.reads_under_way_.push_back({sim::DiskOp(read->op.value), ++self.reads_asked_});
            const bool was_alive = host.is_alive();
            std::visit(FileRoute{host.disk()}, e);
            if (was_alive && self.watch_.on_file_effect) self.watch_.on_file_effect(host, e);
        }
        void operator()(const broker::SetTimer& e) const {
            host.set_timer(sim::TimerId(static_cast<std::uint32_t>(e.timer)), host.draw(e.min, e.max));
        }
        void operator()(const broker::CancelTimer& e) const {
            host.cancel_timer(sim::TimerId(static_cast<std::uint32_t>(e.timer)));
        }
        void operator()(const broker::Observe& e) const {
            if (self.watch_.on_fact) self.writers_.on_observation(e.observation);
            if (host.is_alive()) self.damage_.on_observation(e.observation);
            if (const auto* moved = std::get_if<broker::LogStartAdvanced>(&e.observation))
                self.log_start_moved_ = moved->partition;
            if (std::holds_alternative<broker::LeaderServing>(e.observation)) self.has_begun_to_serve_ = true;
            if (self.watch_.on_observation) self.watch_.on_observation(host, e.observation);
        }
    };
    std::visit(Route{*this, host}, effect);
}

}  // namespace tidelock::scenarios
