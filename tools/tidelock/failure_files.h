/// Keeps each failing schedule as a file, as soon as it is found.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tidelock/campaign.h"

namespace tidelock::tools {

class FailureFiles {
  public:
    /// Into `directory`; nowhere when it is empty.
    explicit FailureFiles(std::string directory) : directory_(std::move(directory)) {}

    /// The file's path; empty when none was to be written or it could not be (see `error`).
    std::string keep(const FailedSchedule& failure);
    /// The first thing that went wrong, or empty.
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    std::string directory_;
    std::string error_;
};

}  // namespace tidelock::tools
