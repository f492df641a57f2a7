#include "tools/tidelockd/broker_loop.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <limits>
#include <utility>

#include "protocol/base/check.h"
#include "tools/tidelockd/mapped_file.h"

namespace tidelock::tidelockd {
namespace {

/// The operator's own requests come on a connection that no client has.
constexpr ConnectionId kOwnConnection{std::numeric_limits<std::uint64_t>::max()};

std::uint64_t fresh_entropy() {
    std::random_device device;
    const std::uint64_t high = device();
    return ((high << 32U) | device()) | 1U;
}

}  // namespace

BrokerLoop::BrokerLoop(boost::asio::io_context& io, const Settings& settings, int data_directory)
    : io_(io),
      broker_(settings.broker),
      gateway_(settings.gateway),
      files_(data_directory,
             [this](storage::FileEvent event) {
                 boost::asio::post(io_, [this, event = std::move(event)]() mutable {
                     handle(broker::FileCompleted{std::move(event)});
                 });
             }),
      chance_(fresh_entropy()) {
    for (auto& timer : timers_) timer = std::make_unique<boost::asio::steady_timer>(io_);
}

void BrokerLoop::attach(PeerSender& peers, ClientSender& clients, Observer observer) {
    peers_ = &peers;
    clients_ = &clients;
    observer_ = std::move(observer);
}

void BrokerLoop::boot(storage::DirectoryImage image) {
    const broker::Config config = broker_.config;
    broker::Effects effects;
    broker::step(broker_, now(), broker::Booted{image, fresh_entropy()}, effects);
    // What it found where zeros were read instead is nothing: another one looks, and is told that it cannot be read.
    for (auto lost = take_unreadable_mapped_files(); !lost.empty(); lost = take_unreadable_mapped_files()) {
        for (storage::ImageFile& file : image)
            if (std::ranges::find(lost, file.name.text()) != lost.end())
                file.content = Failure<storage::ReadError>(storage::ReadError::kIo);
        effects.clear();
        broker_ = broker::Broker(config);
        broker::step(broker_, now(), broker::Booted{image, fresh_entropy()}, effects);
    }
    image.clear();
    // From now on files change under whoever would still hold what they were.
    CHECK(mapped_file_count() == 0);
    is_stepping_ = true;
    carry_out(effects);
    is_stepping_ = false;
    go_on();
}

void BrokerLoop::on_peer_message(BrokerId from, broker::PeerMessage message) {
    handle(broker::PeerMessageReceived{from, std::move(message)});
}

void BrokerLoop::on_peer_disconnected(BrokerId peer) {
    handle(broker::PeerDisconnected{peer});
}

void BrokerLoop::on_client_opened(ConnectionId connection, const std::string& host) {
    gateway_.open(connection, host);
}

void BrokerLoop::on_client_frame(ConnectionId connection, const Bytes& content) {
    gateway::Effects effects;
    gateway_.on_frame(now(), connection, content, effects);
    carry_out(effects);
}

void BrokerLoop::on_client_closed(ConnectionId connection) {
    gateway_.close(connection);
    handle(broker::ClientDisconnected{connection});
}

void BrokerLoop::hand_over(std::function<void()> done) {
    if (!broker_.leading || broker_.config.members.size() < 2) return done();
    handed_over_ = std::move(done);
    handle(broker::ClientRequested{
        kOwnConnection, clients::Request{CorrelationId(1), clients::TransferLeadershipRequest{BrokerId(0)}}});
}

void BrokerLoop::handle(broker::Event event) {
    due_.push_back(std::move(event));
    if (!is_stepping_) go_on();
}

void BrokerLoop::go_on() {
    is_stepping_ = true;
    while (!due_.empty()) {
        const broker::Event next = std::move(due_.front());
        due_.pop_front();
        step(next);
    }
    is_stepping_ = false;
}

void BrokerLoop::step(const broker::Event& event) {
    broker::Effects effects;
    broker::step(broker_, now(), event, effects);
    carry_out(effects);
}

void BrokerLoop::carry_out(broker::Effects& effects) {
    // First all that was seen: a process that is killed on the way has said what it was about to do, so that nobody
    // meets a consequence (a batch on the disk, a message) before its reason.
    for (const broker::Effect& effect : effects)
        if (const auto* seen = std::get_if<broker::Observe>(&effect); seen != nullptr && observer_)
            observer_(seen->observation);
    for (broker::Effect& effect : effects) carry_out(effect);
}

void BrokerLoop::carry_out(broker::Effect& effect) {
    struct Route {
        BrokerLoop& self;
        void operator()(broker::SendToPeer& e) const { self.peers_->send(e.to, e.message); }
        void operator()(broker::AnswerClient& e) const { self.on_answer(e); }
        void operator()(broker::CloseClients&) const {
            self.gateway_.close_all();
            self.clients_->close_all("this broker leads no more (G4)");
        }
        void operator()(broker::SetTimer& e) const { self.set_timer(e); }
        void operator()(broker::CancelTimer& e) const {
            ++self.timer_rounds_[static_cast<std::size_t>(e.timer)];
            self.timers_[static_cast<std::size_t>(e.timer)]->cancel();
        }
        void operator()(storage::FileEffect& e) const { self.files_.carry_out(e); }
        void operator()(broker::Observe&) const {}  // told before
    };
    std::visit(Route{*this}, effect);
}

void BrokerLoop::carry_out(gateway::Effects& effects) {
    struct Route {
        BrokerLoop& self;
        void operator()(gateway::AskBroker& e) const {
            self.handle(broker::ClientRequested{e.connection, std::move(e.request)});
        }
        void operator()(gateway::SendFrame& e) const { self.clients_->send(e); }
        void operator()(gateway::CloseConnection& e) const { self.clients_->close(e.connection, e.why); }
        void operator()(gateway::PauseReading& e) const {
            // A question to the broker before it may have been answered already, and the pause be over.
            const auto& connections = self.gateway_.connections();
            const auto at = connections.find(e.connection);
            if (at != connections.end() && at->second.is_paused) self.clients_->pause(e.connection);
        }
        void operator()(gateway::ResumeReading& e) const { self.clients_->resume(e.connection); }
    };
    for (gateway::Effect& effect : effects) std::visit(Route{*this}, effect);
}

void BrokerLoop::on_answer(const broker::AnswerClient& answered) {
    if (answered.connection == kOwnConnection) {
        if (handed_over_) std::exchange(handed_over_, nullptr)();
        return;
    }
    gateway::Effects effects;
    gateway_.on_answer(now(), answered.connection, answered.answer, effects);
    carry_out(effects);
}

void BrokerLoop::set_timer(const broker::SetTimer& timer) {
    const auto at = static_cast<std::size_t>(timer.timer);
    std::uniform_int_distribution<std::int64_t> draw(timer.min.value, std::max(timer.min, timer.max).value);
    const std::uint64_t round = ++timer_rounds_[at];
    timers_[at]->expires_after(std::chrono::nanoseconds(draw(chance_)));
    // One that was replaced may have ended already, with its handler on its way.
    timers_[at]->async_wait([this, kind = timer.timer, at, round](const boost::system::error_code& error) {
        if (!error && timer_rounds_[at] == round) handle(broker::TimerFired{kind});
    });
}

Instant BrokerLoop::now() {
    const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
    return Instant(std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count());
}

}  // namespace tidelock::tidelockd
