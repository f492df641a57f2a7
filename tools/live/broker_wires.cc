#include "tools/live/broker_wires.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "protocol/kafka/wire.h"

namespace tidelock::live {
namespace {

constexpr std::size_t kFrameBytesMax = 128 << 20;
constexpr std::size_t kReadBytes = 64 << 10;

}  // namespace

BrokerWires::~BrokerWires() {
    for (const auto& [id, wire] : wires_)
        if (wire.descriptor >= 0) ::close(wire.descriptor);
}

WireId BrokerWires::open(const sockaddr_in& to) {
    const WireId id = next_++;
    Wire& wire = wires_[id];
    wire.descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (wire.descriptor < 0) {
        wire.is_over = true;
        return id;
    }
    const int on = 1;
    ::setsockopt(wire.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const int connected = ::connect(wire.descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (connected != 0 && errno != EINPROGRESS) wire.is_over = true;
    return id;
}

void BrokerWires::send(WireId id, const Bytes& content) {
    const auto at = wires_.find(id);
    if (at == wires_.end() || at->second.is_over) return;
    ByteWriter frame;
    frame.u32_be(static_cast<std::uint32_t>(content.size()));
    frame.raw(content.span());
    const auto bytes = frame.span();
    at->second.unsent.insert(at->second.unsent.end(), bytes.begin(), bytes.end());
    write_some(at->second);
}

void BrokerWires::close(WireId id) {
    const auto at = wires_.find(id);
    if (at == wires_.end()) return;
    if (at->second.descriptor >= 0) ::close(at->second.descriptor);
    wires_.erase(at);
}

std::vector<WireNews> BrokerWires::await_news(Duration at_most) {
    std::vector<pollfd> polled;
    std::vector<WireId> ids;
    bool is_news_there = false;
    for (const auto& [id, wire] : wires_) {
        is_news_there = is_news_there || wire.is_over;
        if (wire.is_over) continue;
        const int wanted = wire.unsent.empty() ? POLLIN : POLLIN | POLLOUT;
        polled.push_back({wire.descriptor, static_cast<short>(wanted), 0});
        ids.push_back(id);
    }
    const std::int64_t wait_ns = is_news_there ? 0 : std::max<std::int64_t>(at_most.value, 0);
    const timespec wait{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
    ::ppoll(polled.data(), polled.size(), &wait, nullptr);
    std::vector<WireNews> news;
    for (std::size_t i = 0; i < polled.size(); ++i) {
        Wire& wire = wires_.at(ids[i]);
        if ((polled[i].revents & POLLOUT) != 0) write_some(wire);
        if ((polled[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0) read_some(ids[i], wire, news);
    }
    std::vector<WireId> over;
    for (const auto& [id, wire] : wires_)
        if (wire.is_over) over.push_back(id);
    for (const WireId id : over) {
        news.push_back({id, std::nullopt});
        close(id);
    }
    return news;
}

void BrokerWires::write_some(Wire& wire) {
    while (!wire.unsent.empty()) {
        const ssize_t count = ::send(wire.descriptor, wire.unsent.data(), wire.unsent.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            // Not connected yet: what is to be sent waits.
            wire.is_over = errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOTCONN && errno != EINPROGRESS;
            return;
        }
        wire.unsent.erase(wire.unsent.begin(), wire.unsent.begin() + count);
    }
}

void BrokerWires::read_some(WireId id, Wire& wire, std::vector<WireNews>& news) {
    std::array<std::byte, kReadBytes> buffer;
    for (;;) {
        const ssize_t count = ::recv(wire.descriptor, buffer.data(), buffer.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (count <= 0) {
            wire.is_over = true;
            break;
        }
        wire.unread.insert(wire.unread.end(), buffer.begin(), buffer.begin() + count);
    }
    std::size_t at = 0;
    while (wire.unread.size() - at >= kafka::kFrameSizeBytes) {
        const std::span<const std::byte> left = std::span(wire.unread).subspan(at);
        const auto size = kafka::frame_size(left.first<kafka::kFrameSizeBytes>(), kFrameBytesMax);
        if (!size) {
            wire.is_over = true;
            break;
        }
        if (left.size() < kafka::kFrameSizeBytes + *size) break;
        news.push_back({id, Bytes::copy_of(left.subspan(kafka::kFrameSizeBytes, *size))});
        at += kafka::kFrameSizeBytes + *size;
    }
    wire.unread.erase(wire.unread.begin(), wire.unread.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace tidelock::live
