// Real brokers on loopback for tests: processes of tidelockd that form a group, killed and started again at will.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace tidelock::tests {

/// Their files are in a folder of their own under the temporary directory. They end with this object, and with the
/// process that made them if that ends first.
class Brokers {
  public:
    /// Ids 1 to `count`. `server_settings` goes into each configuration's "Server", as `"DefaultPartitions": 3`.
    explicit Brokers(int count, const std::string& server_settings = "");
    /// Prints what the brokers logged when an exception ends the test.
    ~Brokers();
    Brokers(const Brokers&) = delete;
    Brokers& operator=(const Brokers&) = delete;

    void start(int id);
    /// Its exit status; -1 when a signal ended it.
    int kill(int id, int number);
    /// Runs the program with the configuration of a broker that is down, to its end: its exit status. Empty: a start.
    int run(int id, const std::string& flag = "");
    [[nodiscard]] std::string data_directory(int id) const { return file(id, "data"); }
    [[nodiscard]] bool is_running(int id) const { return processes_.contains(id); }
    [[nodiscard]] std::uint16_t port(int id) const { return client_ports_.at(id); }
    /// host:port of each, with commas between: what clients are given to start with.
    [[nodiscard]] std::string addresses() const;
    /// The broker that serves, as it says itself; 0: none within twenty seconds.
    [[nodiscard]] int leader() const;
    /// The last lines that each broker wrote.
    [[nodiscard]] std::string logs() const;

  private:
    void launch(int id, const std::string& flag);
    [[nodiscard]] std::string file(int id, const std::string& ending) const;
    void write_config(int id, const std::string& server_settings) const;

    int count_;
    int exceptions_before_;
    std::string folder_;
    std::map<int, std::uint16_t> client_ports_;
    std::map<int, std::uint16_t> peer_ports_;
    std::map<int, pid_t> processes_;
};

}  // namespace tidelock::tests
