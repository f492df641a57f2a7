#include "tools/tidelockd/peer_routes.h"

#include <algorithm>
#include <array>

namespace tidelock::tidelockd {
namespace {

constexpr std::string_view kVote = "/replication/raft/vote";
constexpr std::string_view kAppend = "/replication/raft/append";
constexpr std::string_view kSnapshot = "/replication/raft/snapshot";
constexpr std::string_view kManifest = "/replication/manifest";
constexpr std::string_view kEpochs = "/replication/epochs";
constexpr std::string_view kFetch = "/replication/fetch";
constexpr std::array kRoutes = {kVote, kAppend, kSnapshot, kManifest, kEpochs, kFetch};

struct Route {
    std::string_view operator()(const raft::Message& message) const { return std::visit(*this, message); }
    std::string_view operator()(const replication::Message& message) const { return std::visit(*this, message); }

    std::string_view operator()(const raft::PreVoteRequest&) const { return kVote; }
    std::string_view operator()(const raft::PreVoteAnswer&) const { return kVote; }
    std::string_view operator()(const raft::VoteRequest&) const { return kVote; }
    std::string_view operator()(const raft::VoteAnswer&) const { return kVote; }
    std::string_view operator()(const raft::TimeoutNow&) const { return kVote; }
    std::string_view operator()(const raft::FormationStatement&) const { return kVote; }
    std::string_view operator()(const raft::AppendRequest&) const { return kAppend; }
    std::string_view operator()(const raft::AppendAnswer&) const { return kAppend; }
    std::string_view operator()(const raft::SnapshotRequest&) const { return kSnapshot; }
    std::string_view operator()(const raft::SnapshotAnswer&) const { return kSnapshot; }
    std::string_view operator()(const replication::ManifestRequest&) const { return kManifest; }
    std::string_view operator()(const replication::ManifestAnswer&) const { return kManifest; }
    std::string_view operator()(const replication::EpochEndRequest&) const { return kEpochs; }
    std::string_view operator()(const replication::EpochEndAnswer&) const { return kEpochs; }
    std::string_view operator()(const replication::FetchRequest&) const { return kFetch; }
    std::string_view operator()(const replication::FetchAnswer&) const { return kFetch; }
    std::string_view operator()(const replication::PositionUpdate&) const { return kFetch; }
    std::string_view operator()(const replication::TopicWanted&) const { return kManifest; }
};

}  // namespace

std::string_view route_of(const broker::PeerMessage& message) {
    return std::visit(Route{}, message);
}

bool is_peer_route(std::string_view route) {
    return std::ranges::find(kRoutes, route) != kRoutes.end();
}

}  // namespace tidelock::tidelockd
