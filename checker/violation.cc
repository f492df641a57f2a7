#include "checker/violation.h"

#include <utility>

namespace tidelock::checker {

bool ViolationLog::wants(InvariantId invariant) const {
    return count_of(invariant) < kKeptMax;
}

void ViolationLog::report(InvariantId invariant, std::int64_t time_ns, std::string message) {
    if (wants(invariant)) kept_.push_back(Violation{invariant, time_ns, std::move(message)});
    ++counts_[static_cast<std::size_t>(invariant)];
}

std::int64_t ViolationLog::count_of(InvariantId invariant) const {
    return counts_[static_cast<std::size_t>(invariant)];
}

}  // namespace tidelock::checker
