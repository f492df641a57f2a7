#include "checker/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidelock::checker {
namespace {

bool is_given_up(const FinalView& view, BrokerId wanted) {
    return std::any_of(view.brokers.begin(), view.brokers.end(),
                       [wanted](const FinalBroker& broker) { return broker.broker == wanted && broker.is_given_up; });
}

void expect_brokers(const FinalView& view, std::vector<std::string>& unmet) {
    for (const FinalBroker& broker : view.brokers) {
        if (broker.running || broker.is_given_up) continue;
        const std::string why = broker.refused.empty() ? "" : fmt::format(": it refused to start: {}", broker.refused);
        unmet.push_back(fmt::format("broker {} is not running{}", broker.broker.value, why));
    }
}

/// The set names data that the broker has lost since (I10).
bool is_former_life(const FinalView& view, const Replica& replica) {
    return std::any_of(view.brokers.begin(), view.brokers.end(), [&](const FinalBroker& broker) {
        return broker.broker == replica.broker && broker.data_incarnation != Incarnation(0) &&
               broker.data_incarnation != replica.incarnation;
    });
}

void expect_full_set(const Settings& settings, const FinalView& view, std::vector<std::string>& unmet) {
    std::string members;
    for (const Replica& member : view.in_sync_replicas) {
        members += fmt::format("{}{}", members.empty() ? "" : ", ", member.broker.value);
    }
    for (const BrokerId member : settings.members) {
        if (is_given_up(view, member)) continue;
        const auto found = std::find_if(view.in_sync_replicas.begin(), view.in_sync_replicas.end(),
                                        [&](const Replica& replica) { return replica.broker == member; });
        if (found == view.in_sync_replicas.end()) {
            unmet.push_back(fmt::format("in-sync set {{{}}} lacks broker {}", members, member.value));
        } else if (is_former_life(view, *found)) {
            unmet.push_back(fmt::format("in-sync set {{{}}} names a former life of broker {}", members, member.value));
        }
    }
}

void expect_level_copies(const Settings& settings, const FinalView& view, const FinalPartition& partition,
                         std::vector<std::string>& unmet) {
    const std::string name = fmt::format("partition {}-{}", partition.topic_name, partition.partition.partition.value);
    const FinalCopy* leader = nullptr;
    for (const FinalCopy& copy : partition.copies) {
        if (view.leader == copy.broker) leader = &copy;
    }
    if (leader == nullptr) {
        if (view.leader) unmet.push_back(fmt::format("{}: leader {} has no copy", name, view.leader->value));
        return;
    }
    if (leader->high_watermark < leader->log_end_offset) {
        unmet.push_back(fmt::format("{}: high watermark {} < log end {} at leader {}", name,
                                    leader->high_watermark.value, leader->log_end_offset.value, leader->broker.value));
    }
    for (const BrokerId member : settings.members) {
        if (is_given_up(view, member)) continue;
        const auto copy = std::find_if(partition.copies.begin(), partition.copies.end(),
                                       [&](const FinalCopy& c) { return c.broker == member; });
        if (copy == partition.copies.end()) {
            unmet.push_back(fmt::format("{}: broker {} has no copy", name, member.value));
        } else if (copy->log_end_offset != leader->log_end_offset) {
            unmet.push_back(fmt::format("{}: broker {} ends at {}, leader {} at {}", name, member.value,
                                        copy->log_end_offset.value, leader->broker.value,
                                        leader->log_end_offset.value));
        } else if (copy->high_watermark != leader->high_watermark) {
            unmet.push_back(fmt::format("{}: broker {} knows the high watermark {}, leader {} has {}", name,
                                        member.value, copy->high_watermark.value, leader->broker.value,
                                        leader->high_watermark.value));
        } else if (copy->log_start_offset < leader->log_start_offset) {  // one that led before may have moved it on
            unmet.push_back(fmt::format("{}: broker {} starts at {}, leader {} at {}", name, member.value,
                                        copy->log_start_offset.value, leader->broker.value,
                                        leader->log_start_offset.value));
        }
    }
    if (!partition.writable) unmet.push_back(fmt::format("{}: no produce with acks=all was acknowledged", name));
}

}  // namespace

std::vector<std::string> unmet_expectations(const Settings& settings, const FinalView& view) {
    std::vector<std::string> unmet;
    expect_brokers(view, unmet);
    if (!view.leader) unmet.emplace_back("no leader serves");
    if (view.leader) expect_full_set(settings, view, unmet);
    for (const FinalPartition& partition : view.partitions) expect_level_copies(settings, view, partition, unmet);
    for (const FinalConsumer& consumer : view.consumers) {
        if (consumer.position >= consumer.log_end_offset) continue;
        unmet.push_back(fmt::format("{} stopped at {} of {}", consumer.name, consumer.position.value,
                                    consumer.log_end_offset.value));
    }
    unmet.insert(unmet.end(), view.overdue_upkeep.begin(), view.overdue_upkeep.end());
    for (const FinalRead& read : view.reads) {
        if (read.complete) continue;
        unmet.push_back(fmt::format("the last read of topic {} partition {} did not reach the end",
                                    read.partition.topic.value, read.partition.partition.value));
    }
    if (unmet.empty() && !view.is_everything_read) unmet.emplace_back("the topics cannot be listed");
    return unmet;
}

}  // namespace tidelock::checker
