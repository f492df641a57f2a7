/// Ctrl-C, SIGTERM and SIGHUP (the terminal is gone): the first asks for a stop, a second Ctrl-C or SIGTERM ends the
/// program at once.
#pragma once

#include <string_view>

namespace tidelock::tools {

/// From here on. A SIGHUP that was ignored (nohup) stays ignored.
void watch_interrupts();
/// The signal that asked for a stop, or 0.
int interrupted_by();
/// "SIGINT", "SIGTERM", "SIGHUP".
std::string_view signal_name(int signal);

}  // namespace tidelock::tools
