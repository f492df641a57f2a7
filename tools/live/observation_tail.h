/// Follows the observations that one life of a broker writes into a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/broker/observation_wire.h"

namespace tidelock::live {

class ObservationTail {
  public:
    explicit ObservationTail(std::string file) : file_(std::move(file)) {}
    ~ObservationTail();
    ObservationTail(ObservationTail&& other) noexcept;
    ObservationTail& operator=(ObservationTail&& other) noexcept;

    /// What was written since, whole records only. The error names the file.
    Result<std::vector<broker::ObservedAt>, std::string> read_new();

  private:
    std::string file_;
    int descriptor_ = -1;
    std::vector<std::byte> unread_;
};

}  // namespace tidelock::live
