/// A TCP stream with or without TLS around it, one type for both: what Beast and Asio read from and write to.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <utility>

#include "protocol/base/result.h"
#include "tools/tidelockd/settings.h"

namespace tidelock::tidelockd {

namespace ssl = boost::asio::ssl;

enum class TlsSide : std::uint8_t { kServer, kClient };
/// A context for peers, or what is wrong with which file. Null: TLS is off.
Result<std::shared_ptr<ssl::context>, std::string> make_tls_context(const TlsSettings& settings, TlsSide side);

class NetStream {
  public:
    using Socket = boost::asio::ip::tcp::socket;
    using executor_type = Socket::executor_type;
    using next_layer_type = Socket;

    NetStream(Socket socket, const std::shared_ptr<ssl::context>& tls) : tls_context_(tls) {
        if (tls)
            tls_ = std::make_unique<ssl::stream<Socket>>(std::move(socket), *tls);
        else
            plain_ = std::make_unique<Socket>(std::move(socket));
    }

    [[nodiscard]] executor_type get_executor() { return socket().get_executor(); }
    [[nodiscard]] Socket& socket() { return tls_ ? tls_->next_layer() : *plain_; }
    [[nodiscard]] ssl::stream<Socket>* tls() { return tls_.get(); }

    template <typename Buffers, typename Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return tls_ ? tls_->async_read_some(buffers, std::forward<Token>(token))
                    : plain_->async_read_some(buffers, std::forward<Token>(token));
    }
    template <typename Buffers, typename Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        return tls_ ? tls_->async_write_some(buffers, std::forward<Token>(token))
                    : plain_->async_write_some(buffers, std::forward<Token>(token));
    }
    /// Ends the handshake that TLS begins with; at once without TLS.
    template <typename Handler>
    void async_handshake(TlsSide side, Handler handler) {
        if (!tls_) return handler(boost::system::error_code());
        tls_->async_handshake(side == TlsSide::kServer ? ssl::stream_base::server : ssl::stream_base::client,
                              std::move(handler));
    }
    void close() {
        boost::system::error_code ignored;
        socket().shutdown(Socket::shutdown_both, ignored);
        socket().close(ignored);
    }

  private:
    std::shared_ptr<ssl::context> tls_context_;  // outlives the stream
    std::unique_ptr<Socket> plain_;
    std::unique_ptr<ssl::stream<Socket>> tls_;
};

}  // namespace tidelock::tidelockd
