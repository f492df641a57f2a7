// The load generator as a process: against a real broker, and used wrongly.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

/// A broker of its own; killed and removed at the end.
class Broker {
  public:
    Broker() {
        char name[] = "/tmp/tidelock-load-test-XXXXXX";
        folder_ = ::mkdtemp(name);
        port_ = 20'000 + static_cast<int>(::getpid() % 20'000);
        std::ofstream(folder_ + "/config.json")
            << fmt::format(R"({{"DataDir": "{}/data", "Server": {{"Port": {}}}}})", folder_, port_);
        pid_ = ::fork();
        if (pid_ != 0) return;
        const std::string config = folder_ + "/config.json";
        if (std::freopen((folder_ + "/log").c_str(), "a", stderr) == nullptr) ::_exit(126);
        ::execl(TIDELOCKD, "tidelockd", "--config", config.c_str(), nullptr);
        ::_exit(127);
    }
    ~Broker() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        std::filesystem::remove_all(folder_);
    }
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    /// The exit status of the load generator, run with these words.
    [[nodiscard]] int load(const std::string& words) const {
        const std::string command = fmt::format("{} {} >{}/out 2>&1", TIDELOCK_LOAD, words, folder_);
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] std::string target() const {
        return fmt::format("--brokers 127.0.0.1:{} --topic t --json {}/result", port_, folder_);
    }
    [[nodiscard]] json result() const {
        std::ifstream in(folder_ + "/result");
        return json::parse(in, nullptr, false);
    }

  private:
    std::string folder_;
    int port_ = 0;
    pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("what is produced is acknowledged, read back whole, and consumed") {
    const Broker broker;
    REQUIRE(broker.load("produce --replication 1 --partitions 3 --records 2000 --record-bytes 100 --batch-bytes 1000 "
                        "--idempotent --verify --patience 30s " +
                        broker.target()) == 0);
    const json produced = broker.result();
    CHECK(produced["acknowledged"] == 2'000);
    CHECK(produced["found"] == 2'000);
    CHECK(produced["lost"] == 0);
    CHECK(produced["misplaced"] == 0);
    CHECK(produced["duplicates"] == 0);
    CHECK(produced["latency"]["count"] == 2'000);
    REQUIRE(broker.load("consume --consumers 2 " + broker.target()) == 0);
    CHECK(broker.result()["measured_records"] == 4'000);
    CHECK(broker.result()["record_bytes"] == 100);
    REQUIRE(broker.load("report " + broker.target().substr(broker.target().rfind(' ') + 1)) == 0);
}

TEST_CASE("wrong use and a broker that is not there exit with 2") {
    const Broker broker;
    CHECK(broker.load("produce --record-bytes 1") == 2);
    CHECK(broker.load("") == 2);
    CHECK(broker.load("--help") == 0);
    CHECK(broker.load("report /nonexistent") == 2);
    CHECK(broker.load("produce --brokers 127.0.0.1:1 --patience 10ms") == 2);
    CHECK(broker.load("consume --brokers 127.0.0.1:1 --patience 10ms") == 2);
}
