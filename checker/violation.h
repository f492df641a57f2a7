/// Where invariants report to: what did not hold, when, and why that is wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checker/catalogue.h"

namespace tidelock::checker {

/// An invariant that did not hold.
struct Violation {
    InvariantId invariant;
    std::int64_t time_ns;  // virtual
    std::string message;   // who, which offsets, what was expected, by which rule
    bool operator==(const Violation&) const = default;
};

/// Keeps the first few violations of each invariant (a broken run breaks the same rule again and again) and counts all.
class ViolationLog {
  public:
    /// True while a report of this invariant would still be kept: ask before building a costly message.
    [[nodiscard]] bool wants(InvariantId invariant) const;
    void report(InvariantId invariant, std::int64_t time_ns, std::string message);

    [[nodiscard]] const std::vector<Violation>& all() const { return kept_; }
    [[nodiscard]] std::int64_t count_of(InvariantId invariant) const;

  private:
    static constexpr std::size_t kInvariants = 16;
    static constexpr std::int64_t kKeptMax = 4;  // of one invariant

    std::vector<Violation> kept_;
    std::array<std::int64_t, kInvariants> counts_{};
};

}  // namespace tidelock::checker
