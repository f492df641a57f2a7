#include "sim/run_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tidelock::sim {
namespace {

/// Size and first eight bytes: those of a peer frame hold its checksum, so content that differs shows.
std::uint64_t fingerprint(const Bytes& bytes) {
    std::uint64_t head = 0;
    if (!bytes.empty()) std::memcpy(&head, bytes.data(), std::min(sizeof head, bytes.size()));
    return head ^ (static_cast<std::uint64_t>(bytes.size()) << 40);
}

std::uint64_t who(const Event& event) {
    const std::uint64_t host = static_cast<std::uint16_t>(event.host.value);
    const std::uint64_t peer = static_cast<std::uint16_t>(event.peer.value);
    return static_cast<std::uint64_t>(event.kind) << 56 | host << 16 | peer;
}

}  // namespace

std::string text_of(const DigestStep& step) {
    const std::string when = fmt::format("{}.{:09d}", step.at.value / 1'000'000'000, step.at.value % 1'000'000'000);
    if (step.is_observation) return fmt::format("{} observation {:016x} digest {:016x}", when, step.a, step.digest);
    return fmt::format("{} {} host {} peer {} a {} b {} digest {:016x}", when, text_of(step.kind), step.host.value,
                       step.peer.value, step.a, step.b, step.digest);
}

void RunDigest::add_event(TimeNs at, const Event& event) {
    rolling_.add(static_cast<std::uint64_t>(at.value) ^ who(event));
    rolling_.add(event.a ^ (event.b << 32 | event.b >> 32));
    if (!event.bytes.empty()) rolling_.add(fingerprint(event.bytes));
    ++step_count_;
    if (recording_ != DigestRecording::kNothing)
        record(DigestStep{at, event.kind, false, event.host, event.peer, event.a, event.b, rolling_.value()});
}

void RunDigest::add_observation(TimeNs at, std::uint64_t hash) {
    rolling_.add(hash);
    ++step_count_;
    if (recording_ != DigestRecording::kNothing)
        record(DigestStep{at, EventKind::kCall, true, kNoHost, kNoHost, hash, 0, rolling_.value()});
}

void RunDigest::record(const DigestStep& step) {
    if (recording_ == DigestRecording::kEveryStep || steps_.size() < kRecentStepCount) {
        steps_.push_back(step);
    } else {
        steps_[(step_count_ - 1) % kRecentStepCount] = step;
    }
}

std::vector<DigestStep> RunDigest::steps() const {
    std::vector<DigestStep> ordered = steps_;
    if (recording_ == DigestRecording::kLastEvents && step_count_ > kRecentStepCount)
        std::rotate(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(step_count_ % kRecentStepCount),
                    ordered.end());
    return ordered;
}

std::optional<std::size_t> first_divergence(const std::vector<DigestStep>& one, const std::vector<DigestStep>& other) {
    const std::size_t shared = std::min(one.size(), other.size());
    for (std::size_t i = 0; i < shared; ++i)
        if (!(one[i] == other[i])) return i;
    if (one.size() == other.size()) return std::nullopt;
    return shared;
}

}  // namespace tidelock::sim
