/// What a run has found, as text for people and as JSON, and one table of many such results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/load/histogram.h"
#include "tools/bench/load/options.h"

namespace tidelock::load {

using Json = nlohmann::ordered_json;

/// Command, system, sizes and notes: what the figures belong to.
Json describe(const Options& options);
/// Count, mean, percentiles and maximum, in nanoseconds.
Json to_json(const Histogram& latency);
/// Records/s and MB/s (10^6 bytes) of values, as integers.
void add_rates(Json& result, std::uint64_t records, std::uint32_t record_bytes, std::int64_t took_ns);

/// Lines for people.
std::string to_text(const Json& result);
/// A row for each result, in their order.
std::string to_table(const std::vector<Json>& results);

/// Prints the result, and writes it where `json_file` says. False: that could not be written, and why was said.
bool publish(const Options& options, const Json& result, const std::string& text);

}  // namespace tidelock::load
