/// Errors are values: a function that can fail on outside input returns Result.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace tidelock {

template <typename Value, typename Error>
using Result = tl::expected<Value, Error>;

template <typename Error>
using Failure = tl::unexpected<Error>;

/// Why some bytes could not be decoded: names the field and what was wrong with it.
struct DecodeError {
    std::string what;
    bool operator==(const DecodeError&) const = default;
};

inline Failure<DecodeError> decode_failure(std::string what) {
    return Failure<DecodeError>(DecodeError{std::move(what)});
}

}  // namespace tidelock
