#include "tools/tidelockd/peer_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <utility>

#include "tools/tidelockd/peer_routes.h"

namespace tidelock::tidelockd {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr auto kConnectTimeout = std::chrono::seconds(2);
constexpr auto kRetryMin = std::chrono::milliseconds(20);
constexpr auto kRetryMax = std::chrono::milliseconds(1'000);
/// A peer that takes bytes and confirms nothing for so long is as good as gone.
constexpr auto kAnswerTimeout = std::chrono::seconds(10);
constexpr std::size_t kBuffersAtOnce = 64;

}  // namespace

class PeerLinks::Link : public std::enable_shared_from_this<Link> {
  public:
    Link(PeerLinks& owner, const PeerSettings& peer)
        : owner_(owner), peer_(peer), resolver_(owner.io_), retry_(owner.io_), watch_(owner.io_) {}

    void connect() {
        if (is_stopped_) return;
        const std::uint64_t round = ++round_;
        watch(kConnectTimeout);
        // Names are looked up one after the other: a bad one must not keep addresses waiting.
        ErrorCode no_address;
        const auto literal = boost::asio::ip::make_address(peer_.address.host, no_address);
        if (!no_address) {
            const tcp::endpoint endpoint(literal, peer_.address.port);
            return connect_to(tcp::resolver::results_type::create(endpoint, peer_.address.host, ""));
        }
        resolver_.async_resolve(
            peer_.address.host, std::to_string(peer_.address.port),
            [self = shared_from_this(), round](const ErrorCode& error, const tcp::resolver::results_type& found) {
                if (self->round_ != round) return;
                if (error) return self->fail(fmt::format("cannot be resolved: {}", error.message()));
                self->connect_to(found);
            });
    }

    void stop() {
        is_stopped_ = true;
        resolver_.cancel();
        retry_.cancel();
        drop_stream();
    }

    /// False: dropped.
    bool send(std::string_view route, Bytes body) {
        if (!is_connected_ || unsent_bytes_ + body.size() > static_cast<std::size_t>(owner_.settings_.peer_bytes_max))
            return false;
        Bytes head = Bytes::copy_of(head_of(route, body.size()));
        unsent_bytes_ += head.size() + body.size();
        unsent_.push_back(std::move(head));
        unsent_.push_back(std::move(body));
        if (!is_writing_) write();
        return true;
    }

  private:
    [[nodiscard]] std::string head_of(std::string_view route, std::size_t body_bytes) const {
        const std::string& token = owner_.settings_.peer_token;
        return fmt::format(
            "POST {} HTTP/1.1\r\nHost: {}\r\n{}: {}\r\n{}Content-Type: application/octet-stream\r\nContent-Length: "
            "{}\r\n\r\n",
            route, to_text(peer_.address), kBrokerHeader, owner_.settings_.broker.id.value,
            token.empty() ? std::string() : fmt::format("Authorization: Bearer {}\r\n", token), body_bytes);
    }

    void connect_to(const tcp::resolver::results_type& found) {
        stream_ = std::make_shared<NetStream>(tcp::socket(owner_.io_), owner_.tls_);
        if (auto* tls = stream_->tls(); tls != nullptr && !owner_.settings_.peer_tls.authorities.empty()) {
            ErrorCode ignored;
            tls->set_verify_callback(ssl::host_name_verification(peer_.address.host), ignored);
        }
        boost::asio::async_connect(
            stream_->socket(), found,
            [self = shared_from_this(), stream = stream_](const ErrorCode& error, const tcp::endpoint&) {
                if (self->stream_ != stream) return;
                if (error) return self->fail(error.message());
                ErrorCode ignored;
                stream->socket().set_option(tcp::no_delay(true), ignored);
                stream->async_handshake(TlsSide::kClient, [self, stream](const ErrorCode& refused) {
                    if (self->stream_ != stream) return;
                    if (refused) return self->fail(fmt::format("TLS: {}", refused.message()));
                    self->on_connected();
                });
            });
    }

    void on_connected() {
        is_connected_ = true;
        connected_at_ = std::chrono::steady_clock::now();
        watch_.expires_at(std::chrono::steady_clock::time_point::max());
        ++owner_.counters_.connects;
        owner_.log_.write_limited(Level::kInfo, "peer-connected", {}, {{"peer", std::to_string(peer_.id.value)}});
        read();
    }

    void write() {
        is_writing_ = true;
        std::vector<boost::asio::const_buffer> buffers;
        std::size_t taken = 0;
        for (; taken < unsent_.size() && taken < kBuffersAtOnce; ++taken)
            buffers.emplace_back(unsent_[taken].data(), unsent_[taken].size());
        unanswered_ += taken / 2;
        if (unanswered_ == taken / 2) watch(kAnswerTimeout);
        boost::asio::async_write(
            *stream_, buffers,
            [self = shared_from_this(), stream = stream_, taken](const ErrorCode& error, std::size_t count) {
                if (self->stream_ != stream) return;
                self->is_writing_ = false;
                if (error) return self->fail(error.message());
                self->unsent_bytes_ -= count;
                if (self->unanswered_ > 0) self->watch(kAnswerTimeout);
                self->unsent_.erase(self->unsent_.begin(), self->unsent_.begin() + static_cast<std::ptrdiff_t>(taken));
                if (!self->unsent_.empty()) self->write();
            });
    }

    /// What the peer says to each request, in their order.
    void read() {
        response_ = {};
        http::async_read(*stream_, buffer_, response_,
                         [self = shared_from_this(), stream = stream_](const ErrorCode& error, std::size_t) {
                             if (self->stream_ != stream) return;
                             if (error) return self->fail(error.message());
                             self->on_response();
                         });
    }

    void on_response() {
        if (response_.result() == http::status::unauthorized)
            return fail("refuses our token: Server.Replication.Token is to be the same on all brokers");
        if (response_.result() != http::status::no_content)
            owner_.log_.write_limited(
                Level::kWarning, "peer-refused", response_.body(),
                {{"peer", std::to_string(peer_.id.value)}, {"status", std::to_string(response_.result_int())}});
        delay_ = kRetryMin;  // it takes what we say: when it breaks, it is worth trying at once
        if (unanswered_ > 0) --unanswered_;
        if (unanswered_ > 0)
            watch(kAnswerTimeout);
        else
            watch_.expires_at(std::chrono::steady_clock::time_point::max());
        read();
    }

    void watch(std::chrono::steady_clock::duration patience) {
        watch_.expires_after(patience);
        // One that has ended already may have its handler on its way.
        watch_.async_wait([self = shared_from_this(), until = watch_.expiry()](const ErrorCode& cancelled) {
            if (!cancelled && self->watch_.expiry() == until) self->fail("does not answer");
        });
    }

    void fail(const std::string& why) {
        if (is_stopped_) return;
        const bool was_connected = is_connected_;
        drop_stream();
        if (was_connected) ++owner_.counters_.breaks;
        // One that held for a while had nothing wrong with it, whether anything was said or not.
        if (was_connected && std::chrono::steady_clock::now() - connected_at_ > kRetryMax) delay_ = kRetryMin;
        owner_.log_.write_limited(was_connected ? Level::kWarning : Level::kInfo,
                                  was_connected ? "peer-lost" : "peer-unreachable", why,
                                  {{"peer", std::to_string(peer_.id.value)}, {"address", to_text(peer_.address)}});
        retry_.expires_after(delay_);
        retry_.async_wait([self = shared_from_this()](const ErrorCode& cancelled) {
            if (!cancelled) self->connect();
        });
        delay_ = std::min<std::chrono::steady_clock::duration>(delay_ * 2, kRetryMax);
        owner_.loop_.on_peer_disconnected(peer_.id);
    }

    void drop_stream() {
        ++round_;
        is_connected_ = false;
        is_writing_ = false;
        unsent_.clear();
        unsent_bytes_ = 0;
        unanswered_ = 0;
        buffer_.clear();
        resolver_.cancel();
        watch_.expires_at(std::chrono::steady_clock::time_point::max());
        if (stream_) stream_->close();
        stream_.reset();
    }

    PeerLinks& owner_;
    PeerSettings peer_;
    tcp::resolver resolver_;
    boost::asio::steady_timer retry_;
    boost::asio::steady_timer watch_;
    std::shared_ptr<NetStream> stream_;  // handlers of an earlier one find another here, and do nothing
    boost::beast::flat_buffer buffer_;
    http::response<http::string_body> response_;
    std::deque<Bytes> unsent_;  // a head, its body, the next head, ...
    std::size_t unsent_bytes_ = 0;
    std::size_t unanswered_ = 0;
    std::uint64_t round_ = 0;
    std::chrono::steady_clock::duration delay_ = kRetryMin;
    std::chrono::steady_clock::time_point connected_at_;
    bool is_connected_ = false;
    bool is_writing_ = false;
    bool is_stopped_ = false;
};

PeerLinks::PeerLinks(boost::asio::io_context& io, const Settings& settings, BrokerLoop& loop, EventLog& log,
                     std::shared_ptr<ssl::context> tls)
    : io_(io), settings_(settings), loop_(loop), log_(log), tls_(std::move(tls)) {}

PeerLinks::~PeerLinks() {
    stop();
}

void PeerLinks::start() {
    for (const PeerSettings& peer : settings_.peers) {
        const auto link = std::make_shared<Link>(*this, peer);
        links_.emplace(peer.id, link);
        link->connect();
    }
}

void PeerLinks::stop() {
    for (const auto& [id, link] : links_) link->stop();
}

void PeerLinks::send(BrokerId to, const broker::PeerMessage& message) {
    const auto link = links_.find(to);
    const bool is_sent = link != links_.end() && link->second->send(route_of(message), broker::encode_frame(message));
    ++(is_sent ? counters_.sent : counters_.dropped);
}

}  // namespace tidelock::tidelockd
