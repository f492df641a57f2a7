// Any bytes at all: a peer message of the data path decodes or is refused; what decodes encodes to the same bytes, has
// a text, and neither a leader's judgement nor a fetcher falls over it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "protocol/replication/fetch_answer.h"
#include "protocol/replication/fetcher.h"

namespace tidelock::replication {
namespace {

void require(bool fact) {
    if (!fact) std::abort();
}

constexpr TopicPartition kPartition{TopicId(1), PartitionIndex(0)};

/// Whoever sends what, answers are judged against this fetcher: it follows broker 1 at epoch 1 and waits for one.
Fetcher some_fetcher(FetchPhase phase, FetchEffects& effects) {
    Fetcher fetcher{FetcherConfig{}};
    fetcher.follow(BrokerId(1), LeaderEpoch(1), Instant(1), effects);
    if (phase == FetchPhase::kManifest) return fetcher;
    fetcher.on_manifest_answer({RequestId(1), LeaderEpoch(1), ErrorCode::kNone, {}}, Instant(1), effects);
    fetcher.on_reconciled({{kPartition, {{LeaderEpoch(1), Offset(0)}}, Offset(0), Offset(8), Offset(8), Offset(2)}},
                          Instant(1), effects);
    if (phase == FetchPhase::kTruncating) return fetcher;
    const LeaderEpochEnd end{EpochEnd{LeaderEpoch(1), Offset(8)}, Offset(0), Offset(9)};
    fetcher.on_epoch_end_answer({RequestId(2), LeaderEpoch(1), ErrorCode::kNone, {{kPartition, ErrorCode::kNone, end}}},
                                Instant(1), effects);
    return fetcher;
}

void meet_leader(const Message& message) {
    const std::vector<EpochStart> history = {{LeaderEpoch(1), Offset(0)}, {LeaderEpoch(3), Offset(5)}};
    const LeaderView view{kPartition, history, Offset(2), Offset(9), Offset(6), true};
    if (const auto* fetch = std::get_if<FetchRequest>(&message)) {
        const std::vector<const LeaderView*> views(fetch->partitions.size(), &view);
        const FetchPlan plan = plan_fetch(*fetch, views);
        require(plan.partitions.size() <= fetch->partitions.size());
        ParkedFetches parked;
        static_cast<void>(parked.park(*fetch, plan.has_other_news, milliseconds(500), Instant(1)));
    }
    if (const auto* ask = std::get_if<EpochEndRequest>(&message))
        for (const EpochEndQuestion& question : ask->questions) static_cast<void>(answer_epoch_end(question, &view));
}

void meet_follower(const Message& message) {
    FetchEffects effects;
    if (const auto* manifest = std::get_if<ManifestAnswer>(&message)) {
        Fetcher fetcher = some_fetcher(FetchPhase::kManifest, effects);
        fetcher.on_manifest_answer(*manifest, Instant(2), effects);
    } else if (const auto* end = std::get_if<EpochEndAnswer>(&message)) {
        Fetcher fetcher = some_fetcher(FetchPhase::kTruncating, effects);
        effects.clear();
        fetcher.on_epoch_end_answer(*end, Instant(2), effects);
        for (const FetchEffect& effect : effects)
            if (const auto* cut = std::get_if<Truncate>(&effect)) require(cut->offset >= Offset(2));  // L8
    } else if (const auto* fetched = std::get_if<FetchAnswer>(&message)) {
        Fetcher fetcher = some_fetcher(FetchPhase::kFetching, effects);
        fetcher.on_fetch_answer(*fetched, Instant(2), effects);
        fetcher.on_answer_applied(Instant(2), effects);
    }
}

}  // namespace
}  // namespace tidelock::replication

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidelock;
    const Bytes content = Bytes::copy_of(std::as_bytes(std::span(data, size)));
    const Result<replication::Message, DecodeError> message = replication::decode_message(content);
    if (!message) return 0;
    ByteWriter out;
    replication::encode(*message, out);
    replication::require(out.take() == content);
    replication::require(!replication::to_text(*message).empty());
    replication::meet_leader(*message);
    replication::meet_follower(*message);
    return 0;
}
