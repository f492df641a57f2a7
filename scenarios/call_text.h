/// One line for a client's call, for traces and messages.
#pragma once

#include <string>

#include "checker/history.h"

namespace tidelock::scenarios {

/// "3 produce topic 1-0 [1000001 1000002] acks all: ok at 5".
std::string text_of(const checker::ClientCall& call);

}  // namespace tidelock::scenarios
