// The configuration: the seeds' JSON as it stands, and every mistake with the path of its key.
#include <catch2/catch.hpp>

#include "tools/tidelockd/settings.h"

namespace tidelock::tidelockd {
namespace {

/// As operators know it, without outer braces.
constexpr std::string_view kGroup = R"("Server": {
  "Acks": "all",
  "Replication": {
    "Enabled": true,
    "ReplicaId": 1,
    "Role": "leader",
    "ReplicateHost": "0.0.0.0",
    "ReplicatePort": 9095,
    "ClientAddress": "192.0.2.1:9092",
    "Token": "known-to-all-three",
    "AckTimeout": 5,
    "Peers": [
      { "Id": 2, "Address": "192.0.2.2:9095", "ClientAddress": "192.0.2.2:9092" },
      { "Id": 3, "Address": "192.0.2.3:9095", "ClientAddress": "192.0.2.3:9092" }
    ],
    "Failover": { "Enabled": true }
  }
})";

std::string refusal(std::string_view text) {
    const auto settings = parse_settings(text, "broker.json");
    REQUIRE_FALSE(settings);
    return settings.error();
}

}  // namespace

TEST_CASE("O3: the block of a replication group starts a broker as it stands") {
    const auto settings = parse_settings(kGroup, "broker.json");
    REQUIRE(settings);
    CHECK(settings->broker.preset == broker::Preset::kGroup);
    CHECK(settings->broker.members == std::vector<BrokerId>{BrokerId(1), BrokerId(2), BrokerId(3)});
    CHECK(settings->broker.role == broker::ConfiguredRole::kLeader);
    CHECK(settings->broker.min_insync_replicas == 2);  // G8: a majority
    CHECK(settings->peer_token == "known-to-all-three");
    CHECK(settings->peer_listen == HostPort{"0.0.0.0", 9095});
    CHECK(settings->client_advertised == HostPort{"192.0.2.1", 9092});
    CHECK(settings->ack_timeout == seconds(5));
    CHECK(settings->gateway.endpoints.at(BrokerId(3)) == gateway::Endpoint{"192.0.2.3", 9092});
}

TEST_CASE("a broker without configuration is one of its own on loopback, and its printed configuration says the same") {
    const auto printed = parse_settings(default_settings_text(), "printed");
    REQUIRE(printed);
    const Settings none = default_settings();
    CHECK(printed->broker == none.broker);
    CHECK(printed->client_listen == none.client_listen);
    CHECK(printed->data_directory == none.data_directory);
    CHECK(none.client_listen == HostPort{"127.0.0.1", 9092});
    CHECK(none.broker.members.size() == 1);
}

TEST_CASE("without Failover the configured leader leads") {
    const auto leader = parse_settings(R"({"Server": {"Replication": {"ReplicaId": 1, "Role": "leader", "LagMax": 10,
        "Peers": [{"Id": 2, "Address": "b:1", "ClientAddress": "b:2"}]}}})",
                                       "f");
    REQUIRE(leader);
    CHECK(leader->broker.preset == broker::Preset::kStatic);
    CHECK(leader->broker.static_leader == BrokerId(1));
    CHECK(leader->broker.replica_lag_records_max == 10);
    CHECK(refusal(R"({"Server": {"Replication": {"ReplicaId": 2, "Role": "follower", "Leader": 7,
        "Peers": [{"Id": 1, "Address": "b:1", "ClientAddress": "b:2"}]}}})")
              .find("Server.Replication.Leader") != std::string::npos);
}

TEST_CASE("mistakes are told with the file, the key's path and what would be right") {
    CHECK(refusal(R"({"Sever": {}})").find("broker.json: Sever") != std::string::npos);
    CHECK(refusal(R"({"Server": {"Port": 70000}})").find("Server.Port") != std::string::npos);
    CHECK(refusal(R"({"Server": {"Port": "9092"}})").find("Server.Port") != std::string::npos);
    CHECK(refusal(R"({"Server": {"Host": "0.0.0.0"}})").find("Server.AdvertisedAddress") != std::string::npos);
    CHECK(refusal(R"({"Server": {"Replication": {"Peers": [{"Id": 1, "Address": "b:1", "ClientAddress": "b:2"}]}}})")
              .find("Peers[0].Id") != std::string::npos);
    CHECK(refusal(R"({"Server": {"Replication": {"Peers": [{"Id": 2, "Address": "b", "ClientAddress": "b:2"}]}}})")
              .find("Peers[0].Address") != std::string::npos);
    CHECK(refusal(R"({"Server": {"Replication": {"Failover": {"Enabled": true, "HeartbeatMs": 400}}}})")
              .find("HeartbeatMs") != std::string::npos);
    CHECK(refusal(R"({"Server": {"Replication": {"Tls": {"Certificate": "c", "Key": "k", "Verify": "required"}}}})")
              .find("Tls.Authorities") != std::string::npos);
    CHECK(refusal("{\"Server\": ").find("broker.json") != std::string::npos);
}

TEST_CASE("G6: a group is not combined with a cluster") {
    CHECK(refusal(R"({"Server": {"Replication": {"Failover": {"Enabled": true}}, "Cluster": {"Enabled": true}}})")
              .find("Server.Cluster") != std::string::npos);
}

TEST_CASE("addresses are host:port, a v6 host in brackets") {
    CHECK(parse_host_port("a.b:12") == HostPort{"a.b", 12});
    CHECK(parse_host_port("[::1]:9092") == HostPort{"::1", 9092});
    for (const char* bad : {"", "a", ":1", "a:", "a:70000", "a:-1", "::1:9092", "a:1x"}) {
        INFO(bad);
        CHECK_FALSE(parse_host_port(bad));
    }
    CHECK(to_text(HostPort{"::1", 1}) == "[::1]:1");
}

}  // namespace tidelock::tidelockd
