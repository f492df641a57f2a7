/// The HTTP side of a broker: what peers send it (O2), and what operators ask (O1). Both are this server on a port of
/// their own; which routes it has is told by what it is given.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "protocol/base/bytes.h"
#include "tools/tidelockd/event_log.h"
#include "tools/tidelockd/net_stream.h"

namespace tidelock::tidelockd {

struct HttpRequest {
    std::string method;
    std::string path;
    std::string bearer_token;
    std::optional<BrokerId> broker;  // kBrokerHeader
    std::string from;                // address
    Bytes body;
};
struct HttpAnswer {
    int status = 204;
    std::string content_type = "text/plain; charset=utf-8";
    std::string body;
};

struct HttpServerConfig {
    std::string what;  // for the log, as "peers"
    HostPort listen;
    std::size_t body_bytes_max = 0;
    std::size_t connections_max = 64;
    std::shared_ptr<ssl::context> tls;
    /// Looks at a request before its body is read; an answer turns it away. None: everybody is let in.
    std::function<std::optional<HttpAnswer>(const HttpRequest&)> admit;
};

class HttpServer {
  public:
    using Handler = std::function<HttpAnswer(const HttpRequest&)>;
    /// A connection on which this broker has spoken has ended.
    using OnBrokerGone = std::function<void(BrokerId)>;

    HttpServer(boost::asio::io_context& io, HttpServerConfig config, EventLog& log, Handler handler,
               OnBrokerGone on_broker_gone = {});
    ~HttpServer();

    /// Empty: it listens; else why not.
    [[nodiscard]] std::string listen();
    void stop();

  private:
    class Session;

    void accept();

    boost::asio::io_context& io_;
    HttpServerConfig config_;
    EventLog& log_;
    Handler handler_;
    OnBrokerGone on_broker_gone_;
    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer retry_;
    std::map<std::uint64_t, std::shared_ptr<Session>> sessions_;
    std::uint64_t last_session_ = 0;
};

}  // namespace tidelock::tidelockd
