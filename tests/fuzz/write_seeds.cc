// Writes the seed inputs of the binary fuzz targets, for after a format has changed: `fuzz_seeds tests/testdata/fuzz`.
// Every kind of message once bare and the telling ones filled, and the disks of a small cluster after some seconds of
// work. The same files come out of every run.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include "protocol/broker/peer_message.h"
#include "protocol/clients/messages.h"
#include "protocol/clients/offsets.h"
#include "protocol/clients/producers.h"
#include "protocol/group/metadata.h"
#include "protocol/raft/persistent_state.h"
#include "protocol/storage/record_batch.h"
#include "protocol/storage/state_file.h"
#include "scenarios/cluster.h"
#include "tests/protocol/kafka/filler.h"

namespace {

using namespace tidelock;

constexpr std::size_t kImageFileBytesMax = 4'096;
constexpr TopicPartition kPartition{TopicId(1), PartitionIndex(0)};

/// The folder of seeds; each target has a folder of its own in it.
class SeedFolder {
  public:
    explicit SeedFolder(std::filesystem::path path) : path_(std::move(path)) {}

    void add(const std::string& target, const std::string& name, std::span<const std::byte> content) const {
        std::filesystem::create_directories(path_ / target);
        std::ofstream file(path_ / target / name, std::ios::binary);
        file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
        if (!file.flush()) {
            std::fprintf(stderr, "cannot write %s\n", (path_ / target / name).c_str());
            std::exit(2);
        }
    }
    void add(const std::string& target, const std::string& name, const Bytes& content) const {
        add(target, name, content.span());
    }

  private:
    std::filesystem::path path_;
};

/// Calls `use` with a value of each kind of the variant.
template <typename Variant, typename Use>
void for_each_kind(const Use& use) {
    [&use]<std::size_t... kKinds>(std::index_sequence<kKinds...>) {
        (use(std::to_string(kKinds), Variant(std::in_place_index<kKinds>)), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Variant>>());
}

template <typename Encodable>
Bytes bytes_of(const Encodable& value) {
    ByteWriter out;
    encode(value, out);
    return out.take();
}

Bytes some_batch() {
    storage::BatchOptions options;
    options.producer_id = ProducerId(3);
    options.producer_epoch = ProducerEpoch(1);
    options.base_sequence = 4;
    storage::RecordBatchBuilder builder(options);
    builder.add({10, Bytes::copy_of("key"), Bytes::copy_of("value"), {{"header", Bytes::copy_of("h")}, {"null", {}}}});
    builder.add({12, std::nullopt, std::nullopt, {}});
    return builder.build();
}

raft::PersistentState some_raft_state() {
    raft::PersistentState state = raft::fresh_state(Incarnation(1));
    state.snapshot.membership = {{BrokerId(1), Incarnation(1)}, {BrokerId(2), Incarnation(2)}};
    state.snapshot.formation = {{BrokerId(1), Incarnation(1), Bytes::copy_of("data")}};
    state.voter = true;
    state.term = Term(2);
    const group::Claim claim{
        LeaderEpoch(2), BrokerId(1), {{BrokerId(1), Incarnation(1)}, {BrokerId(2), Incarnation(2)}}};
    state.entries = {
        {LogIndex(1), Term(1), raft::EntryKind::kCommand, Bytes::copy_of("payload")},
        {LogIndex(2), Term(2), raft::EntryKind::kClaim, group::encode(group::Entry(claim))},
    };
    return state;
}

void add_raft(const SeedFolder& seeds) {
    for_each_kind<raft::Message>([&seeds](const std::string& kind, const raft::Message& message) {
        seeds.add("raft_message", "kind-" + kind, raft::encode(message));
        seeds.add("frame", "raft-" + kind, broker::encode_frame(message));
    });
    const raft::PersistentState state = some_raft_state();
    raft::AppendRequest append;
    append.term = Term(2);
    append.entries = state.entries;
    seeds.add("raft_message", "append-filled", raft::encode(raft::Message(append)));
    raft::FormationStatement statement{Incarnation(1), true, 3, 2, state.snapshot.formation};
    seeds.add("raft_message", "formation-filled", raft::encode(raft::Message(statement)));
    seeds.add("raft_message", "state", raft::encode(state));
    group::Metadata metadata;
    metadata.leader_epoch = LeaderEpoch(2);
    metadata.leader = BrokerId(1);
    metadata.in_sync_set_version = 4;
    metadata.in_sync_replicas = {{BrokerId(1), Incarnation(1)}};
    seeds.add("raft_message", "group-metadata", group::encode(metadata));
    seeds.add("raft_message", "group-claim", state.entries.back().payload);
}

void add_replication(const SeedFolder& seeds) {
    for_each_kind<replication::Message>([&seeds](const std::string& kind, const replication::Message& message) {
        seeds.add("replication_message", "kind-" + kind, bytes_of(message));
        seeds.add("frame", "replication-" + kind, broker::encode_frame(message));
    });
    const replication::FollowerHeader header{replication::RequestId(1), {BrokerId(2), Incarnation(2)}, LeaderEpoch(1)};
    const std::array<replication::Message, 3> filled = {
        replication::FetchRequest{header,
                                  5,
                                  milliseconds(500),
                                  4'096,
                                  {{kPartition, Offset(4), LeaderEpoch(1), Offset(3), Offset(2), Offset(0)}}},
        replication::FetchAnswer{replication::RequestId(1),
                                 LeaderEpoch(1),
                                 replication::ErrorCode::kNone,
                                 5,
                                 true,
                                 {{kPartition, replication::ErrorCode::kNone, Offset(4), Offset(0), some_batch()}}},
        replication::EpochEndRequest{header, {{kPartition, LeaderEpoch(1)}}},
    };
    for (std::size_t i = 0; i < filled.size(); ++i)
        seeds.add("replication_message", "filled-" + std::to_string(i), bytes_of(filled[i]));
    seeds.add("frame", "fetch-answer-filled", broker::encode_frame(filled[1]));
}

void add_clients(const SeedFolder& seeds) {
    for_each_kind<clients::RequestBody>([&seeds](const std::string& kind, const clients::RequestBody& body) {
        const clients::Request request{CorrelationId(1), body};
        seeds.add("client_message", "request-" + kind, bytes_of(request));
        seeds.add("frame", "request-" + kind, scenarios::encode_client_frame(request));
    });
    for_each_kind<clients::AnswerBody>([&seeds](const std::string& kind, const clients::AnswerBody& body) {
        seeds.add("client_message", "answer-" + kind, bytes_of(clients::Answer{CorrelationId(1), BrokerId(2), body}));
    });
    const clients::PartitionName name{"topic", TopicId(1), PartitionIndex(0)};
    const clients::Request produce{CorrelationId(1), clients::ProduceRequest{name, {}, seconds(1), some_batch()}};
    seeds.add("client_message", "produce-filled", bytes_of(produce));
    seeds.add("client_message", "id-block", clients::encode_block({ProducerId(1), 100}));
}

/// Requests as clients send them; answers behind the two bytes by which kafka_request_fuzz.cc knows them.
void add_kafka(const SeedFolder& seeds) {
    for (std::size_t index = 0; index < kafka::kApis.size(); ++index) {
        const kafka::Api& api = kafka::kApis[index];
        const std::string name(api.name);
        for (const kafka::Version version : {api.first, api.last}) {
            const kafka::Request request = kafka::filled_request(index, version, 7);
            const std::string suffix = "-" + std::to_string(version);
            seeds.add("kafka_request", "request-" + name + suffix, kafka::encode_request(request).content());
            ByteWriter answer;
            answer.u8(static_cast<std::uint8_t>(index));
            answer.u8(static_cast<std::uint8_t>(version - api.first));
            answer.raw(kafka::encode_response(kafka::filled_response(index, version, 7)).content().span());
            seeds.add("kafka_request", "answer-" + name + suffix, answer.span());
        }
    }
}

/// As recovery_fuzz.cc reads a directory: for each file a selector of its name, flags, its size, its content.
void put_image_file(ByteWriter& out, std::uint8_t selector, const Bytes& content) {
    const Bytes kept = content.slice(0, std::min(content.size(), kImageFileBytesMax));
    out.u8(selector);
    out.u8(0);
    out.u16(static_cast<std::uint16_t>(kept.size()));
    out.raw(kept.span());
}

void add_disk(const SeedFolder& seeds, sim::Disk& disk) {
    ByteWriter directory;
    for (const sim::FileImage& file : disk.boot_image()) {
        const bool is_copy = file.name.ends_with(".a");
        const bool is_log = file.name.ends_with(".log");
        const bool is_journal = file.name.starts_with("checkpoint.");
        if (is_copy) {
            const std::string name = file.name.substr(0, file.name.size() - 2);
            seeds.add("state_file", name + "-copy", file.content);
            if (const auto copy = storage::decode_state_copy(storage::FileName(name), file.content))
                seeds.add("state_file", name + "-content", copy->content);
        }
        if (is_log && file.content.size() <= kImageFileBytesMax) seeds.add("record_batch", "segment", file.content);
        if (is_journal) put_image_file(directory, 0, file.content);
        if (is_log) put_image_file(directory, 2, file.content);
    }
    seeds.add("recovery", "directory", directory.span());
}

/// Some seconds of an ordinary cluster without faults.
void add_disks(const SeedFolder& seeds) {
    scenarios::Plan plan = scenarios::generate(*scenarios::load_scenario("group-failover"), 1);
    plan.faults.clear();
    scenarios::Cluster cluster(plan, sim::DigestRecording::kNothing);
    cluster.start_brokers();
    cluster.start_clients();
    cluster.world().run_until(sim::TimeNs(0) + seconds(4));
    add_disk(seeds, cluster.world().host(scenarios::host_of(BrokerId(1))).disk());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    const SeedFolder seeds(argv[1]);
    add_raft(seeds);
    add_replication(seeds);
    add_clients(seeds);
    add_kafka(seeds);
    seeds.add("record_batch", "batch", some_batch());
    add_disks(seeds);
    return 0;
}
