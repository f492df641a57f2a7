#include "tools/tidelock/interrupt.h"

#include <signal.h>

namespace tidelock::tools {

namespace {

volatile sig_atomic_t asked_by = 0;

extern "C" void on_interrupt(int signal) {
    asked_by = signal;
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
    struct sigaction action {};
    action.sa_handler = &on_interrupt;
    ::sigemptyset(&action.sa_mask);
    // No SA_RESTART: a waiting poll returns, and the campaign stops without waiting for it to time out.
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
}

int interrupted_by() {
    return asked_by;
}

std::string_view signal_name(int signal) {
    return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace tidelock::tools
