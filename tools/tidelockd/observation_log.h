/// Everything the broker is seen doing, appended to a file as it happens (protocol/broker/observation_wire.h). Each
/// record is written at once: what a killed process had done before it died is there.
#pragma once

#include <string>

#include "protocol/base/bytes.h"
#include "protocol/base/result.h"
#include "protocol/broker/observation.h"

namespace tidelock::tidelockd {

class ObservationLog {
  public:
    /// The error names the file.
    static Result<ObservationLog, std::string> open(const std::string& file);
    ~ObservationLog();
    ObservationLog(ObservationLog&& other) noexcept;
    ObservationLog& operator=(ObservationLog&& other) noexcept;

    /// False: it cannot be written, and the log ends here. A broker that went on would be accused of what is not in it.
    [[nodiscard]] bool write(const broker::Observation& observation);

  private:
    explicit ObservationLog(int descriptor) : descriptor_(descriptor) {}

    int descriptor_ = -1;
    ByteWriter record_;
};

}  // namespace tidelock::tidelockd
