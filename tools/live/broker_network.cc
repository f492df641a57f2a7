#include "tools/live/broker_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace tidelock::live {
namespace {

std::string last_error(const std::string& what) {
    return fmt::format("{}: {}", what, std::generic_category().message(errno));
}

/// A namespace of its own, kept open by this descriptor.
int make_namespace() {
    std::array<int, 2> ready{};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) return -1;
    const pid_t child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const char word = ::unshare(CLONE_NEWNET) == 0 ? '+' : '-';
        if (::write(ready[1], &word, 1) == 1) ::pause();
        ::_exit(0);
    }
    char word = '-';
    const bool is_told = child > 0 && ::read(ready[0], &word, 1) == 1 && word == '+';
    const std::string name = fmt::format("/proc/{}/ns/net", child);
    const int descriptor = is_told ? ::open(name.c_str(), O_RDONLY) : -1;  // tools inherit it
    if (child > 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    ::close(ready[0]);
    ::close(ready[1]);
    return descriptor;
}

std::string address_of(BrokerId broker) {
    return fmt::format("10.207.0.{}", broker.value);
}

}  // namespace

std::string run_tool(const std::vector<std::string>& words, int net) {
    std::array<int, 2> said{};
    if (::pipe2(said.data(), O_CLOEXEC) != 0) return last_error("pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        if (net >= 0 && ::setns(net, CLONE_NEWNET) != 0) ::_exit(126);
        ::dup2(said[1], STDOUT_FILENO);
        ::dup2(said[1], STDERR_FILENO);
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(said[1]);
    std::string text;
    std::array<char, 512> buffer{};
    for (ssize_t count = 0; (count = ::read(said[0], buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    ::close(said[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return fmt::format("{} is not here", words.front());
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return fmt::format("{}: {}", fmt::join(words, " "), text);
}

std::unique_ptr<BrokerNetwork> BrokerNetwork::of_loopback(int broker_count) {
    return std::unique_ptr<BrokerNetwork>(new BrokerNetwork(broker_count));
}

Result<std::unique_ptr<BrokerNetwork>, std::string> BrokerNetwork::of_namespaces(int broker_count) {
    std::unique_ptr<BrokerNetwork> network(new BrokerNetwork(broker_count));
    const int before = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    std::string error = network->build();
    // In a namespace that was only half made not even loopback is there.
    if (!error.empty() && ::setns(before, CLONE_NEWNET) != 0) error += "; and the way back is barred";
    ::close(before);
    if (!error.empty()) return Failure<std::string>(std::move(error));
    return network;
}

BrokerNetwork::~BrokerNetwork() {
    for (const int each : namespaces_) ::close(each);
}

std::string BrokerNetwork::build() {
    for (const std::vector<std::string>& tool : {std::vector<std::string>{"ip", "-V"}, {"nft", "-v"}})
        if (std::string error = run_tool(tool); !error.empty()) return error;
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return last_error("namespaces cannot be had");
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return last_error("mounts cannot be hidden");
    const std::vector<std::vector<std::string>> commands = {
        {"ip", "link", "set", "lo", "up"},
        {"ip", "link", "add", "tl0", "type", "bridge"},
        {"ip", "addr", "add", "10.207.0.254/24", "dev", "tl0"},
        {"ip", "link", "set", "tl0", "up"},
    };
    for (const auto& command : commands)
        if (std::string error = run_tool(command); !error.empty()) return error;
    for (int number = 1; number <= broker_count_; ++number)
        if (std::string error = add_broker(number); !error.empty()) return error;
    return {};
}

std::string BrokerNetwork::add_broker(int number) {
    const int net = make_namespace();
    if (net < 0) return last_error("a broker's network namespace cannot be had");
    namespaces_.push_back(net);
    const std::string outside = fmt::format("tl{}", number);
    const std::string inside = fmt::format("tlb{}", number);
    const std::string place = fmt::format("/proc/self/fd/{}", net);
    const std::string address = address_of(BrokerId(number)) + "/24";
    const std::vector<std::vector<std::string>> here = {
        {"ip", "link", "add", outside, "type", "veth", "peer", "name", inside},
        {"ip", "link", "set", outside, "master", "tl0", "up"},
        {"ip", "link", "set", inside, "netns", place},
    };
    const std::vector<std::vector<std::string>> there = {
        {"ip", "link", "set", "lo", "up"},
        {"ip", "addr", "add", address, "dev", inside},
        {"ip", "link", "set", inside, "up"},
        {"nft", "add table ip tidelock; add chain ip tidelock in { type filter hook input priority 0 ; }"},
    };
    for (const auto& command : here)
        if (std::string error = run_tool(command); !error.empty()) return error;
    for (const auto& command : there)
        if (std::string error = run_tool(command, net); !error.empty()) return error;
    return {};
}

std::string BrokerNetwork::host_of(BrokerId broker) const {
    return can_cut() ? address_of(broker) : "127.0.0.1";
}

int BrokerNetwork::namespace_of(BrokerId broker) const {
    return can_cut() ? namespaces_[static_cast<std::size_t>(broker.value - 1)] : -1;
}

std::string BrokerNetwork::set_cuts(const std::vector<Link>& cuts) {
    for (int number = 1; number <= broker_count_; ++number) {
        std::string rules = "flush chain ip tidelock in";
        for (const auto& [from, to] : cuts)
            if (to.value == number)
                rules += fmt::format("; add rule ip tidelock in ip saddr {} drop", address_of(from));
        if (std::string error = run_tool({"nft", rules}, namespace_of(BrokerId(number))); !error.empty()) return error;
    }
    return {};
}

}  // namespace tidelock::live
