#include "tools/bench/load/channel.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace tidelock::load {
namespace {

constexpr std::size_t kReadAtOnce = 256 << 10;
constexpr std::int64_t kMillisecondNs = 1'000'000;

/// Waits for one descriptor; false: the time is over.
bool await_ready(int descriptor, short events, std::int64_t patience_ns) {
    pollfd wanted{descriptor, events, 0};
    return ::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(patience_ns / kMillisecondNs, 1))) > 0;
}

/// Empty: connected.
std::string connect_to(int socket, const addrinfo& address, std::int64_t patience_ns) {
    if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return std::strerror(errno);
    if (!await_ready(socket, POLLOUT, patience_ns)) return "no answer";
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 ? std::string() : std::strerror(error);
}

}  // namespace

std::int64_t now_ns() {
    const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

void sleep_ns(std::int64_t time_ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(time_ns));
}

Result<std::unique_ptr<Channel>, std::string> Channel::open(const HostPort& address, std::int64_t patience_ns) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const auto failed = [&](const std::string& why) {
        return Failure<std::string>(fmt::format("{}: {}", tidelockd::to_text(address), why));
    };
    const int error = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    if (error != 0) return failed(::gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return failed(std::strerror(errno));
    std::unique_ptr<Channel> channel(new Channel(socket));
    const int at_once = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (const std::string why = connect_to(socket, *found, patience_ns); !why.empty()) return failed(why);
    return channel;
}

Channel::Channel(int socket) : socket_(socket), scratch_(kReadAtOnce, '\0') {}

Channel::~Channel() {
    ::close(socket_);
}

std::string Channel::flush() {
    while (has_unsent()) {
        const ssize_t count = ::send(socket_, unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (count < 0) return fmt::format("the connection broke: {}", std::strerror(errno));
        sent_ += static_cast<std::size_t>(count);
    }
    if (sent_ * 2 > unsent_.size()) {
        unsent_.erase(0, sent_);
        sent_ = 0;
    }
    return {};
}

std::string Channel::receive() {
    if (consumed_ * 2 > received_.size()) {
        received_.erase(0, consumed_);
        consumed_ = 0;
    }
    for (;;) {
        const ssize_t count = ::recv(socket_, scratch_.data(), scratch_.size(), 0);
        if (count > 0) received_.append(scratch_.data(), static_cast<std::size_t>(count));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
        if (count < 0) return fmt::format("the connection broke: {}", std::strerror(errno));
        if (count == 0) return "the broker closed the connection";
        if (static_cast<std::size_t>(count) < scratch_.size()) return {};
    }
}

std::string Channel::await(std::int64_t patience_ns) {
    const std::int64_t end_ns = now_ns() + patience_ns;
    const std::size_t before = input().size();
    for (;;) {
        if (std::string error = flush(); !error.empty()) return error;
        const std::int64_t left_ns = end_ns - now_ns();
        const short events = has_unsent() ? POLLIN | POLLOUT : POLLIN;
        if (left_ns <= 0 || !await_ready(socket_, events, left_ns)) return "no answer came in time";
        if (std::string error = receive(); !error.empty()) return error;
        if (input().size() > before) return {};
    }
}

std::string exchange_all(std::span<Channel* const> channels, std::int64_t patience_ns) {
    std::vector<pollfd> wanted;
    for (Channel* channel : channels) {
        if (channel == nullptr) continue;
        if (std::string error = channel->flush(); !error.empty()) return error;
        const short events = channel->has_unsent() ? POLLIN | POLLOUT : POLLIN;
        wanted.push_back({channel->descriptor(), events, 0});
    }
    const timespec patience{patience_ns / 1'000'000'000, patience_ns % 1'000'000'000};
    if (::ppoll(wanted.data(), wanted.size(), &patience, nullptr) <= 0) return {};
    auto at = wanted.begin();
    for (Channel* channel : channels) {
        if (channel == nullptr) continue;
        const short ready = (at++)->revents;
        if ((ready & POLLOUT) != 0)
            if (std::string error = channel->flush(); !error.empty()) return error;
        if ((ready & ~POLLOUT) != 0)
            if (std::string error = channel->receive(); !error.empty()) return error;
    }
    return {};
}

}  // namespace tidelock::load
