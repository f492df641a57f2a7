/// One broker of the core and its gateway on the loop's thread: what arrives becomes an event, what the core wants done
/// is carried out in the order given. Knows no socket: listeners and links are behind the interfaces below.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "protocol/broker/broker.h"
#include "protocol/broker/effect.h"
#include "protocol/gateway/gateway.h"
#include "tools/tidelockd/file_engine.h"
#include "tools/tidelockd/settings.h"

namespace tidelock::tidelockd {

/// Where messages to peers go.
class PeerSender {
  public:
    virtual ~PeerSender() = default;
    /// Best effort: what cannot be sent now, or does not fit what is unsent, is dropped.
    virtual void send(BrokerId to, const broker::PeerMessage& message) = 0;
};

/// Where answers to clients go.
class ClientSender {
  public:
    virtual ~ClientSender() = default;
    virtual void send(const gateway::SendFrame& frame) = 0;
    virtual void close(ConnectionId connection, const std::string& why) = 0;
    virtual void close_all(const std::string& why) = 0;
    virtual void pause(ConnectionId connection) = 0;
    virtual void resume(ConnectionId connection) = 0;
};

/// Whoever follows what the broker does: log, metrics.
using Observer = std::function<void(const broker::Observation&)>;

class BrokerLoop {
  public:
    BrokerLoop(boost::asio::io_context& io, const Settings& settings, int data_directory);
    BrokerLoop(const BrokerLoop&) = delete;
    BrokerLoop& operator=(const BrokerLoop&) = delete;

    void attach(PeerSender& peers, ClientSender& clients, Observer observer);
    /// The first event of the broker's life. What mapped_file.h cannot read of the image is lost, as if it had been
    /// found so when the image was made.
    void boot(storage::DirectoryImage image);

    void on_peer_message(BrokerId from, broker::PeerMessage message);
    void on_peer_disconnected(BrokerId peer);
    void on_client_opened(ConnectionId connection, const std::string& host);
    void on_client_frame(ConnectionId connection, const Bytes& content);
    void on_client_closed(ConnectionId connection);
    /// Gives the leadership to somebody else if it has it; `done` is called when that is over, or in vain.
    void hand_over(std::function<void()> done);

    [[nodiscard]] const broker::Broker& broker() const { return broker_; }
    [[nodiscard]] const gateway::Gateway& gateway() const { return gateway_; }
    [[nodiscard]] const FileEngine& files() const { return files_; }

  private:
    /// Everything that is due, until nothing is: an effect may bring about the next event at once.
    void handle(broker::Event event);
    void go_on();
    void step(const broker::Event& event);
    void carry_out(broker::Effects& effects);
    void carry_out(broker::Effect& effect);
    void carry_out(gateway::Effects& effects);
    void on_answer(const broker::AnswerClient& answered);
    void set_timer(const broker::SetTimer& timer);
    [[nodiscard]] static Instant now();

    boost::asio::io_context& io_;
    broker::Broker broker_;
    gateway::Gateway gateway_;
    FileEngine files_;
    PeerSender* peers_ = nullptr;
    ClientSender* clients_ = nullptr;
    Observer observer_;
    std::mt19937_64 chance_;
    std::array<std::unique_ptr<boost::asio::steady_timer>, static_cast<std::size_t>(broker::TimerKind::kCount)> timers_;
    std::array<std::uint64_t, static_cast<std::size_t>(broker::TimerKind::kCount)> timer_rounds_{};
    std::deque<broker::Event> due_;
    bool is_stepping_ = false;
    std::function<void()> handed_over_;
};

}  // namespace tidelock::tidelockd
