/// The contract of an invariant: a small class with `judge(context, broker, observation)` for each observation it cares
/// about. It is called before the view takes the observation in, costs constant or logarithmic time, keeps only what it
/// needs to compare with, and reports what does not hold. `Checker` says who hears what.
#pragma once

#include <cstdint>
#include <string>

#include "checker/cluster_view.h"
#include "checker/violation.h"

namespace tidelock::checker {

struct Context {
    std::int64_t time_ns;
    const ClusterView& view;  // before what is being judged
    ViolationLog& log;
};

/// "broker 3", for messages.
std::string text_of(BrokerId broker);
/// "1, 2, 3" without incarnations.
std::string text_of(const std::vector<Replica>& members);
/// "offsets 5..7 (epoch 2, crc 00c0ffee)".
std::string text_of(const broker::BatchSummary& batch);

}  // namespace tidelock::checker
