/// A map kept as a sorted vector: small, ordered by key, copied and compared as a value.
#pragma once

#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <vector>

namespace tidelock {

template <typename Key, typename Value>
using FlatMap = boost::container::flat_map<Key, Value>;

template <typename Value, std::size_t N>
using SmallVector = boost::container::small_vector<Value, N>;

}  // namespace tidelock
