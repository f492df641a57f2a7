#include "tools/tidelockd/http_server.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/vector_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <chrono>
#include <utility>

#include "tools/tidelockd/listening.h"
#include "tools/tidelockd/peer_routes.h"

namespace tidelock::tidelockd {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using RequestParser = http::request_parser<http::vector_body<std::byte>>;

constexpr auto kRetry = std::chrono::milliseconds(100);
constexpr auto kPatience = std::chrono::seconds(60);  // with a request that does not end, or an answer not taken
constexpr int kKeepAliveIdleSeconds = 30;
constexpr int kKeepAliveEverySeconds = 10;
constexpr int kUnconfirmedMaxMs = 60'000;

/// A peer that vanished without a word (power, network) must not hold its place for ever.
void notice_vanished(tcp::socket& socket) {
    ErrorCode ignored;
    socket.set_option(boost::asio::socket_base::keep_alive(true), ignored);
    const int descriptor = socket.native_handle();
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveIdleSeconds, sizeof kKeepAliveIdleSeconds);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveEverySeconds, sizeof kKeepAliveEverySeconds);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnconfirmedMaxMs, sizeof kUnconfirmedMaxMs);
}
constexpr std::uint32_t kHeaderBytesMax = 8 << 10;
constexpr std::size_t kReadAtOnce = 64 << 10;  // as much as Beast reads in one go, if there is room

std::string_view view_of(boost::beast::string_view text) {
    return {text.data(), text.size()};
}

std::optional<BrokerId> broker_of(std::string_view text) {
    std::int32_t id = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), id);
    if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return BrokerId(id);
}

}  // namespace

/// A connection: one request after the other, each answered before the next is read.
class HttpServer::Session : public std::enable_shared_from_this<Session> {
  public:
    Session(HttpServer& server, tcp::socket socket, std::uint64_t id)
        : server_(server), stream_(std::move(socket), server.config_.tls), id_(id), watch_(server.io_) {
        ErrorCode ignored;
        from_ = stream_.socket().remote_endpoint(ignored).address().to_string(ignored);
    }

    void start() {
        watch();
        stream_.async_handshake(TlsSide::kServer, [self = shared_from_this()](const ErrorCode& error) {
            if (error) return self->end(fmt::format("TLS: {}", error.message()));
            self->read();
        });
    }

    void close() {
        if (!std::exchange(is_open_, false)) return;
        watch_.expires_at(std::chrono::steady_clock::time_point::max());
        stream_.close();
    }

  private:
    void read() {
        parser_.emplace();
        parser_->body_limit(server_.config_.body_bytes_max);
        parser_->header_limit(kHeaderBytesMax);
        // A peer may have nothing to say for long; whoever is no peer is not waited for.
        if (broker_)
            watch_.expires_at(std::chrono::steady_clock::time_point::max());
        else
            watch();
        http::async_read_header(stream_, buffer_, *parser_,
                                [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                                    if (!self->is_open_) return;
                                    if (error == http::error::end_of_stream) return self->end({});
                                    if (error) return self->end(error.message());
                                    self->on_header();
                                });
    }

    /// Nothing is kept of what a stranger sends.
    void on_header() {
        watch();
        request_ = head_of(parser_->get());
        keeps_alive_ = parser_->get().keep_alive();
        if (const auto refusal = server_.config_.admit ? server_.config_.admit(request_) : std::nullopt) {
            keeps_alive_ = false;
            return write(*refusal, parser_->get().version());
        }
        // Beast reads no more at a time than the buffer has room for, which is 512 bytes at first.
        buffer_.reserve(kReadAtOnce);
        http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](const ErrorCode& error, std::size_t) {
            if (!self->is_open_) return;
            if (error) return self->end(error.message());
            self->answer();
        });
    }

    [[nodiscard]] HttpRequest head_of(const RequestParser::value_type& received) const {
        HttpRequest request;
        request.method = view_of(received.method_string());
        const std::string_view target = view_of(received.target());
        request.path = target.substr(0, target.find('?'));
        request.from = from_;
        request.broker = broker_of(view_of(received[std::string(kBrokerHeader)]));
        const std::string_view authorization = view_of(received[http::field::authorization]);
        constexpr std::string_view kBearer = "Bearer ";
        if (authorization.starts_with(kBearer)) request.bearer_token = authorization.substr(kBearer.size());
        return request;
    }

    void answer() {
        request_.body = Bytes::copy_of(std::span(parser_->get().body()));
        const HttpAnswer answered = server_.handler_(request_);
        if (!is_open_) return;
        if (answered.status == 204) broker_ = request_.broker;
        write(answered, parser_->get().version());
    }

    void write(const HttpAnswer& answered, unsigned version) {
        response_ = {};
        response_.version(version);
        response_.result(static_cast<unsigned>(answered.status));
        response_.keep_alive(keeps_alive_);
        if (answered.status != 204) {
            response_.set(http::field::content_type, answered.content_type);
            response_.body() = answered.body;
            response_.prepare_payload();
        }
        if (answered.status == 401) response_.set(http::field::www_authenticate, "Bearer");
        watch();
        http::async_write(stream_, response_, [self = shared_from_this()](const ErrorCode& error, std::size_t) {
            if (!self->is_open_) return;
            if (error) return self->end(error.message());
            if (!self->keeps_alive_) return self->end({});
            self->read();
        });
    }

    void watch() {
        watch_.expires_after(kPatience);
        watch_.async_wait([self = shared_from_this(), until = watch_.expiry()](const ErrorCode& cancelled) {
            if (!cancelled && self->watch_.expiry() == until) self->end("too slow");
        });
    }

    void end(const std::string& why) {
        if (!is_open_) return;
        close();
        if (!why.empty())
            server_.log_.write_limited(Level::kInfo, "http-closed", why,
                                       {{"port", server_.config_.what}, {"from", from_}});
        const auto broker = broker_;
        HttpServer& server = server_;
        server.sessions_.erase(id_);
        const bool is_heard_elsewhere =
            std::ranges::any_of(server.sessions_, [&](const auto& each) { return each.second->broker_ == broker; });
        if (broker && !is_heard_elsewhere && server.on_broker_gone_) server.on_broker_gone_(*broker);
    }

    HttpServer& server_;
    NetStream stream_;
    std::uint64_t id_;
    std::string from_;
    boost::asio::steady_timer watch_;
    boost::beast::flat_buffer buffer_;
    std::optional<RequestParser> parser_;
    HttpRequest request_;
    http::response<http::string_body> response_;
    std::optional<BrokerId> broker_;  // that has spoken here, and was believed
    bool keeps_alive_ = true;
    bool is_open_ = true;
};

HttpServer::HttpServer(boost::asio::io_context& io, HttpServerConfig config, EventLog& log, Handler handler,
                       OnBrokerGone on_broker_gone)
    : io_(io),
      config_(std::move(config)),
      log_(log),
      handler_(std::move(handler)),
      on_broker_gone_(std::move(on_broker_gone)),
      acceptor_(io),
      retry_(io) {}

HttpServer::~HttpServer() {
    stop();
}

std::string HttpServer::listen() {
    if (std::string error = listen_on(acceptor_, config_.listen); !error.empty()) return error;
    accept();
    return {};
}

void HttpServer::stop() {
    ErrorCode ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    const auto all = std::exchange(sessions_, {});
    for (const auto& [id, session] : all) session->close();
}

void HttpServer::accept() {
    acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
        if (error == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
        if (error) {
            log_.write_limited(Level::kError, "accept-failed", error.message(), {{"port", config_.what}});
            retry_.expires_after(kRetry);
            retry_.async_wait([this](const ErrorCode& cancelled) {
                if (!cancelled) accept();
            });
            return;
        }
        if (sessions_.size() < config_.connections_max) {
            ErrorCode ignored;
            socket.set_option(tcp::no_delay(true), ignored);
            notice_vanished(socket);
            const std::uint64_t id = ++last_session_;
            const auto session = std::make_shared<Session>(*this, std::move(socket), id);
            sessions_.emplace(id, session);
            session->start();
        } else {
            log_.write_limited(Level::kWarning, "http-refused", "too many connections", {{"port", config_.what}});
        }
        accept();
    });
}

}  // namespace tidelock::tidelockd
