/// A failure file: everything that is needed to run one failing schedule again, now or after the code has changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "reports/results.h"

namespace tidelock::reports {

struct Failure {
    std::string scenario;
    std::uint64_t seed = 0;
    std::vector<Violation> violations;  // at least one; the first names the file
    std::uint64_t digest = 0;           // of the whole schedule; 0 after a crash, which leaves none
    std::string build;
    std::string plan_json;  // the plan as JSON text; empty when the plan itself could not be made
    bool operator==(const Failure&) const = default;
};

/// The whole file, ending in a newline.
std::string failure_to_json(const Failure& failure);

/// Any text gives a failure or an error that names the key's path. The plan's content is not looked into.
tl::expected<Failure, std::string> failure_from_json(std::string_view text);

/// "group-failover-42-acked-survival.json": letters, digits, dots and dashes only.
std::string failure_file_name(const Failure& failure);

}  // namespace tidelock::reports
