#include "sim/rng.h"

#include <bit>

namespace tidelock::sim {

std::uint64_t scaled_exponential(std::uint64_t number, std::uint64_t mean) {
    // -log2(u) for u in (0, 1]: the leading zeros are its whole part, the bits behind the first one its fraction, read
    // linearly. Times ln 2 in 1/2^16 (45,426) that is -ln(u).
    const std::uint64_t nonzero = number | 1;
    const int zeros = std::countl_zero(nonzero);
    const std::uint64_t behind_first_one = zeros == 63 ? 0 : (nonzero << (zeros + 1)) >> 48;
    const std::uint64_t minus_log2 = (static_cast<std::uint64_t>(zeros) << 16) + (0xFFFF - behind_first_one);
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(mean) * minus_log2 * 45'426) >> 32);
}

Rng::Rng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
        seed = scrambled(seed);
        word = seed;
    }
}

}  // namespace tidelock::sim
