/// Kinds of observations as numbers, for faults that wait until a broker is seen doing something.
#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

#include "protocol/broker/observation.h"

namespace tidelock::scenarios {

/// Where `Kind` stands among all observations; what Observation::index() gives for it.
template <typename Kind, std::size_t at = 0>
constexpr std::size_t observation_index() {
    if constexpr (std::is_same_v<Kind, std::variant_alternative_t<at, broker::Observation>>)
        return at;
    else
        return observation_index<Kind, at + 1>();
}

}  // namespace tidelock::scenarios
