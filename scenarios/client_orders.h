/// Faults of clients: orders that a client takes when it comes to them.
#pragma once

#include <cstdint>
#include <span>

#include "scenarios/client.h"
#include "scenarios/plan.h"
#include "sim/rng.h"

namespace tidelock::scenarios {

/// Kinds of orders, in the order of Workload::orders_taken.
std::span<const FaultKind> order_kinds();

/// Orders one client of the kind that the fault is about, drawn at random, to do it. False: there is none.
bool order_client(Workload& workload, const PlannedFault& fault, std::int64_t now_ns, sim::Rng& random);

}  // namespace tidelock::scenarios
