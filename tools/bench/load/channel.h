/// A TCP connection that never blocks unless asked to: what is put waits until the socket takes it, what came waits
/// until it is consumed. Errors are texts that say what happened.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "tools/bench/load/options.h"

namespace tidelock::load {

/// CLOCK_MONOTONIC.
std::int64_t now_ns();
void sleep_ns(std::int64_t time_ns);

class Channel {
  public:
    /// Blocks for as long as `patience_ns`.
    static Result<std::unique_ptr<Channel>, std::string> open(const HostPort& address, std::int64_t patience_ns);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    void put(std::string_view text) { unsent_.append(text); }
    void put(std::span<const std::byte> bytes) {
        unsent_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    /// Sends as much as the socket takes. Empty: fine.
    std::string flush();
    /// Takes what has come. Empty: fine, though it may have been nothing.
    std::string receive();
    /// Sends, and blocks until something has come. Empty: something has.
    std::string await(std::int64_t patience_ns);

    /// What came and was not consumed.
    [[nodiscard]] std::string_view input() const { return std::string_view(received_).substr(consumed_); }
    void consume(std::size_t bytes) { consumed_ += bytes; }

    [[nodiscard]] int descriptor() const { return socket_; }
    [[nodiscard]] bool has_unsent() const { return sent_ < unsent_.size(); }

  private:
    explicit Channel(int socket);

    int socket_;
    std::string unsent_;
    std::size_t sent_ = 0;
    std::string scratch_;  // what one read takes
    std::string received_;
    std::size_t consumed_ = 0;
};

/// Blocks until one of these has something to read or can take more, or the time is over; then sends and receives.
/// Empty: fine. Nulls are passed over.
std::string exchange_all(std::span<Channel* const> channels, std::int64_t patience_ns);

}  // namespace tidelock::load
