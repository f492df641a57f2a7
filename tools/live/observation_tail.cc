#include "tools/live/observation_tail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

namespace tidelock::live {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

/// Where the last whole record ends.
std::size_t whole_bytes(const std::vector<std::byte>& bytes) {
    std::size_t at = 0;
    std::uint32_t size = 0;
    while (bytes.size() - at >= sizeof size) {
        std::memcpy(&size, bytes.data() + at, sizeof size);
        if (bytes.size() - at - sizeof size < size) break;
        at += sizeof size + size;
    }
    return at;
}

}  // namespace

ObservationTail::~ObservationTail() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

ObservationTail::ObservationTail(ObservationTail&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      unread_(std::move(other.unread_)) {}

ObservationTail& ObservationTail::operator=(ObservationTail&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(unread_, other.unread_);
    return *this;
}

Result<std::vector<broker::ObservedAt>, std::string> ObservationTail::read_new() {
    if (descriptor_ < 0) descriptor_ = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) return std::vector<broker::ObservedAt>();  // the broker has not come so far
    std::array<std::byte, 16 << 10> buffer;
    std::size_t read = 0;
    while (read < kReadBytes) {
        const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
        if (count < 0) return Failure<std::string>(fmt::format("{}: cannot be read", file_));
        if (count == 0) break;
        unread_.insert(unread_.end(), buffer.begin(), buffer.begin() + count);
        read += static_cast<std::size_t>(count);
    }
    const std::size_t whole = whole_bytes(unread_);
    auto observed = broker::decode_observations(std::span(unread_).first(whole));
    if (!observed) return Failure<std::string>(fmt::format("{}: {}", file_, observed.error().what));
    unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(whole));
    return std::move(*observed);
}

}  // namespace tidelock::live
