// tidelockd: a broker on real sockets and files, for Kafka clients.
#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <fstream>
#include <iterator>

#include "tools/tidelockd/daemon.h"

namespace tidelock::tidelockd {
namespace {

struct CommandLine {
    std::string config;
    std::string observations;
    bool checks_config = false;
    bool prints_default = false;
    bool sets_data_aside = false;
};

Result<Settings, std::string> read_settings(const std::string& file) {
    if (file.empty()) return default_settings();
    std::ifstream in(file, std::ios::binary);
    if (!in) return Failure<std::string>(fmt::format("{} cannot be read", file));
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in.bad()) return Failure<std::string>(fmt::format("{} cannot be read to its end", file));
    return parse_settings(text, file);
}

/// A descriptor for each client, segment and peer: as many as the system lets us have. Clients get what files, peers
/// and operators leave, so that they cannot take a descriptor that a segment needs. Empty: there is room for some.
std::string share_descriptors(Settings& settings) {
    constexpr rlim_t kOthers = 1'024;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur <= kOthers)
        return fmt::format("only {} open files are allowed: raise the limit above {}", limit.rlim_cur, kOthers);
    const rlim_t left = limit.rlim_cur - kOthers;
    if (static_cast<rlim_t>(settings.connections_max) > left)
        settings.connections_max = static_cast<std::int32_t>(left);
    return {};
}

/// Requests and batches come and go by the hundred kilobytes. Given back to the system each time and asked for again,
/// their pages cost more than all that is done with them.
void keep_freed_memory() {
    constexpr int kKeptBytesMax = 64 << 20;
    constexpr int kMappedFrom = 32 << 20;  // larger ones go back at once
    ::mallopt(M_TRIM_THRESHOLD, kKeptBytesMax);
    ::mallopt(M_MMAP_THRESHOLD, kMappedFrom);
}

volatile std::sig_atomic_t g_status = 0;

/// All is said and done, but threads may wait for a disk that hangs, or for the name of a host: nothing depends on
/// them any more.
void end_soon(int status) {
    constexpr unsigned kPatienceSeconds = 5;
    g_status = status;
    std::signal(SIGALRM, [](int) { ::_exit(g_status); });
    ::alarm(kPatienceSeconds);
}

int complain(const std::string& text) {
    fmt::print(stderr, "tidelockd: {}\n", text);
    return 2;
}

int set_data_aside(const Settings& settings) {
    const auto directory = DataDirectory::open(settings.data_directory);
    if (!directory) return complain(directory.error());
    const auto where = directory->set_aside();
    if (!where) return complain(where.error());
    fmt::print("what was in {} is in {} now; the next start is an empty broker's{}\n", settings.data_directory, *where,
               settings.peers.empty() ? "" : ", which the others admit and fill");
    return 0;
}

int run(const CommandLine& line) {
    if (line.prints_default) {
        fmt::print("{}", default_settings_text());
        return 0;
    }
    auto settings = read_settings(line.config);
    if (!settings) return complain(settings.error());
    if (line.checks_config) {
        fmt::print("{} is a good configuration\n", line.config.empty() ? "none" : line.config);
        return 0;
    }
    if (line.sets_data_aside) return set_data_aside(*settings);
    std::signal(SIGPIPE, SIG_IGN);
    keep_freed_memory();
    if (const std::string error = share_descriptors(*settings); !error.empty()) return complain(error);
    auto directory = DataDirectory::open(settings->data_directory);
    if (!directory) return complain(directory.error());
    EventLog log(stderr);
    settings->broker.tells_recovered_batches = !line.observations.empty();
    Daemon daemon(std::move(*settings), std::move(*directory), log);
    if (!line.observations.empty()) {
        auto observations = ObservationLog::open(line.observations);
        if (!observations) return complain("--observations: " + observations.error());
        daemon.write_observations(std::move(*observations));
    }
    if (const std::string error = daemon.start(); !error.empty()) return complain(error);
    const int status = daemon.run();
    end_soon(status);
    return status;
}

}  // namespace
}  // namespace tidelock::tidelockd

int main(int argc, char** argv) {
    using namespace tidelock::tidelockd;
    CommandLine line;
    CLI::App app("A replicated message broker for Kafka clients.", "tidelockd");
    app.add_option("--config", line.config,
                   "the configuration (JSON; comments are allowed); none: a broker of its own "
                   "on 127.0.0.1:9092")
        ->type_name("FILE");
    app.add_option("--observations", line.observations,
                   "append everything the broker is seen doing to this file, in binary, as `tidelock live` reads it")
        ->type_name("FILE");
    app.add_flag("--check-config", line.checks_config, "check the configuration and end");
    app.add_flag("--print-default-config", line.prints_default, "print a configuration with every key, and end");
    app.add_flag(
        "--rejoin-as-empty", line.sets_data_aside,
        "set all data aside (in set-aside/ in the data directory) and end: the next start is an empty broker's, "
        "which its group fills again");
    app.footer(
        "Exit status: 0 stopped as asked, 1 the broker refused to start (its log says why), 2 wrong use, a bad\n"
        "configuration, or an address or directory that cannot be had, 74 observations cannot be written any more.");
    try {
        app.parse(argc, argv);
        return run(line);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const std::exception& error) {
        return complain(error.what());
    }
}
