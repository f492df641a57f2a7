/// Where faults beyond what the policy promises took something, in the words of clients: what V10, V14 and V21 cannot
/// ask for. V1 has judged how much the faults account for; clients cannot tell.
#pragma once

#include <algorithm>
#include <vector>

#include "checker/history.h"

namespace tidelock::checker {

struct ExcusedLosses {
    std::vector<ClientPartition> partitions;  // that lost records
    std::vector<ClientTopic> topics;          // that a leader was without
    bool offsets = false;                     // committed offsets
    bool producers = false;                   // what is kept of producers whose records are gone

    [[nodiscard]] bool contains(const ClientPartition& partition) const {
        return std::ranges::find(partitions, partition) != partitions.end();
    }
    [[nodiscard]] bool contains(ClientTopic topic) const { return std::ranges::find(topics, topic) != topics.end(); }
};

}  // namespace tidelock::checker
