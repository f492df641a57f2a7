#include "checker/hash_index.h"

#include <utility>

namespace tidelock::checker {

std::size_t HashIndex::slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((key * 0x9E37'79B9'7F4A'7C15ULL) >> 20) & mask;
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & mask;
    return at;
}

std::optional<std::uint32_t> HashIndex::find(std::uint64_t key) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[slot_of(key)];
    if (!slot.used) return std::nullopt;
    return slot.number;
}

void HashIndex::put(std::uint64_t key, std::uint32_t number) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = slots_[slot_of(key)];
    if (!slot.used) ++used_;
    slot = Slot{key, number, true};
}

void HashIndex::clear() {
    slots_.clear();
    used_ = 0;
}

void HashIndex::grow() {
    const std::size_t size = slots_.empty() ? 64 : slots_.size() * 2;
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size, Slot{}));
    for (const Slot& slot : old) {
        if (slot.used) slots_[slot_of(slot.key)] = slot;
    }
}

}  // namespace tidelock::checker
