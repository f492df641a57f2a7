#include "tools/tidelockd/listening.h"

#include <fmt/format.h>

namespace tidelock::tidelockd {

using boost::asio::ip::tcp;

std::string listen_on(tcp::acceptor& acceptor, const HostPort& address) {
    boost::system::error_code error;
    tcp::resolver resolver(acceptor.get_executor());
    const auto found = resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, error);
    if (error) return fmt::format("{} cannot be resolved: {}", address.host, error.message());
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
    if (error) return fmt::format("{} cannot be listened to: {}", to_text(address), error.message());
    return {};
}

}  // namespace tidelock::tidelockd
