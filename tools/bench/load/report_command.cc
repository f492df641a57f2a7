// report: one table of many results.
#include <fmt/format.h>

#include <fstream>

#include "tools/bench/load/commands.h"
#include "tools/bench/load/report.h"

namespace tidelock::load {

int report(const Options& options) {
    std::vector<Json> results;
    for (const std::string& file : options.files) {
        std::ifstream in(file);
        if (!in) return complain(file + " cannot be read", 2);
        Json result = Json::parse(in, nullptr, false);
        if (!result.is_object()) return complain(file + " is no result of this program", 2);
        results.push_back(std::move(result));
    }
    return publish(options, Json(results), to_table(results)) ? 0 : 1;
}

}  // namespace tidelock::load
