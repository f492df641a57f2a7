#include "tools/live/broker_processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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
constexpr std::string_view kDiskBytes = "size=64m";
constexpr std::int64_t kBallastBytes = 64 << 20;
constexpr int kFillTriesMax = 20;
// Exit statuses that say nothing about a broker: of the child before it is one, and of tidelockd.
constexpr int kNotReady = 126;
constexpr int kNotThere = 127;
constexpr int kBadConfiguration = 2;
constexpr int kLogLost = 74;

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
        if (each.client_port == 0 || each.peer_port == 0) return "no port of 127.0.0.1 can be had";
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
    "GroupMinSessionTimeoutMs": {},
    "Replication": {{
      "ReplicaId": {}, "ReplicateHost": "{}", "ReplicatePort": {}, "ClientAddress": "{}:{}", "Token": "live",
      "MinInsyncReplicas": {},
      "Peers": [{}],
      "Failover": {{ "Enabled": true, "ElectionTimeoutMinMs": {}, "ElectionTimeoutMaxMs": {}, "HeartbeatMs": {},
                    "IsrLagSeconds": {}, "DisconnectGraceMs": {}, "MaxLogEntries": {} }}
    }}
  }}
}}
)",
                       file(broker, "disk"), network_.host_of(broker), at(broker).client_port,
                       settings_[Setting::kFirstRebalanceDelayMs], settings_[Setting::kSessionTimeoutMs], broker.value,
                       network_.host_of(broker), at(broker).peer_port, network_.host_of(broker), at(broker).client_port,
                       settings_[Setting::kMinInsyncReplicas], peers, settings_[Setting::kElectionTimeoutMinMs],
                       settings_[Setting::kElectionTimeoutMaxMs], settings_[Setting::kHeartbeatMs], isr_lag_seconds,
                       settings_[Setting::kDisconnectGraceMs], settings_[Setting::kRaftLogEntriesMax]);
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
        if (!is_ready) ::_exit(kNotReady);
        ::setpgid(0, 0);  // no signal of the terminal: whoever runs the schedule ends its brokers
        ::execl(program_.c_str(), "tidelockd", "--config", config.c_str(), "--observations", observations.c_str(),
                nullptr);
        ::_exit(kNotThere);
    }
    if (pid < 0) {
        failure_ = "no process can be started any more";
        return false;
    }
    process.pid = pid;
    process.tails.emplace_back(process.life, ObservationTail(observations));
    return true;
}

bool BrokerProcesses::kill(BrokerId broker) {
    Process& process = at(broker);
    if (process.pid <= 0) return false;
    ::kill(process.pid, SIGKILL);
    int status = 0;
    while (::waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
    }
    on_ended(broker, status);
    return true;
}

/// Whoever ended in another way than it was ended is told of, also when it was about to be killed.
void BrokerProcesses::on_ended(BrokerId broker, int status) {
    Process& process = at(broker);
    const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    const bool is_stopped = is_stopping_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const bool is_ours = code == kNotReady || code == kNotThere || code == kBadConfiguration || code == kLogLost;
    if (is_ours && failure_.empty()) {
        failure_ = fmt::format("broker {} could not be run as it was to be (status {})\n{}", broker.value, code,
                               last_words(broker));
    } else if (!is_killed && !is_stopped && !is_ours) {
        const std::string how =
            WIFSIGNALED(status) ? fmt::format("by signal {}", WTERMSIG(status)) : fmt::format("with status {}", code);
        unexpected_ends_.push_back({broker, how, last_words(broker)});
    }
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

/// The broker writes meanwhile, so what is free is looked at again and again.
bool BrokerProcesses::fill_disk(BrokerId broker, std::int64_t bytes_left) {
    if (!at(broker).has_disk) return false;
    const std::string ballast = file(broker, "disk") + "/ballast";
    const int descriptor = ::open(ballast.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) return false;
    bool is_filled = false;
    for (int tries = 0; !is_filled && tries < kFillTriesMax; ++tries) {
        struct statvfs room {};
        struct stat taken {};
        if (::fstatvfs(descriptor, &room) != 0 || ::fstat(descriptor, &taken) != 0) break;
        const auto free = static_cast<std::int64_t>(room.f_bavail * room.f_bsize);
        const std::int64_t wanted = std::min(free - bytes_left, kBallastBytes);
        is_filled = wanted <= 0 || ::posix_fallocate(descriptor, taken.st_size, wanted) == 0;
    }
    ::close(descriptor);
    if (is_filled) ++at(broker).fills;
    return is_filled;
}

void BrokerProcesses::free_disk(BrokerId broker) {
    if (--at(broker).fills > 0) return;
    at(broker).fills = 0;
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

std::string BrokerProcesses::look_at_the_end() {
    for (std::size_t known = history_.size() + 1; known != history_.size();) {
        known = history_.size();
        if (std::string error = look(); !error.empty()) return error;
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
    // What a dead one had done before says nothing of who leads now.
    if (const auto* serving = std::get_if<broker::LeaderServing>(&observation); serving != nullptr && process.pid > 0)
        process.serving = serving->leader_epoch;
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

void BrokerProcesses::reap(BrokerId broker) {
    int status = 0;
    const pid_t pid = at(broker).pid;
    if (pid > 0 && ::waitpid(pid, &status, WNOHANG) == pid) on_ended(broker, status);
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
