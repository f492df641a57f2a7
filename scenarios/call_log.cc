#include "scenarios/call_log.h"

#include <algorithm>

#include "protocol/base/check.h"

namespace tidelock::scenarios {

namespace {

/// 1 and up, in order of first mention.
std::int32_t number_in(std::vector<std::string>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    const auto position = static_cast<std::int32_t>(found - names.begin());
    if (found == names.end()) names.emplace_back(name);
    return position + 1;
}

}  // namespace

void CallLog::begin(Lane lane, std::int64_t now_ns, decltype(checker::ClientCall::operation) operation) {
    if (is_closed_) return;
    const bool is_first = pending_
                              .emplace(lane, checker::ClientCall{lane.client, next_call_, now_ns, now_ns,
                                                                 checker::Outcome::kUnknown, std::move(operation)})
                              .second;
    CHECK(is_first);
    ++next_call_;
}

void CallLog::end(Lane lane, std::int64_t now_ns, checker::Outcome outcome) {
    if (is_closed_) return;
    const auto found = pending_.find(lane);
    CHECK(found != pending_.end());
    found->second.returned_ns = now_ns;
    found->second.outcome = outcome;
    sink_(found->second);
    pending_.erase(found);
}

void CallLog::end_all(std::int64_t now_ns) {
    while (!pending_.empty()) end(pending_.begin()->first, now_ns, checker::Outcome::kUnknown);
    is_closed_ = true;
}

checker::ClientTopic CallLog::topic_number(std::string_view name) {
    const std::size_t known = topics_.size();
    const checker::ClientTopic topic(number_in(topics_, name));
    if (topics_.size() > known) name_sink_(topic, topics_.back());
    return topic;
}

checker::ClientGroup CallLog::group_number(std::string_view name) {
    return checker::ClientGroup(number_in(groups_, name));
}

checker::GroupMember CallLog::member_number(std::string_view id) {
    return checker::GroupMember(number_in(members_, id));
}

checker::GroupInstance CallLog::instance_number(std::string_view name) {
    return checker::GroupInstance(number_in(instances_, name));
}

}  // namespace tidelock::scenarios
