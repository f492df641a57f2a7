/// V16: once faults have stopped the cluster comes back to full service.
#pragma once

#include <string>
#include <vector>

#include "checker/final_view.h"
#include "checker/settings.h"

namespace tidelock::checker {

/// Every expectation that is not met, each named by what is being waited for; empty when the cluster is whole. The
/// runner may call it while it waits: V16 is violated by what is still unmet when its time is over.
std::vector<std::string> unmet_expectations(const Settings& settings, const FinalView& view);

}  // namespace tidelock::checker
