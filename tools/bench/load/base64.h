/// Bytes as the JSON of NATS and etcd carries them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidelock::load {

std::string to_base64(std::span<const std::byte> bytes);
/// Empty: it is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace tidelock::load
