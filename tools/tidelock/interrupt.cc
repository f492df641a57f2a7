#include "tools/tidelock/interrupt.h"

#include <signal.h>

namespace tidelock::tools {

namespace {

volatile sig_atomic_t asked_by = 0;

extern "C" void on_interrupt(int signal) {
    if (asked_by == 0) asked_by = signal;
    // A closing terminal tells twice, by the shell and by the system: that is no second wish.
    if (signal == SIGHUP) return;
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
    struct sigaction present {};
    ::sigaction(SIGHUP, nullptr, &present);
    if (present.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
}

int interrupted_by() {
    return asked_by;
}

std::string_view signal_name(int signal) {
    if (signal == SIGHUP) return "SIGHUP";
    return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace tidelock::tools
