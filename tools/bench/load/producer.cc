#include "tools/bench/load/producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tidelock::load {
namespace {

constexpr std::int64_t kTurnNs = 20'000'000;  // how long nobody looks at the clock
constexpr std::int64_t kConnectAgainNs = 2'000'000;

}  // namespace

std::string connect_within(System& system, std::int64_t patience_ns) {
    const std::int64_t end_ns = now_ns() + patience_ns;
    for (;;) {
        const std::string why = system.connect();
        if (why.empty() || now_ns() >= end_ns) return why;
        sleep_ns(kConnectAgainNs);
    }
}

std::string Producer::run(const std::function<std::string()>& each_turn) {
    started_ns_ = now_ns();
    counted_from_ns_ = started_ns_ + options_.warmup_ns;
    send_until_ns_ =
        options_.seconds_ns == 0 ? std::numeric_limits<std::int64_t>::max() : counted_from_ns_ + options_.seconds_ns;
    last_acknowledged_ns_ = started_ns_;
    for (;;) {
        fill();
        const bool is_over =
            now_ns() >= send_until_ns_ || (options_.records != 0 && produced_.sent >= options_.records);
        if (is_over && in_flight_.empty()) break;
        std::string trouble = system_.wait(partial_since_ns_ != 0 ? options_.linger_ns : kTurnNs, *this);
        const bool is_late = !in_flight_.empty() && now_ns() - in_flight_.front().touched_ns > options_.ack_timeout_ns;
        if (trouble.empty() && is_late) trouble = "no acknowledgement came in time";
        if (!trouble.empty())
            if (std::string end = on_trouble(trouble); !end.empty()) return end;
        if (each_turn)
            if (std::string end = each_turn(); !end.empty()) return end;
    }
    produced_.counted_ns = std::max<std::int64_t>(last_acknowledged_ns_ - counted_from_ns_, 0);
    return {};
}

bool Producer::may_send(std::uint32_t count, std::uint32_t batch) const {
    if (count == 0) return false;
    const bool is_last = options_.records != 0 && produced_.sent + count == options_.records;
    return count == batch || is_last || options_.linger_ns == 0 ||
           (partial_since_ns_ != 0 && now_ns() - partial_since_ns_ >= options_.linger_ns);
}

void Producer::fill() {
    const std::uint32_t batch = std::min({options_.batch_records(), system_.batch_records_max(), options_.in_flight});
    for (;;) {
        const std::int64_t at_ns = now_ns();
        if (at_ns >= send_until_ns_) return;
        std::uint64_t room = options_.in_flight - in_flight_records_;
        if (options_.records != 0) room = std::min(room, options_.records - produced_.sent);
        const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(room, batch));
        if (!may_send(count, batch)) {
            partial_since_ns_ = count == 0 ? 0 : partial_since_ns_ == 0 ? at_ns : partial_since_ns_;
            return;
        }
        partial_since_ns_ = 0;
        const RecordRange range{produced_.sent, count};
        produced_.sent += count;
        if (habits_.keeps_places) produced_.places.resize(produced_.sent, {0, kNotAcknowledged});
        if (options_.acks != 0) {
            in_flight_.push_back({range, at_ns, at_ns});
            in_flight_records_ += count;
        }
        system_.send(range, at_ns);
        if (options_.acks == 0) return on_acknowledged(range, {});  // sent is all that can be said of it
    }
}

void Producer::on_acknowledged(RecordRange range, Place place) {
    const std::int64_t at_ns = now_ns();
    if (watches_silence_) produced_.silence_ns = std::max(produced_.silence_ns, at_ns - last_acknowledged_ns_);
    last_acknowledged_ns_ = at_ns;
    if (options_.acks == 0) return count({range, at_ns, at_ns}, at_ns);
    const auto sent = std::lower_bound(in_flight_.begin(), in_flight_.end(), range.first,
                                       [](const Sent& each, std::uint64_t first) { return each.range.first < first; });
    const bool is_known = sent != in_flight_.end() && sent->range.first == range.first && !sent->is_acknowledged;
    if (!is_known) return;  // an answer to the first of two attempts
    sent->is_acknowledged = true;
    in_flight_records_ -= sent->range.count;
    count(*sent, at_ns);
    keep_place(range, place);
    while (!in_flight_.empty() && in_flight_.front().is_acknowledged) in_flight_.pop_front();
}

void Producer::count(const Sent& sent, std::int64_t at_ns) {
    produced_.acknowledged += sent.range.count;
    if (at_ns < counted_from_ns_) return;
    produced_.counted += sent.range.count;
    produced_.latency.add(at_ns - sent.made_ns, sent.range.count);
}

void Producer::keep_place(RecordRange range, Place place) {
    if (!habits_.keeps_places) return;
    for (std::uint32_t i = 0; i < range.count; ++i)
        produced_.places[range.first + i] = {place.partition, place.offset < 0 ? -1 : place.offset + i};
}

std::string Producer::on_trouble(const std::string& why) {
    if (!habits_.is_stubborn) {
        produced_.given_up += in_flight_records_;
        return why;
    }
    if (now_ns() - last_acknowledged_ns_ > options_.patience_ns)
        return fmt::format("nothing was acknowledged for {} s; at last: {}", options_.patience_ns / 1'000'000'000, why);
    ++produced_.reconnects;
    if (std::string error = connect_within(system_, options_.patience_ns); !error.empty()) return error;
    for (Sent& sent : in_flight_) {
        if (sent.is_acknowledged) continue;
        sent.touched_ns = now_ns();
        system_.send(sent.range, sent.made_ns);
    }
    return {};
}

}  // namespace tidelock::load
