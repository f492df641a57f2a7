/// Where faults beyond what the policy promises took something, in the words of clients: what V10, V14 and V21 cannot
/// ask for. V1 has judged how much the faults account for; clients cannot tell.
#pragma once

#include <algorithm>
#include <vector>

#include "checker/history.h"

namespace tidelock::checker {

/// A producer that a leader took for a new one, as it might.
struct ForgottenProducer {
    ClientPartition partition;
    ProducerId producer_id;
    bool operator==(const ForgottenProducer&) const = default;
};

struct ExcusedLosses {
    std::vector<ClientPartition> partitions;   // that lost records
    std::vector<ClientTopic> topics;           // that a leader was without
    bool offsets = false;                      // committed offsets
    bool producers = false;                    // what is kept of producers whose records are gone
    std::vector<ForgottenProducer> forgotten;  // no loss: more producers wrote than a partition remembers

    [[nodiscard]] bool contains(const ClientPartition& partition) const {
        return std::ranges::find(partitions, partition) != partitions.end();
    }
    [[nodiscard]] bool has_forgotten(const ClientPartition& partition, ProducerId producer) const {
        return std::ranges::find(forgotten, ForgottenProducer{partition, producer}) != forgotten.end();
    }
    [[nodiscard]] bool contains(ClientTopic topic) const { return std::ranges::find(topics, topic) != topics.end(); }
};

}  // namespace tidelock::checker
