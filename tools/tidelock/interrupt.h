/// Ctrl-C and SIGTERM: the first asks for a stop, the second ends the program at once.
#pragma once

#include <string_view>

namespace tidelock::tools {

/// From here on. Also makes writing to a closed pipe an error instead of a signal.
void watch_interrupts();
/// The signal that asked for a stop, or 0.
int interrupted_by();
/// "SIGINT", "SIGTERM".
std::string_view signal_name(int signal);

}  // namespace tidelock::tools
