// Wrong flags give a clear message and exit 2, before anything is connected.
#include <catch2/catch.hpp>

#include "tools/bench/load/options.h"

using namespace tidelock::load;

namespace {

/// The complaint; empty when there is none.
std::string complaint_about(std::vector<std::string> words) {
    const auto options = parse_options(std::move(words));
    if (options) return {};
    CHECK(options.error().status == 2);
    return options.error().text;
}

bool mentions(const std::string& text, const std::string& word) {
    INFO(text);
    return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("defaults are those of a broker on this machine") {
    const auto options = parse_options({"produce"});
    REQUIRE(options);
    CHECK(options->brokers == std::vector<HostPort>{{"127.0.0.1", 9092}});
    CHECK(options->acks == -1);
    CHECK(options->seconds_ns == 10'000'000'000);
    CHECK(options->batch_records() == 64);
}

TEST_CASE("everything can be set") {
    const auto options = parse_options(
        {"failover",  "--brokers",   "a:1,[::1]:2", "--pids", "100,200",        "--kill-after", "1.5s",
         "--seconds", "5",           "--system",    "nats",   "--record-bytes", "100",          "--batch-bytes",
         "1",         "--in-flight", "8",           "--note", "a=b=c",          "--json",       "-"});
    REQUIRE(options);
    CHECK(options->command == Command::kFailover);
    CHECK(options->brokers == std::vector<HostPort>{{"a", 1}, {"::1", 2}});
    CHECK(options->pids == std::vector<pid_t>{100, 200});
    CHECK(options->kill_after_ns == 1'500'000'000);
    CHECK(options->batch_records() == 1);
    CHECK(options->notes.at("a") == "b=c");
}

TEST_CASE("wrong use is named") {
    CHECK(mentions(complaint_about({}), "subcommand"));
    CHECK(mentions(complaint_about({"produze"}), "subcommand"));
    CHECK(mentions(complaint_about({"produce", "--brokers", "here"}), "'here' is not host:port"));
    CHECK(mentions(complaint_about({"produce", "--brokers", ","}), "--brokers"));
    CHECK(mentions(complaint_about({"produce", "--acks", "2"}), "--acks"));
    CHECK(mentions(complaint_about({"produce", "--record-bytes", "8"}), "--record-bytes"));
    CHECK(mentions(complaint_about({"produce", "--seconds", "soon"}), "--seconds"));
    CHECK(mentions(complaint_about({"produce", "--in-flight", "0"}), "--in-flight"));
    CHECK(mentions(complaint_about({"produce", "--system", "pulsar"}), "--system"));
    CHECK(mentions(complaint_about({"produce", "--note", "nothing"}), "KEY=VALUE"));
    CHECK(mentions(complaint_about({"report"}), "files"));
}

TEST_CASE("flags that do not go together are named") {
    CHECK(mentions(complaint_about({"produce", "--idempotent", "--acks", "1"}), "--idempotent needs --acks all"));
    CHECK(mentions(complaint_about({"produce", "--verify", "--acks", "0"}), "--acks 0"));
    CHECK(mentions(complaint_about({"produce", "--system", "etcd", "--acks", "1"}), "etcd"));
    CHECK(mentions(complaint_about({"produce", "--system", "redis", "--idempotent"}), "redis"));
    CHECK(mentions(complaint_about({"consume", "--follow"}), "--follow needs --seconds"));
    CHECK(mentions(complaint_about({"failover"}), "--pids"));
    CHECK(mentions(complaint_about({"failover", "--pids", "10,20"}), "2 processes for 1 brokers"));
    CHECK(mentions(complaint_about({"failover", "--pids", "1"}), "no process to kill"));
    CHECK(mentions(complaint_about({"failover", "--pids", "10", "--seconds", "2"}), "--kill-after"));
}

TEST_CASE("help is no mistake") {
    const auto help = parse_options({"produce", "--help"});
    REQUIRE_FALSE(help);
    CHECK(help.error().status == 0);
    CHECK(mentions(help.error().text, "--in-flight"));
}
