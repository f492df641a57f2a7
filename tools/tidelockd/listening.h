/// How every port of the daemon comes to be listened to.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "tools/tidelockd/settings.h"

namespace tidelock::tidelockd {

/// Opens the acceptor on the address. Empty: it listens; else why not, as "192.0.2.1:9092 cannot be listened to: ...".
[[nodiscard]] std::string listen_on(boost::asio::ip::tcp::acceptor& acceptor, const HostPort& address);

}  // namespace tidelock::tidelockd
