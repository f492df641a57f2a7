#include "tools/live/broker_processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tidelock::live {
namespace {

constexpr std::size_t kLastWords = 20;
constexpr std::uint16_t kClientPort = 9092;
constexpr std::uint16_t kPeerPort = 9095;
constexpr auto kStopPatience = std::chrono::seconds(15);
constexpr std::string_view kDiskBytes = "size=256m";

/// One that nobody listens on, on loopback.
std::uint16_t free_port() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool is_bound = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                          ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(descriptor);
    return is_bound ? ntohs(address.sin_port) : std::uint16_t{0};
}

}  // namespace

std::int64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

BrokerProcesses::BrokerProcesses(std::string program, std::string folder, const scenarios::Settings& settings,
                                 BrokerNetwork& network, History& history)
    : program_(std::move(program)),
      folder_(std::move(folder)),
      settings_(settings),
      network_(network),
      history_(history),
      count_(static_cast<int>(settings[scenarios::Setting::kBrokers])),
      processes_(static_cast<std::size_t>(count_)) {}

BrokerProcesses::~BrokerProcesses() {
    is_stopping_ = true;
    for (int id = 1; id <= count_; ++id) {
        kill(BrokerId(id));
        if (at(BrokerId(id)).has_disk) ::umount2(file(BrokerId(id), "disk").c_str(), MNT_DETACH);
    }
}

std::string BrokerProcesses::file(BrokerId broker, const std::string& ending) const {
    return fmt::format("{}/broker{}.{}", folder_, broker.value, ending);
}

std::string BrokerProcesses::prepare() {
    for (Process& each : processes_) {
        each.client_port = network_.can_cut() ? kClientPort : free_port();
        each.peer_port = network_.can_cut() ? kPeerPort : free_port();
    }
    for (int id = 1; id <= count_; ++id) {
        const BrokerId broker(id);
        std::error_code error;
        std::filesystem::create_directories(file(broker, "disk"), error);
        if (error) return fmt::format("{}: {}", file(broker, "disk"), error.message());
        // Only where nobody else sees the mount.
        at(broker).has_disk = network_.can_cut() && ::mount("none", file(broker, "disk").c_str(), "tmpfs", 0,
                                                            std::string(kDiskBytes).c_str()) == 0;
        std::ofstream out(file(broker, "json"));
        out << config_of(broker);
        if (!out.flush()) return fmt::format("{} cannot be written", file(broker, "json"));
    }
    return {};
}

std::string BrokerProcesses::config_of(BrokerId broker) const {
    using scenarios::Setting;
    std::string peers;
    for (int id = 1; id <= count_; ++id) {
        const BrokerId other(id);
        if (other == broker) continue;
        peers += fmt::format(R"({}{{"Id": {}, "Address": "{}:{}", "ClientAddress": "{}:{}"}})",
                             peers.empty() ? "" : ", ", id, network_.host_of(other), at(other).peer_port,
                             network_.host_of(other), at(other).client_port);
    }
    const std::int64_t isr_lag_seconds = std::max<std::int64_t>(1, settings_[Setting::kIsrLagMs] / 1'000);
    return fmt::format(R"({{
  "DataDir": "{}/data",
  "Server": {{
    "Host": "{}", "Port": {}, "AutoCreateTopics": false, "GroupInitialRebalanceDelayMs": {},
    "Replication": {{
      "ReplicaId": {}, "ReplicateHost": "{}", "ReplicatePort": {}, "ClientAddress": "{}:{}", "Token": "live",
      "MinInsyncReplicas": {},
      "Peers": [{}],
      "Failover": {{ "Enabled": true, "ElectionTimeoutMinMs": {}, "ElectionTimeoutMaxMs": {}, "HeartbeatMs": {},
                    "IsrLagSeconds": {}, "MaxLogEntries": {} }}
    }}
  }}
}}
)",
                       file(broker, "disk"), network_.host_of(broker), at(broker).client_port,
                       settings_[Setting::kFirstRebalanceDelayMs], broker.value, network_.host_of(broker),
                       at(broker).peer_port, network_.host_of(broker), at(broker).client_port,
                       settings_[Setting::kMinInsyncReplicas], peers, settings_[Setting::kElectionTimeoutMinMs],
                       settings_[Setting::kElectionTimeoutMaxMs], settings_[Setting::kHeartbeatMs], isr_lag_seconds,
                       settings_[Setting::kRaftLogEntriesMax]);
}

bool BrokerProcesses::start(BrokerId broker) {
    Process& process = at(broker);
    if (process.pid > 0) return false;
    ++process.life;
    process.refusal.clear();
    const std::string config = file(broker, "json");
    const std::string log = file(broker, "log");
    const std::string observations = file(broker, fmt::format("{}.observations", process.life));
    const int net = network_.namespace_of(broker);
    const pid_t parent = ::getpid();
    history_.add(now_ns(), checker::HostFact(checker::BrokerBooted{broker, process.life}));
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        const bool is_ready = ::getppid() == parent && out >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 &&
                              ::dup2(out, STDERR_FILENO) >= 0 && (net < 0 || ::setns(net, CLONE_NEWNET) == 0);
        if (!is_ready) ::_exit(126);
        ::signal(SIGINT, SIG_IGN);  // of the terminal: whoever runs the schedule ends its brokers
        ::execl(program_.c_str(), "tidelockd", "--config", config.c_str(), "--observations", observations.c_str(),
                nullptr);
        ::_exit(127);
    }
    if (pid < 0) return false;
    process.pid = pid;
    process.tails.emplace_back(process.life, ObservationTail(observations));
    return true;
}

bool BrokerProcesses::kill(BrokerId broker) {
    Process& process = at(broker);
    if (process.pid <= 0) return false;
    ::kill(process.pid, SIGKILL);
    ::waitpid(process.pid, nullptr, 0);
    on_ended(broker);
    return true;
}

void BrokerProcesses::on_ended(BrokerId broker) {
    Process& process = at(broker);
    process.pid = -1;
    process.is_paused = false;
    process.serving.reset();
    history_.add(now_ns(), checker::HostFact(checker::BrokerKilled{broker, false}));
}

bool BrokerProcesses::pause(BrokerId broker) {
    Process& process = at(broker);
    if (process.pid <= 0 || process.is_paused) return false;
    process.is_paused = ::kill(process.pid, SIGSTOP) == 0;
    return process.is_paused;
}

bool BrokerProcesses::resume(BrokerId broker) {
    Process& process = at(broker);
    if (process.pid <= 0 || !process.is_paused) return false;
    process.is_paused = false;
    return ::kill(process.pid, SIGCONT) == 0;
}

void BrokerProcesses::stop_all() {
    is_stopping_ = true;
    for (Process& each : processes_) {
        if (each.pid <= 0) continue;
        ::kill(each.pid, SIGCONT);
        ::kill(each.pid, SIGTERM);
    }
    const auto end = std::chrono::steady_clock::now() + kStopPatience;
    const auto any_runs = [&] { return std::ranges::any_of(processes_, [](const Process& p) { return p.pid > 0; }); };
    while (any_runs() && std::chrono::steady_clock::now() < end) {
        for (int id = 1; id <= count_; ++id) reap(BrokerId(id));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (int id = 1; id <= count_; ++id)
        if (kill(BrokerId(id))) unexpected_ends_.push_back({BrokerId(id), "only by force, asked to stop", ""});
}

bool BrokerProcesses::fill_disk(BrokerId broker, std::int64_t bytes_left) {
    if (!at(broker).has_disk) return false;
    struct statvfs room {};
    if (::statvfs(file(broker, "disk").c_str(), &room) != 0) return false;
    const auto free = static_cast<std::int64_t>(room.f_bavail * room.f_bsize);
    const std::string ballast = file(broker, "disk") + "/ballast";
    const int descriptor = ::open(ballast.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return false;
    const bool is_filled = free > bytes_left && ::posix_fallocate(descriptor, 0, free - bytes_left) == 0;
    ::close(descriptor);
    return is_filled;
}

void BrokerProcesses::free_disk(BrokerId broker) {
    std::error_code ignored;
    std::filesystem::remove(file(broker, "disk") + "/ballast", ignored);
}

std::string BrokerProcesses::look() {
    for (int id = 1; id <= count_; ++id) {
        if (std::string error = read_tails(BrokerId(id)); !error.empty()) return error;
        reap(BrokerId(id));
    }
    return {};
}

std::string BrokerProcesses::read_tails(BrokerId broker) {
    for (auto& [life, tail] : at(broker).tails) {
        auto news = tail.read_new();
        if (!news) return news.error();
        for (broker::ObservedAt& each : *news) {
            if (life == at(broker).life) note(broker, each.observation);
            history_.add(each.at.value, SeenObservation{broker, life, std::move(each.observation)});
        }
    }
    return {};
}

void BrokerProcesses::note(BrokerId broker, const broker::Observation& observation) {
    Process& process = at(broker);
    if (const auto* serving = std::get_if<broker::LeaderServing>(&observation)) process.serving = serving->leader_epoch;
    if (std::holds_alternative<broker::LeadershipEnded>(observation)) process.serving.reset();
    if (const auto* refused = std::get_if<broker::RefusedToStart>(&observation)) process.refusal = refused->why;
    if (const auto* started = std::get_if<broker::Started>(&observation))
        process.data_incarnation = started->data_incarnation;
    if (const auto* renewed = std::get_if<broker::DataIncarnationRenewed>(&observation))
        process.data_incarnation = renewed->incarnation;
    const auto* set = std::get_if<broker::InSyncSetCommitted>(&observation);
    if (set == nullptr || set->leader_epoch < in_sync_epoch_) return;
    in_sync_epoch_ = set->leader_epoch;
    in_sync_replicas_ = set->members;
}

/// Whoever ended without being told to is told of.
void BrokerProcesses::reap(BrokerId broker) {
    Process& process = at(broker);
    int status = 0;
    if (process.pid <= 0 || ::waitpid(process.pid, &status, WNOHANG) != process.pid) return;
    on_ended(broker);
    const bool is_clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (is_clean && is_stopping_) return;
    const std::string how = WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status))
                                                : fmt::format("with status {}", WEXITSTATUS(status));
    unexpected_ends_.push_back({broker, how, last_words(broker)});
}

std::string BrokerProcesses::last_words(BrokerId broker) const {
    std::ifstream in(file(broker, "log"));
    std::deque<std::string> last;
    for (std::string line; std::getline(in, line);) {
        last.push_back(line);
        if (last.size() > kLastWords) last.pop_front();
    }
    std::string all;
    for (const std::string& line : last) all += line + "\n";
    return all;
}

std::optional<BrokerId> BrokerProcesses::leader() const {
    std::optional<BrokerId> best;
    for (int id = 1; id <= count_; ++id) {
        const auto& serving = at(BrokerId(id)).serving;
        if (serving && (!best || *serving > *at(*best).serving)) best = BrokerId(id);
    }
    return best;
}

bool BrokerProcesses::is_in_sync(BrokerId broker) const {
    return std::ranges::find(in_sync_replicas_, broker, &Replica::broker) != in_sync_replicas_.end();
}

}  // namespace tidelock::live
