#include "tests/brokers/brokers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/brokers/kafka_client.h"

namespace tidelock::tests {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kLogLinesShown = 40;

}  // namespace

Brokers::Brokers(int count, const std::string& server_settings)
    : count_(count), exceptions_before_(std::uncaught_exceptions()) {
    std::string name = std::filesystem::temp_directory_path() / "tidelockd-test-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    for (int id = 1; id <= count; ++id) {
        client_ports_[id] = free_port();
        peer_ports_[id] = free_port();
    }
    for (int id = 1; id <= count; ++id) write_config(id, server_settings);
    for (int id = 1; id <= count; ++id) start(id);
}

Brokers::~Brokers() {
    if (std::uncaught_exceptions() > exceptions_before_) std::fputs(logs().c_str(), stderr);
    for (int id = 1; id <= count_; ++id) kill(id, SIGKILL);
    std::filesystem::remove_all(folder_);
}

void Brokers::start(int id) {
    launch(id, "");
}

int Brokers::run(int id, const std::string& flag) {
    launch(id, flag);
    return kill(id, 0);
}

void Brokers::launch(int id, const std::string& flag) {
    const std::string config = file(id, "json");
    const std::string log = file(id, "log");
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
        // A test that is killed itself leaves no broker behind.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (::getppid() != parent || out < 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(out, STDERR_FILENO) < 0)
            ::_exit(126);
        ::execl(TIDELOCKD, "tidelockd", "--config", config.c_str(), flag.empty() ? nullptr : flag.c_str(), nullptr);
        ::_exit(127);
    }
    processes_[id] = pid;
}

int Brokers::kill(int id, int number) {
    if (!processes_.contains(id)) return -1;
    ::kill(processes_[id], number);
    int status = 0;
    ::waitpid(processes_[id], &status, 0);
    processes_.erase(id);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Brokers::addresses() const {
    std::string list;
    for (const auto& [id, port] : client_ports_) list += fmt::format("{}127.0.0.1:{}", list.empty() ? "" : ",", port);
    return list;
}

int Brokers::leader() const {
    for (const auto end = Clock::now() + 20s; Clock::now() < end; std::this_thread::sleep_for(10ms)) {
        for (int id = 1; id <= count_; ++id) {
            if (!is_running(id)) continue;
            KafkaClient client(port(id));
            const auto metadata = client.call<kafka::MetadataResponse>(kafka::MetadataRequest{}, 9);
            if (metadata && metadata->controller_id.value == id && !metadata->topics.empty()) return id;
        }
    }
    return 0;
}

std::string Brokers::logs() const {
    std::string all;
    for (int id = 1; id <= count_; ++id) {
        std::ifstream in(file(id, "log"));
        std::deque<std::string> last;
        for (std::string line; std::getline(in, line);) {
            last.push_back(line);
            if (last.size() > kLogLinesShown) last.pop_front();
        }
        all += fmt::format("---- broker {}{}\n", id, is_running(id) ? "" : ", not running");
        for (const std::string& line : last) all += line + "\n";
    }
    return all;
}

std::string Brokers::file(int id, const std::string& ending) const {
    return fmt::format("{}/broker{}.{}", folder_, id, ending);
}

void Brokers::write_config(int id, const std::string& server_settings) const {
    std::string peers;
    for (int other = 1; other <= count_; ++other)
        if (other != id)
            peers += fmt::format(R"({}{{"Id": {}, "Address": "127.0.0.1:{}", "ClientAddress": "127.0.0.1:{}"}})",
                                 peers.empty() ? "" : ", ", other, peer_ports_.at(other), client_ports_.at(other));
    std::ofstream(file(id, "json")) << fmt::format(
        R"({{"DataDir": "{}", "Server": {{"Port": {}, "MaxRequestBytes": 4194304, {}"Replication": {{"ReplicaId": {},
            "ReplicateHost": "127.0.0.1", "ReplicatePort": {}, "ClientAddress": "127.0.0.1:{}", "Token": "secret",
            "Peers": [{}], "Failover": {{"Enabled": true}}}}}}}})",
        file(id, "data"), client_ports_.at(id), server_settings.empty() ? "" : server_settings + ", ", id,
        peer_ports_.at(id), client_ports_.at(id), peers);
}

}  // namespace tidelock::tests
