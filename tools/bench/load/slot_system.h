/// Systems whose connections answer one request at a time: as many connections as requests may be under way.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/load/system.h"

namespace tidelock::load {

class SlotSystem : public System {
  public:
    SlotSystem(const Options& options, Payload& payload) : options_(options), payload_(payload) {}

    std::string connect() override;
    void send(RecordRange range, std::int64_t made_ns) override;
    std::string wait(std::int64_t patience_ns, Outcomes& outcomes) override;
    Result<std::size_t, std::string> leader() override { return leader_; }

  protected:
    /// Whether this broker takes records. Empty: it does.
    virtual std::string check_leads(Channel& channel) = 0;
    virtual void put_records(Channel& channel, RecordRange range, std::int64_t made_ns) = 0;
    /// The answer to `put_records`, if all of it came; an error when the records were not taken.
    virtual Result<std::optional<Place>, std::string> take_answer(Channel& channel, RecordRange range) = 0;

    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] Payload& payload() { return payload_; }
    /// One that has nothing under way; only after `connect` and before `send`.
    [[nodiscard]] Channel& idle_channel() { return *slots_.front().channel; }

  private:
    struct Slot {
        std::unique_ptr<Channel> channel;
        std::optional<RecordRange> under_way;
    };
    struct Waiting {
        RecordRange range;
        std::int64_t made_ns = 0;
    };

    std::string open_slots(const HostPort& broker);
    void begin();

    const Options& options_;
    Payload& payload_;
    std::vector<Slot> slots_;
    std::vector<std::size_t> idle_;  // of slots_
    std::deque<Waiting> waiting_;
    std::size_t leader_ = 0;
};

}  // namespace tidelock::load
