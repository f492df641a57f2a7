#include "tools/bench/load/report.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace tidelock::load {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

/// 1.234 ms.
std::string milliseconds(std::int64_t ns) {
    return fmt::format("{}.{:03}", ns / 1'000'000, ns / 1'000 % 1'000);
}

std::int64_t number(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_number() ? at->get<std::int64_t>() : 0;
}
std::string note(const Json& json, const char* key) {
    const auto notes = json.find("notes");
    if (notes == json.end() || !notes->is_object()) return {};
    const auto at = notes->find(key);
    return at != notes->end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::string latency_text(const Json& latency) {
    return fmt::format("p50 {} ms, p99 {} ms, p99.9 {} ms, longest {} ms", milliseconds(number(latency, "p50_ns")),
                       milliseconds(number(latency, "p99_ns")), milliseconds(number(latency, "p999_ns")),
                       milliseconds(number(latency, "max_ns")));
}

/// A cell; "-" when the result has no such figure.
std::string cell(const Json& json, const char* key) {
    return json.contains(key) ? std::to_string(number(json, key)) : "-";
}
std::string latency_cell(const Json& result, const char* key) {
    return result.contains("latency") ? milliseconds(number(result["latency"], key)) : "-";
}

std::vector<std::string> row_of(const Json& result) {
    const std::string name = note(result, "name");
    return {name.empty() ? result.value("system", "?") : name,
            note(result, "load"),
            cell(result, "records_per_second"),
            cell(result, "megabytes_per_second"),
            latency_cell(result, "p50_ns"),
            latency_cell(result, "p99_ns"),
            latency_cell(result, "p999_ns"),
            result.contains("silence_ns") ? milliseconds(number(result, "silence_ns")) : "-",
            cell(result, "acknowledged"),
            cell(result, "lost"),
            cell(result, "duplicates"),
            note(result, "rss_mb").empty() ? "-" : note(result, "rss_mb")};
}

}  // namespace

Json describe(const Options& options) {
    Json result;
    constexpr const char* kNames[] = {"produce", "consume", "failover", "report"};
    result["command"] = kNames[static_cast<std::size_t>(options.command)];
    result["system"] = std::string(name_of(options.system));
    result["record_bytes"] = options.record_bytes;
    if (options.command != Command::kConsume) {
        result["in_flight"] = options.in_flight;
        result["batch_records_max"] = options.batch_records();
        result["acks"] = options.acks == -1 ? "all" : std::to_string(options.acks);
        result["is_idempotent"] = options.is_idempotent;
    }
    result["notes"] = options.notes;
    return result;
}

Json to_json(const Histogram& latency) {
    return {{"count", latency.count()},
            {"mean_ns", latency.mean_ns()},
            {"p50_ns", latency.percentile_ns({1, 2})},
            {"p90_ns", latency.percentile_ns({9, 10})},
            {"p99_ns", latency.percentile_ns({99, 100})},
            {"p999_ns", latency.percentile_ns({999, 1000})},
            {"max_ns", latency.max_ns()}};
}

void add_rates(Json& result, std::uint64_t records, std::uint32_t record_bytes, std::int64_t took_ns) {
    const std::uint64_t per_second = took_ns <= 0 ? 0 : records * kSecondNs / static_cast<std::uint64_t>(took_ns);
    result["measured_records"] = records;
    result["measured_ns"] = took_ns;
    result["records_per_second"] = per_second;
    result["megabytes_per_second"] = per_second * record_bytes / 1'000'000;
}

std::string to_text(const Json& result) {
    std::string text =
        fmt::format("{} on {}: {} records/s, {} MB/s ({} records of {} bytes in {} s)\n", result.value("command", "?"),
                    result.value("system", "?"), number(result, "records_per_second"),
                    number(result, "megabytes_per_second"), number(result, "measured_records"),
                    number(result, "record_bytes"), milliseconds(number(result, "measured_ns") / 1'000));
    if (result.contains("latency")) text += fmt::format("latency: {}\n", latency_text(result["latency"]));
    if (result.contains("acknowledged"))
        text += fmt::format("sent {}, acknowledged {}, given up {}\n", number(result, "sent"),
                            number(result, "acknowledged"), number(result, "given_up"));
    if (result.contains("silence_ns"))
        text += fmt::format("failover: nothing acknowledged for {} ms around the kill, {} reconnects\n",
                            milliseconds(number(result, "silence_ns")), number(result, "reconnects"));
    if (result.contains("lost"))
        text += fmt::format("read back: {} lost, {} not where they were promised, {} twice\n", number(result, "lost"),
                            number(result, "misplaced"), number(result, "duplicates"));
    return text;
}

std::string to_table(const std::vector<Json>& results) {
    std::vector<std::vector<std::string>> rows = {{"system", "load", "records/s", "MB/s", "p50 ms", "p99 ms",
                                                   "p99.9 ms", "silence ms", "acked", "lost", "twice", "RSS MB"}};
    for (const Json& result : results) rows.push_back(row_of(result));
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += i < 2 ? fmt::format("{:<{}}  ", row[i], widths[i]) : fmt::format("{:>{}}  ", row[i], widths[i]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

bool publish(const Options& options, const Json& result, const std::string& text) {
    const bool is_piped = options.json_file == "-";
    fmt::print(is_piped ? stderr : stdout, "{}", text);
    const std::string json = result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (is_piped) fmt::print("{}", json);
    if (is_piped || options.json_file.empty()) return true;
    std::ofstream out(options.json_file);
    out << json;
    out.close();
    if (!out) fmt::print(stderr, "tidelock_load: {} cannot be written\n", options.json_file);
    return static_cast<bool>(out);
}

}  // namespace tidelock::load
