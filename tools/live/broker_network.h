/// Where real brokers live: network namespaces of their own, joined by a bridge in a namespace that only this process
/// and what it starts can see, so that links between brokers can be cut for real; or loopback, where they cannot.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::live {

/// Packets of the first to the second.
using Link = std::pair<BrokerId, BrokerId>;

class BrokerNetwork {
  public:
    /// Namespaces need root, and the commands ip and nft. The error says what is missing.
    static Result<std::unique_ptr<BrokerNetwork>, std::string> of_namespaces(int broker_count);
    static std::unique_ptr<BrokerNetwork> of_loopback(int broker_count);
    ~BrokerNetwork();
    BrokerNetwork(const BrokerNetwork&) = delete;
    BrokerNetwork& operator=(const BrokerNetwork&) = delete;

    /// "10.207.0.2", or "127.0.0.1".
    [[nodiscard]] std::string host_of(BrokerId broker) const;
    /// For setns(2) before the broker starts; -1: it stays where it is.
    [[nodiscard]] int namespace_of(BrokerId broker) const;
    [[nodiscard]] bool can_cut() const { return !namespaces_.empty(); }
    /// These links are cut from now on, and no others. The error is what nft said.
    std::string set_cuts(const std::vector<Link>& cuts);

  private:
    explicit BrokerNetwork(int broker_count) : broker_count_(broker_count) {}
    std::string build();
    std::string add_broker(int number);

    int broker_count_;
    std::vector<int> namespaces_;  // by broker, from 1
};

/// Runs a command to its end, in the namespace of `net` if that is one. Empty: it succeeded; else what it said.
std::string run_tool(const std::vector<std::string>& words, int net = -1);

}  // namespace tidelock::live
