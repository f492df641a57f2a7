/// Shows how a campaign comes along: a bar on a terminal, a plain line every few seconds elsewhere. On standard error.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tidelock/campaign.h"

namespace tidelock::tools {

class ProgressDisplay {
  public:
    /// Finds out by itself whether standard error is a terminal.
    ProgressDisplay();
    void show(const CampaignProgress& progress);
    /// Takes the bar away, so that what is printed next starts on a clean line.
    void clear();

  private:
    bool terminal_;
    bool shown_ = false;
    std::int64_t last_shown_ns_ = 0;
};

/// "4,500 of 10,000 schedules (45 %), 142/s, 38 s to go, 0 violations".
std::string progress_text(const CampaignProgress& progress);
/// Thousandths of the way, 0 to 1000, by schedules or by time, whichever is further.
std::int64_t progress_permille(const CampaignProgress& progress);

}  // namespace tidelock::tools
