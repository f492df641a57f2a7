#include "tools/tidelockd/observation_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "protocol/broker/observation_wire.h"

namespace tidelock::tidelockd {

Result<ObservationLog, std::string> ObservationLog::open(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return Failure<std::string>(fmt::format("{}: {}", file, std::generic_category().message(errno)));
    return ObservationLog(descriptor);
}

ObservationLog::~ObservationLog() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

ObservationLog::ObservationLog(ObservationLog&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

ObservationLog& ObservationLog::operator=(ObservationLog&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

bool ObservationLog::write(const broker::Observation& observation) {
    if (descriptor_ < 0) return false;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    record_.clear();
    broker::encode({Instant(static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec), observation},
                   record_);
    const std::span<const std::byte> bytes = record_.span();
    ssize_t written = -1;
    do written = ::write(descriptor_, bytes.data(), bytes.size());
    while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(bytes.size())) return true;
    ::close(std::exchange(descriptor_, -1));
    return false;
}

}  // namespace tidelock::tidelockd
