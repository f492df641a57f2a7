/// One line of text for everything Raft: traces, tests, failure reports.
#pragma once

#include <string>

#include "protocol/raft/raft.h"

namespace tidelock::raft {

std::string to_text(const Message& message);
std::string to_text(const Event& event);
std::string to_text(const Effect& effect);
/// Role, term, vote, log and commit: `leader term=3 log=(0,7] commit=6`.
std::string to_text(const Node& node);

}  // namespace tidelock::raft
