/// Brokers' places in a world that has clients only: what clients send there goes to the real broker, and what that
/// answers comes back. So the clients of the simulator are those of real processes, stories, retries and all.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "protocol/base/ids.h"
#include "sim/world.h"
#include "tools/live/broker_wires.h"

namespace tidelock::live {

class BrokerDoors {
  public:
    /// `addresses` of brokers 1, 2 ... All must outlive it.
    BrokerDoors(sim::World& world, BrokerWires& wires, std::vector<sockaddr_in> addresses);

    /// What came over the wires, at the world's present time.
    void deliver(std::vector<WireNews> news);

  private:
    /// One client's connection to one broker, and the generation of it that the client knows.
    struct Line {
        WireId wire = 0;
        std::uint32_t connection = 0;
    };
    struct Caller {
        BrokerId broker;
        sim::HostId client;
        auto operator<=>(const Caller&) const = default;
    };
    /// For a client, from the broker.
    struct Parcel {
        sim::HostId client;
        std::uint32_t connection = 0;
        std::optional<Bytes> content;  // none: the connection has ended
    };

    void live(BrokerId broker, sim::Host& host);
    void on_frame(BrokerId broker, sim::Host& host, const sim::FrameArrived& arrived);
    void on_closed(BrokerId broker, const sim::ConnectionBroken& closed);
    void hand_out(BrokerId broker, sim::Host& host);
    Line& line_of(Caller caller, std::uint32_t connection);

    sim::World& world_;
    BrokerWires& wires_;
    std::vector<sockaddr_in> addresses_;
    std::map<Caller, Line> lines_;
    std::map<WireId, Caller> callers_;
    std::map<BrokerId, std::deque<Parcel>> parcels_;
    std::int32_t next_question_ = 1 << 30;
};

}  // namespace tidelock::live
