/// Numbers found by number in constant time, without unordered containers: iteration is impossible, so order cannot
/// show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidelock::checker {

/// Open addressing from a 64-bit key to a 32-bit number. A later insert of a key replaces the earlier one.
class HashIndex {
  public:
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t key) const;
    void put(std::uint64_t key, std::uint32_t number);
    void clear();

  private:
    struct Slot {
        std::uint64_t key;
        std::uint32_t number;
        bool used = false;
    };
    [[nodiscard]] std::size_t slot_of(std::uint64_t key) const;
    void grow();

    std::vector<Slot> slots_;  // a power of two, at most three quarters used
    std::size_t used_ = 0;
};

}  // namespace tidelock::checker
