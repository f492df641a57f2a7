/// The clients of a schedule: a machine for each of the plan's, with its story on it, and what they have been told so
/// far. They find brokers at the hosts of the same world with the brokers' ids, whatever answers there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "checker/final_view.h"
#include "scenarios/client_stories.h"
#include "scenarios/plan.h"
#include "sim/world.h"

namespace tidelock::scenarios {

/// Host ids of those who are no brokers; a kind has room for a hundred.
inline constexpr std::int32_t kProducerHosts = 100;
inline constexpr std::int32_t kConsumerHosts = 200;
inline constexpr std::int32_t kCommitterHosts = 300;
inline constexpr std::int32_t kPollerHosts = 400;
inline constexpr std::int32_t kAdminHost = 500;
inline constexpr std::int32_t kVerifierHost = 501;
inline constexpr std::int32_t kScriptHost = 502;
inline constexpr std::int32_t kCoordinatorPollerHosts = 600;
inline constexpr std::int32_t kMemberHosts = 700;

class ClientHosts {
  public:
    /// All must outlive it; the world's stories have to be ended before it goes.
    ClientHosts(const Plan& plan, sim::World& world, CallLog& calls);
    ClientHosts(const ClientHosts&) = delete;
    ClientHosts& operator=(const ClientHosts&) = delete;

    /// A host for a client story of somebody else's.
    sim::Host& add_host(std::int32_t id, std::string name);
    /// Sends the plan's clients off.
    void start(AdminHooks hooks);
    void start_verifier();

    [[nodiscard]] Workload& workload() { return workload_; }
    [[nodiscard]] const Verification& verification() const { return verification_; }
    /// What the verifier read, and where consumers and groups have got to. `view` lists its partitions already.
    void add_to(checker::FinalView& view) const;

  private:
    Client& add(std::int32_t host_id, const std::string& name);
    void start_members();
    void start_pollers();

    const Plan& plan_;
    sim::World& world_;
    Workload workload_;
    std::deque<Client> clients_;
    std::deque<ConsumerProgress> consumer_progress_;
    std::map<std::int32_t, GroupProgress> group_progress_;  // by the group's number
    Verification verification_;
    AdminHooks admin_hooks_;
};

}  // namespace tidelock::scenarios
