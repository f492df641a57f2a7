// Failure and result files from anywhere: a value or an error, and what is a value is written and read back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reports/failure.h"
#include "reports/results_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto failure = tidelock::reports::failure_from_json(text)) {
        const auto again = tidelock::reports::failure_from_json(tidelock::reports::failure_to_json(*failure));
        if (!again || again->seed != failure->seed || again->violations.size() != failure->violations.size())
            std::abort();
    }
    if (const auto results = tidelock::reports::results_from_json(text)) {
        const auto again = tidelock::reports::results_from_json(tidelock::reports::results_to_json(*results));
        if (!again || again->scenarios.size() != results->scenarios.size()) std::abort();
    }
    return 0;
}
