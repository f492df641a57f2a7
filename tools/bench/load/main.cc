// tidelock_load: produces and consumes as fast as brokers let it, and kills one of them on the way.
#include <fmt/core.h>

#include <csignal>
#include <exception>

#include "tools/bench/load/commands.h"

int main(int argc, char** argv) {
    using namespace tidelock::load;
    std::signal(SIGPIPE, SIG_IGN);
    const auto options = parse_options(std::vector<std::string>(argv + 1, argv + argc));
    if (!options) {
        fmt::print(options.error().status == 0 ? stdout : stderr, "{}", options.error().text);
        return options.error().status;
    }
    try {
        switch (options->command) {
            case Command::kProduce:
                return produce(*options);
            case Command::kConsume:
                return consume(*options);
            case Command::kFailover:
                return failover(*options);
            case Command::kReport:
                return report(*options);
        }
    } catch (const std::exception& error) {  // of the libraries below: no memory, no randomness
        return complain(error.what(), 2);
    }
    return 2;
}
