/// Real brokers of one schedule: processes of tidelockd with a folder each, started, killed and stopped at will. What
/// they are seen doing, and what is done to them, goes into the history.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/settings.h"
#include "tools/live/broker_network.h"
#include "tools/live/history.h"
#include "tools/live/observation_tail.h"

namespace tidelock::live {

/// How a broker ended that nobody had killed.
struct UnexpectedEnd {
    BrokerId broker;
    std::string how;  // "by signal 6", "with status 1"
    std::string last_words;
};

class BrokerProcesses {
  public:
    /// `folder` is there and empty. All references must outlive it.
    BrokerProcesses(std::string program, std::string folder, const scenarios::Settings& settings,
                    BrokerNetwork& network, History& history);
    /// Kills all that still run.
    ~BrokerProcesses();
    BrokerProcesses(const BrokerProcesses&) = delete;
    BrokerProcesses& operator=(const BrokerProcesses&) = delete;

    /// Files and folders for all of them. Empty, or why not.
    std::string prepare();
    bool start(BrokerId broker);
    /// kill -9. False: it does not run.
    bool kill(BrokerId broker);
    /// SIGSTOP, SIGCONT.
    bool pause(BrokerId broker);
    bool resume(BrokerId broker);
    /// SIGTERM to all, and waits; then kills who has not ended.
    void stop_all();
    /// Its disk has no more room than this, or as much as there is again. False: that cannot be had here.
    bool fill_disk(BrokerId broker, std::int64_t bytes_left);
    void free_disk(BrokerId broker);

    /// Takes in what the brokers have written about themselves, and who has ended. The error is a broken log.
    std::string look();
    /// The same until nothing is left to read; nobody runs any more.
    std::string look_at_the_end();

    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] bool is_running(BrokerId broker) const { return at(broker).pid > 0; }
    [[nodiscard]] const std::string& refusal(BrokerId broker) const { return at(broker).refusal; }
    [[nodiscard]] Incarnation data_incarnation(BrokerId broker) const { return at(broker).data_incarnation; }
    /// Who serves, as far as has been read.
    [[nodiscard]] std::optional<BrokerId> leader() const;
    [[nodiscard]] const std::vector<Replica>& in_sync_replicas() const { return in_sync_replicas_; }
    [[nodiscard]] bool is_in_sync(BrokerId broker) const;
    [[nodiscard]] std::uint16_t client_port(BrokerId broker) const { return at(broker).client_port; }
    /// Why a broker could not be run as it was to be: nothing that the broker is to blame for. Empty: all could.
    [[nodiscard]] const std::string& failure() const { return failure_; }
    [[nodiscard]] const std::vector<UnexpectedEnd>& unexpected_ends() const { return unexpected_ends_; }

  private:
    struct Process {
        pid_t pid = -1;
        std::uint32_t life = 0;
        std::uint16_t client_port = 0;
        std::uint16_t peer_port = 0;
        bool is_paused = false;
        bool has_disk = false;  // a small one of its own
        int fills = 0;          // of it, that last
        std::optional<LeaderEpoch> serving;
        std::string refusal;
        Incarnation data_incarnation;
        std::vector<std::pair<std::uint32_t, ObservationTail>> tails;  // of its lives
    };
    [[nodiscard]] Process& at(BrokerId broker) { return processes_[static_cast<std::size_t>(broker.value - 1)]; }
    [[nodiscard]] const Process& at(BrokerId broker) const {
        return processes_[static_cast<std::size_t>(broker.value - 1)];
    }
    [[nodiscard]] std::string file(BrokerId broker, const std::string& ending) const;
    [[nodiscard]] std::string config_of(BrokerId broker) const;
    [[nodiscard]] std::string last_words(BrokerId broker) const;
    std::string read_tails(BrokerId broker);
    void note(BrokerId broker, const broker::Observation& observation);
    void reap(BrokerId broker);
    void on_ended(BrokerId broker, int status);

    std::string program_;
    std::string folder_;
    const scenarios::Settings& settings_;
    BrokerNetwork& network_;
    History& history_;
    int count_;
    std::vector<Process> processes_;
    std::vector<Replica> in_sync_replicas_;
    LeaderEpoch in_sync_epoch_;
    std::vector<UnexpectedEnd> unexpected_ends_;
    std::string failure_;
    bool is_stopping_ = false;
};

/// This machine's monotonic clock.
std::int64_t now_ns();

}  // namespace tidelock::live
