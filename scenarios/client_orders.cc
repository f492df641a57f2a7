#include "scenarios/client_orders.h"

namespace tidelock::scenarios {
namespace {

constexpr FaultKind kOrderKinds[] = {
    FaultKind::kProducerCrash, FaultKind::kZombieProducer, FaultKind::kSlowConsumer, FaultKind::kConsumerReconnect,
    FaultKind::kMemberCrash,   FaultKind::kZombieMember,   FaultKind::kMemberLeave};
static_assert(std::size(kOrderKinds) == std::size(Workload{}.orders_taken));

}  // namespace

std::span<const FaultKind> order_kinds() {
    return kOrderKinds;
}

bool order_client(Workload& workload, const PlannedFault& fault, std::int64_t now_ns, sim::Rng& random) {
    const FaultKind kind = fault.kind;
    const bool is_producer = kind == FaultKind::kProducerCrash || kind == FaultKind::kZombieProducer;
    const bool is_member =
        kind == FaultKind::kMemberCrash || kind == FaultKind::kZombieMember || kind == FaultKind::kMemberLeave;
    std::vector<ClientOrders>& orders = is_producer ? workload.producer_orders
                                        : is_member ? workload.member_orders
                                                    : workload.consumer_orders;
    if (orders.empty()) return false;
    ClientOrders& chosen = orders[random.below(orders.size())];
    const std::int64_t until_ns = now_ns + milliseconds(fault.duration_ms).value;
    if (kind == FaultKind::kProducerCrash || kind == FaultKind::kMemberCrash) ++chosen.crash_count;
    if (kind == FaultKind::kZombieProducer) chosen.zombie_until_ns = until_ns;
    if (kind == FaultKind::kSlowConsumer || kind == FaultKind::kZombieMember) chosen.silent_until_ns = until_ns;
    if (kind == FaultKind::kConsumerReconnect) ++chosen.reconnect_count;
    if (kind == FaultKind::kMemberLeave) ++chosen.leave_count;
    return true;
}

}  // namespace tidelock::scenarios
