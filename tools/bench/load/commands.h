/// The subcommands. Each returns the exit status: 0 done, 1 something acknowledged is lost or the run broke off, 2 no
/// broker was reached or a file cannot be read.
#pragma once

#include <string>

#include "tools/bench/load/options.h"

namespace tidelock::load {

int produce(const Options& options);
int consume(const Options& options);
int failover(const Options& options);
int report(const Options& options);

/// Says what is wrong, and returns the status.
int complain(const std::string& text, int status);

}  // namespace tidelock::load
