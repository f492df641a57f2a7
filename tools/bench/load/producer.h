/// The closed loop: keeps a number of records in flight, and counts what is acknowledged, when, and how late.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tools/bench/load/histogram.h"
#include "tools/bench/load/system.h"

namespace tidelock::load {

/// What a producer has seen.
struct Produced {
    std::uint64_t sent = 0;  // different records
    std::uint64_t acknowledged = 0;
    std::uint64_t given_up = 0;
    std::uint64_t reconnects = 0;
    /// After the warm-up.
    std::uint64_t counted = 0;
    std::int64_t counted_ns = 0;
    Histogram latency;
    /// The longest time without an acknowledgement that ended after `watch_silence`.
    std::int64_t silence_ns = 0;
    /// By record number; only if asked for. An offset of kNotAcknowledged says what it means.
    std::vector<Place> places;
};
inline constexpr std::int64_t kNotAcknowledged = -2;

class Producer final : public Outcomes {
  public:
    /// Remembers each record's place if `keeps_places`; sends again after a broken connection if `is_stubborn`.
    struct Habits {
        bool keeps_places = false;
        bool is_stubborn = false;
    };
    Producer(const Options& options, System& system, Habits habits)
        : options_(options), system_(system), habits_(habits) {}

    /// Until records or time are used up, and what is in flight is acknowledged. `each_turn` is called all the time.
    /// Empty: done.
    std::string run(const std::function<std::string()>& each_turn = {});
    /// From now on the longest silence is measured.
    void watch_silence() { watches_silence_ = true; }
    [[nodiscard]] const Produced& produced() const { return produced_; }
    [[nodiscard]] std::int64_t started_ns() const { return started_ns_; }

    void on_acknowledged(RecordRange range, Place place) override;

  private:
    struct Sent {
        RecordRange range;
        std::int64_t made_ns = 0;     // of the first time
        std::int64_t touched_ns = 0;  // of the last
        bool is_acknowledged = false;
    };

    void fill();
    [[nodiscard]] bool may_send(std::uint32_t count, std::uint32_t batch) const;
    /// Empty: fine; else it makes no sense to go on.
    std::string on_trouble(const std::string& why);
    void count(const Sent& sent, std::int64_t at_ns);
    void keep_place(RecordRange range, Place place);

    const Options& options_;
    System& system_;
    Habits habits_;
    Produced produced_;
    std::deque<Sent> in_flight_;  // ascending; acknowledged ones go when they are the first
    std::uint32_t in_flight_records_ = 0;
    std::int64_t started_ns_ = 0;
    std::int64_t send_until_ns_ = 0;
    std::int64_t partial_since_ns_ = 0;  // when the batch that is not full could have gone
    std::int64_t counted_from_ns_ = 0;
    std::int64_t last_acknowledged_ns_ = 0;
    bool watches_silence_ = false;
};

/// Tries `connect` until it succeeds or the patience is over. Empty: connected.
std::string connect_within(System& system, std::int64_t patience_ns);

}  // namespace tidelock::load
