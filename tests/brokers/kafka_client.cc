#include "tests/brokers/kafka_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tidelock::tests {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// Below the ports that the kernel gives to outgoing connections: none of those takes the port of a broker that is down
// for a moment, and none connects to itself.
constexpr int kFirstPort = 12'000;
constexpr int kPortCount = 20'000;

/// Whether no other test has the port, and none gets it as long as this process lives.
bool reserve(std::uint16_t port) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = "tidelock-test-port-" + std::to_string(port);
    text.copy(name.sun_path + 1, text.size());  // a first byte of zero: no file
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&name), size) == 0) return true;
    ::close(socket);
    return false;
}

bool is_bindable(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    const bool is_free = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    return is_free;
}

}  // namespace

KafkaClient::KafkaClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback(port);
    const timeval patience{5, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int at_once = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) close();
}

KafkaClient::~KafkaClient() {
    close();
}

void KafkaClient::close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

bool KafkaClient::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

bool KafkaClient::read(std::span<std::byte> into) {
    while (!into.empty()) {
        const ssize_t count = ::recv(socket_, into.data(), into.size(), 0);
        if (count <= 0) return false;
        into = into.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

bool KafkaClient::is_ended() {
    std::byte one{};
    return socket_ < 0 || ::recv(socket_, &one, 1, 0) == 0 || errno == ECONNRESET;
}

std::optional<kafka::Response> KafkaClient::exchange(const kafka::Request& request, kafka::ApiKey api) {
    if (socket_ < 0) return std::nullopt;
    std::array<std::byte, kafka::kFrameSizeBytes> prefix{};
    const bool is_answered = write(kafka::encode_request(request).flat().span()) && read(prefix);
    const auto size = is_answered ? kafka::frame_size(prefix, 64 << 20) : std::nullopt;
    std::vector<std::byte> content(size.value_or(0));
    if (!size || !read(content)) {
        close();
        return std::nullopt;
    }
    auto response = kafka::decode_response(api, request.version, Bytes::copy_of(content));
    if (!response) return std::nullopt;
    return std::move(*response);
}

std::uint16_t free_port() {
    for (int tried = 0; tried < kPortCount; ++tried) {
        static int next = static_cast<int>(::getpid() * 37LL % kPortCount);
        const auto port = static_cast<std::uint16_t>(kFirstPort + next++ % kPortCount);
        if (reserve(port) && is_bindable(port)) return port;
    }
    return 0;
}

}  // namespace tidelock::tests
