/// Frames between hosts. Per directed link: delay, bandwidth, order and faults; per pair of hosts a connection with
/// generations. A frame is delivered whole or not at all.
///
/// Streams (the default): frames of one connection generation and direction arrive in order. A connection opens by
/// itself at the first send. When it breaks, frames in flight are lost and each end that learns of it gets
/// ConnectionBroken; an end that does not (half-open) learns by the reset that answers its next frame. Datagrams: no
/// order, no connections.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/arrival.h"
#include "sim/distribution.h"
#include "sim/event_queue.h"
#include "sim/faults.h"
#include "sim/partitions.h"
#include "sim/trace.h"

namespace tidelock::sim {

class World;

enum class LinkMode : std::uint8_t { kStream, kDatagram };

/// What a lost frame does to the rest of its stream.
enum class AfterLoss : std::uint8_t {
    kGoOn,             // later frames arrive: harsher than TCP
    kBreakConnection,  // as TCP would: nothing later arrives, and both ends learn of the break after `break_detection`
};

struct LinkConfig {
    Distribution delay = Distribution::long_tail(microseconds(50), microseconds(300), milliseconds(20));
    std::uint64_t bandwidth_bytes_per_second = 0;  // 0: unlimited
};

struct NetworkConfig {
    LinkMode mode = LinkMode::kStream;  // of links without their own
    AfterLoss after_loss = AfterLoss::kGoOn;
    LinkConfig link;                                                                      // of links without their own
    Distribution break_detection = Distribution::uniform(milliseconds(200), seconds(1));  // kBreakConnection only
    Distribution spike = Distribution::uniform(milliseconds(50), milliseconds(500));      // extra delay of a spike
    Distribution reorder =
        Distribution::uniform(microseconds(100), milliseconds(10));  // extra delay of a reordered frame
};

/// Names a cut until it is healed.
using CutId = std::uint32_t;

/// Frames of one kind that come late while all others come in time. They keep no place in their stream, and a cut that
/// begins when they are under way does not stop them.
struct KindDelay {
    std::uint8_t frame_kind = 0;
    Distribution extra;                    // beside what the link takes anyway
    std::uint32_t per_million = kMillion;  // of the frames of that kind
    LinkSet links;                         // sorted
};
/// Names a KindDelay until it ends.
using KindDelayId = std::uint32_t;

class Network {
  public:
    Network(World& world, const NetworkConfig& config, std::uint64_t seed);

    // Set-up
    void set_link(HostId from, HostId to, const LinkConfig& config);
    /// The mode of the links between these two, both ways, from the next frame on.
    void set_mode(HostId one, HostId other, LinkMode mode);
    /// Random faults (rates) spare this link, or stop sparing it. Explicit faults below never ask.
    void spare(HostId from, HostId to, bool is_spared);

    // Faults made to measure. Each is counted when it bites, not when it is asked for.
    /// Cuts every link of the set until healed; cuts may overlap. `why` is the partition kind that is counted.
    CutId cut(const LinkSet& links, FaultKind why);
    void heal(CutId cut);
    void heal_all();
    [[nodiscard]] bool is_cut(HostId from, HostId to) const;
    /// The link holds everything; `unclog` lets it through in a burst, in order.
    void clog(HostId from, HostId to);
    void unclog(HostId from, HostId to);
    /// Multiplies the link's delays by `factor` (1: normal again).
    void slow_down(HostId from, HostId to, std::uint32_t factor);
    /// Both ends get ConnectionBroken now. False if there was no connection.
    bool reset_connection(HostId one, HostId other);
    /// Only `learns` gets ConnectionBroken; `believes` keeps sending into the void until a reset answers.
    bool break_half(HostId learns, HostId believes);
    /// The next `count` frames of this kind on this link vanish; counted as lost responses or lost kinds by their tag.
    void drop_next(HostId from, HostId to, std::uint8_t frame_kind, std::uint32_t count);
    /// Frames of this kind are lost at this rate on every link.
    void set_kind_loss(std::uint8_t frame_kind, std::uint32_t per_million);
    /// From now on, until it ends; of several that hit a frame the one begun first counts.
    KindDelayId delay_kind(KindDelay delay);
    void end_kind_delay(KindDelayId delay);
    /// Cuts healed, links unclogged and normal, kind loss, kind delays and pending drops forgotten.
    void restore_all();

    [[nodiscard]] std::uint64_t frames_sent() const { return frames_sent_; }
    [[nodiscard]] std::uint64_t frames_delivered() const { return frames_delivered_; }
    /// Frames that met a cut link.
    [[nodiscard]] std::uint64_t frames_cut() const { return frames_cut_; }

    // Called by hosts and by the world.
    void add_host(HostId id);
    void send(HostId from, HostId to, Bytes frame, FrameTag tag);
    void close_connection(HostId closer, HostId peer);
    void on_frame(Event& event);
    void on_connection_broken(Event& event);
    /// The process died: its connections are gone, and peers that can be reached are told (not after a power loss).
    void on_host_down(HostId host, bool peers_are_told);
    void reseed(std::uint64_t seed);

  private:
    /// One end's view of its connection to a peer.
    struct End {
        std::uint32_t generation = 0;
        bool is_open = false;
    };
    struct PendingDrop {
        std::uint8_t frame_kind;
        std::uint32_t count;
    };
    /// A frame that left while its link was slow.
    struct SlowedFrame {
        EventHandle handle;
        TimeNs arrival;
        Event event;
    };
    struct Link {
        HostId from;
        HostId to;
        LinkConfig config;
        LinkMode mode = LinkMode::kStream;
        bool is_spared = false;
        bool is_clogged = false;
        bool clog_was_counted = false;
        bool slowness_was_counted = false;
        std::uint32_t cut_count = 0;
        std::uint32_t slow_factor = 1;
        std::uint32_t gap_generation = 0;  // AfterLoss::kBreakConnection: nothing of it arrives any more
        TimeNs last_arrival;               // of the stream so far
        TimeNs arrival_before_slowness;    // last_arrival when the link became slow
        TimeNs free_at;                    // when the bytes sent so far have left the sender
        TimeNs overtakable_at;             // arrival of a frame held back for reordering; zero: none
        std::uint64_t fault_key = 0;
        std::uint64_t frame_number = 0;
        End sender_end;
        std::vector<Event> held;
        std::vector<SlowedFrame> slowed;  // in the order they left; some have arrived already
        std::vector<PendingDrop> pending_drops;
    };
    struct Cut {
        CutId id;
        FaultKind why;
        bool has_bitten;
        LinkSet links;
    };
    /// A frame on its way through `send`.
    struct Departure {
        Link& link;
        Bytes frame;
        FrameTag tag;
        std::uint32_t connection;
        std::uint64_t number;  // of the frame on its link: what its random draws are numbered by
        std::uint64_t flow;
    };

    Link& link(HostId from, HostId to);
    [[nodiscard]] const Link& link(HostId from, HostId to) const;
    void key_link(Link& keyed) const;
    [[nodiscard]] bool strikes(FaultKind kind, const Departure& departure) const;
    // Connections
    std::uint32_t open_connection(Link& way);
    void break_end(HostId end, HostId peer);
    void send_reset(HostId from, HostId to, std::uint32_t connection);
    void strike_connection(const Departure& departure);
    bool accept_generation(const Event& event);
    // A frame leaves
    std::optional<FaultKind> loss_of(const Departure& departure);
    bool takes_pending_drop(Link& way, FrameTag tag);
    void depart(Departure& departure);
    void depart_again(const Departure& departure);
    TimeNs arrival_time(Departure& departure, std::optional<Duration> late);
    std::optional<Duration> kind_delay_of(const Departure& departure) const;
    TimeNs in_order(Link& way, TimeNs arrival);
    Bytes corrupted(const Departure& departure) const;
    void break_after_loss(Link& way, std::uint32_t connection);
    void push_arrival(Link& way, TimeNs arrival, Event event);
    void hurry_slowed(Link& way, std::uint32_t factor);
    // A frame arrives
    bool is_stopped_on_the_way(Link& way, Event& event);
    bool is_held_up(Link& way, Event& event);
    void release_held(Link& way);
    void deliver(Event& event);
    void count_cut(Link& way);
    void trace_frame(TraceKind kind, const Event& event, std::string_view text);

    World& world_;
    NetworkConfig config_;
    std::uint64_t seed_;
    std::vector<HostId> ids_;               // by dense index
    std::vector<std::vector<Link>> links_;  // by the dense index of sender, then receiver
    std::vector<Cut> cuts_;
    CutId next_cut_ = 1;
    std::array<std::uint32_t, kFrameKindCount> kind_loss_per_million_{};
    bool has_kind_loss_ = false;
    std::vector<std::pair<KindDelayId, KindDelay>> kind_delays_;
    KindDelayId next_kind_delay_ = 1;
    std::uint64_t frames_sent_ = 0;
    std::uint64_t frames_delivered_ = 0;
    std::uint64_t frames_cut_ = 0;
};

}  // namespace tidelock::sim
