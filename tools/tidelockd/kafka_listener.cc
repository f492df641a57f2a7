#include "tools/tidelockd/kafka_listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <utility>

#include "tools/tidelockd/listening.h"

namespace tidelock::tidelockd {
namespace {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kReadAtOnce = 256 << 10;
constexpr std::size_t kBuffersAtOnce = 64;  // of one vectored write
constexpr auto kAcceptRetry = std::chrono::milliseconds(100);
constexpr auto kIdleLook = std::chrono::seconds(1);

}  // namespace

/// One client's connection. Alive as long as an operation of its is; `is_open_` says whether anybody still wants it.
class KafkaListener::Client : public std::enable_shared_from_this<Client> {
  public:
    Client(KafkaListener& listener, tcp::socket socket, ConnectionId id)
        : listener_(listener), socket_(std::move(socket)), id_(id), last_heard_(std::chrono::steady_clock::now()) {}

    void start() { read(); }

    void send(const kafka::Frame& frame) {
        if (!is_open_) return;
        for (const Bytes& part : frame.parts) {
            if (part.empty()) continue;
            unsent_bytes_ += part.size();
            unsent_.push_back(part);
        }
        account();
        if (!is_writing_) {
            last_written_ = std::chrono::steady_clock::now();
            write();
        }
    }

    void pause() { is_paused_ = true; }
    void resume() {
        is_paused_ = false;
        if (!is_taking_) read_if_wanted();
    }

    /// No callback comes back from here.
    void close() {
        if (!std::exchange(is_open_, false)) return;
        ErrorCode ignored;
        socket_.shutdown(tcp::socket::shutdown_both, ignored);
        socket_.close(ignored);
        account();
    }

    [[nodiscard]] bool is_overdue(std::chrono::steady_clock::time_point now) const {
        const auto patience =
            has_part_of_frame() ? listener_.settings_.slow_request_timeout : listener_.settings_.idle_timeout;
        // Who waits for an answer, or is slow to take one, is not silent; its unsent answers are bounded.
        const std::chrono::nanoseconds slow(listener_.settings_.slow_request_timeout.value);
        if (!unsent_.empty()) return now - last_written_ > slow;  // it does not take its answers
        if (is_paused_ || (!has_part_of_frame() && waits_for_answer())) return false;
        return now - last_heard_ > std::chrono::nanoseconds(patience.value);
    }
    [[nodiscard]] std::size_t buffered_bytes() const { return buffered_bytes_; }
    [[nodiscard]] std::string peer() const { return peer_; }
    void set_peer(std::string peer) { peer_ = std::move(peer); }

  private:
    [[nodiscard]] bool has_part_of_frame() const { return !unread_.empty(); }
    [[nodiscard]] bool waits_for_answer() const {
        const auto& connections = listener_.loop_.gateway().connections();
        const auto at = connections.find(id_);
        return at != connections.end() && !at->second.pending.empty();
    }
    [[nodiscard]] bool may_read() const { return is_open_ && !is_paused_ && !is_reading_ && has_room_for_answers(); }
    /// After each change of what is held here.
    void account() {
        const std::size_t now = is_open_ ? unread_.size() + unsent_bytes_ : 0;
        listener_.buffered_bytes_ += now - buffered_bytes_;  // unsigned: it falls as it rises
        buffered_bytes_ = now;
    }
    void read_if_wanted() {
        if (may_read() && !unread_.empty()) take_frames();
        if (may_read()) read();
    }

    /// A client that sends nothing has no buffer of its own: bytes are read once they are there.
    void read() {
        is_reading_ = true;
        socket_.async_wait(tcp::socket::wait_read,
                           [self = shared_from_this()](const ErrorCode& error) { self->on_readable(error); });
    }

    void on_readable(const ErrorCode& failed) {
        is_reading_ = false;
        if (!is_open_) return;
        if (failed) return end();
        std::vector<std::byte>& arrived = listener_.arrived_;
        ErrorCode error;
        const std::size_t count = socket_.read_some(boost::asio::buffer(arrived), error);
        if (error == boost::asio::error::would_block) return read_if_wanted();
        if (error) return end();
        if (unread_.empty()) last_heard_ = std::chrono::steady_clock::now();
        unread_.insert(unread_.end(), arrived.begin(), arrived.begin() + static_cast<std::ptrdiff_t>(count));
        listener_.counters_.bytes_in += count;
        account();
        read_if_wanted();
        listener_.shed_load();
    }

    [[nodiscard]] bool has_room_for_answers() const {
        return unsent_bytes_ <= static_cast<std::size_t>(listener_.settings_.answer_bytes_max);
    }

    /// What a frame brings about may end, pause or resume this connection.
    void take_frames() {
        is_taking_ = true;
        std::size_t at = 0;
        while (is_open_ && !is_paused_ && has_room_for_answers() && unread_.size() - at >= kafka::kFrameSizeBytes) {
            const std::span<const std::byte> left = std::span(unread_).subspan(at);
            const auto size = kafka::frame_size(left.first<kafka::kFrameSizeBytes>(),
                                                static_cast<std::size_t>(listener_.settings_.request_bytes_max));
            if (!size) {
                ++listener_.counters_.malformed;
                end("a frame of a size that no request has");
                break;
            }
            if (left.size() - kafka::kFrameSizeBytes < *size) break;
            const Bytes content = Bytes::copy_of(left.subspan(kafka::kFrameSizeBytes, *size));
            at += kafka::kFrameSizeBytes + *size;
            last_heard_ = std::chrono::steady_clock::now();
            listener_.loop_.on_client_frame(id_, content);
        }
        is_taking_ = false;
        unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(at));
        if (unread_.empty()) unread_ = {};
        account();
    }

    /// As much as the client takes now: every byte it takes is progress, however slow its link.
    void write() {
        is_writing_ = true;
        std::vector<boost::asio::const_buffer> buffers;
        for (std::size_t at = 0; at < unsent_.size() && at < kBuffersAtOnce; ++at)
            buffers.emplace_back(unsent_[at].data(), unsent_[at].size());
        socket_.async_write_some(buffers, [self = shared_from_this()](const ErrorCode& error, std::size_t count) {
            self->is_writing_ = false;
            if (!self->is_open_) return;
            if (error) return self->end();
            self->listener_.counters_.bytes_out += count;
            self->forget_sent(count);
            self->last_heard_ = self->last_written_ = std::chrono::steady_clock::now();
            if (!self->unsent_.empty()) self->write();
            self->read_if_wanted();
        });
    }

    void forget_sent(std::size_t count) {
        unsent_bytes_ -= count;
        while (count > 0 && count >= unsent_.front().size()) {
            count -= unsent_.front().size();
            unsent_.pop_front();
        }
        if (count > 0) unsent_.front() = unsent_.front().slice(count, unsent_.front().size() - count);
        account();
    }

    /// The connection is over from this side or the other; the broker hears of it.
    void end(const std::string& why = {}) {
        if (!is_open_) return;
        if (!why.empty()) listener_.log_.write_limited(Level::kWarning, "client-closed", why, {{"client", peer_}});
        close();
        listener_.forget(id_);
    }

    KafkaListener& listener_;
    tcp::socket socket_;
    ConnectionId id_;
    std::string peer_;
    std::vector<std::byte> unread_;
    std::deque<Bytes> unsent_;
    std::size_t unsent_bytes_ = 0;
    std::size_t buffered_bytes_ = 0;  // as the listener has counted it
    std::chrono::steady_clock::time_point last_heard_;
    std::chrono::steady_clock::time_point last_written_;
    bool is_open_ = true;
    bool is_paused_ = false;
    bool is_reading_ = false;
    bool is_taking_ = false;
    bool is_writing_ = false;
};

KafkaListener::KafkaListener(boost::asio::io_context& io, const Settings& settings, BrokerLoop& loop, EventLog& log)
    : io_(io),
      settings_(settings),
      loop_(loop),
      log_(log),
      acceptor_(io),
      retry_(io),
      idle_(io),
      arrived_(kReadAtOnce) {}

KafkaListener::~KafkaListener() {
    for (auto& [id, client] : clients_) client->close();
}

std::string KafkaListener::listen() {
    if (std::string error = listen_on(acceptor_, settings_.client_listen); !error.empty())
        return "Server.Host, Server.Port: " + error;
    accept();
    look_at_idle();
    return {};
}

std::uint16_t KafkaListener::port() const {
    ErrorCode ignored;
    return acceptor_.local_endpoint(ignored).port();
}

void KafkaListener::stop_accepting() {
    ErrorCode ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    idle_.cancel();
}

void KafkaListener::accept() {
    acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
        if (error == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
        if (error) return on_accept_failed(error);
        on_accepted(std::move(socket));
        accept();
    });
}

/// Out of descriptors, most likely: those who are here go on, newcomers wait in the kernel's queue.
void KafkaListener::on_accept_failed(const ErrorCode& error) {
    ++counters_.refused;
    log_.write_limited(
        Level::kError, "accept-failed",
        fmt::format("no more clients can be taken: {}; raise the limit of open files if it stays so", error.message()),
        {{"clients", std::to_string(clients_.size())}});
    retry_.expires_after(kAcceptRetry);
    retry_.async_wait([this](const ErrorCode& cancelled) {
        if (!cancelled) accept();
    });
}

void KafkaListener::on_accepted(tcp::socket socket) {
    ErrorCode ignored;
    const tcp::endpoint peer = socket.remote_endpoint(ignored);
    if (clients_.size() >= static_cast<std::size_t>(settings_.connections_max)) {
        ++counters_.refused;
        log_.write_limited(Level::kWarning, "client-refused", "Server.MaxConnections is reached",
                           {{"clients", std::to_string(clients_.size())}});
        return;
    }
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(boost::asio::socket_base::keep_alive(true), ignored);
    socket.non_blocking(true, ignored);
    ++counters_.accepted;
    const ConnectionId id(++last_id_);
    const std::string host = peer.address().to_string(ignored);
    auto client = std::make_shared<Client>(*this, std::move(socket), id);
    client->set_peer(fmt::format("{}:{}", host, peer.port()));
    clients_.emplace(id, client);
    loop_.on_client_opened(id, host);
    client->start();
}

/// Held while it is called: what it does may take it out of the list.
std::shared_ptr<KafkaListener::Client> KafkaListener::find(ConnectionId connection) const {
    const auto at = clients_.find(connection);
    return at == clients_.end() ? nullptr : at->second;
}

void KafkaListener::forget(ConnectionId connection) {
    if (clients_.erase(connection) > 0) loop_.on_client_closed(connection);
}

/// Nobody is made to wait for those who hold much and take or send nothing: the one who holds the most goes.
void KafkaListener::shed_load() {
    while (buffered_bytes_ > static_cast<std::size_t>(settings_.buffered_bytes_max)) {
        const auto largest =
            std::ranges::max_element(clients_, {}, [](const auto& client) { return client.second->buffered_bytes(); });
        if (largest == clients_.end()) return;
        ++counters_.shed;
        close(largest->first, "Server.MaxBufferedBytes is reached, and no client holds more of it than this one");
    }
}

void KafkaListener::look_at_idle() {
    idle_.expires_after(kIdleLook);
    idle_.async_wait([this](const ErrorCode& error) {
        if (error) return;
        const auto now = std::chrono::steady_clock::now();
        std::vector<ConnectionId> overdue;
        for (const auto& [id, client] : clients_)
            if (client->is_overdue(now)) overdue.push_back(id);
        for (const ConnectionId id : overdue) {
            ++counters_.timed_out;
            close(id, "silent for too long, or slow to send a request");
        }
        look_at_idle();
    });
}

void KafkaListener::send(const gateway::SendFrame& frame) {
    if (on_answered_) on_answered_(frame.api, frame.took);
    if (const auto client = find(frame.connection)) client->send(frame.frame);
    shed_load();
}

void KafkaListener::close(ConnectionId connection, const std::string& why) {
    const auto client = find(connection);
    if (!client) return;
    log_.write_limited(Level::kWarning, "client-closed", why, {{"client", client->peer()}});
    client->close();
    forget(connection);
}

void KafkaListener::close_all(const std::string& why) {
    if (clients_.empty()) return;
    log_.write(Level::kInfo, "clients-closed", why, {{"clients", std::to_string(clients_.size())}});
    const auto all = std::exchange(clients_, {});
    for (const auto& [id, client] : all) client->close();
}

void KafkaListener::pause(ConnectionId connection) {
    if (const auto client = find(connection)) client->pause();
}

void KafkaListener::resume(ConnectionId connection) {
    if (const auto client = find(connection)) client->resume();
}

}  // namespace tidelock::tidelockd
