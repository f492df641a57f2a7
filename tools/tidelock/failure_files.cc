#include "tools/tidelock/failure_files.h"

#include "reports/failure.h"
#include "tools/tidelock/build_id.h"
#include "tools/tidelock/file_io.h"

namespace tidelock::tools {

std::string FailureFiles::keep(const FailedSchedule& failed) {
    if (directory_.empty()) return {};
    reports::Failure failure;
    failure.scenario = failed.scenario;
    failure.seed = failed.seed;
    failure.violations = failed.violations;
    failure.digest = failed.digest;
    failure.build = build_id();
    failure.plan_json = failed.plan_json;
    const std::string path = directory_ + "/" + reports::failure_file_name(failure);
    const FileError error = write_file(path, reports::failure_to_json(failure));
    if (error.empty()) return path;
    if (error_.empty()) error_ = error;
    return {};
}

}  // namespace tidelock::tools
