#include "reports/junit.h"

#include <fmt/format.h>

#include <iterator>

namespace tidelock::reports {

namespace {

using Out = std::back_insert_iterator<std::string>;

double seconds_of(std::int64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

void write_failing_seed(Out out, const ScenarioRow& row, const Violation& violation) {
    fmt::format_to(out,
                   "    <testcase classname=\"{}\" name=\"seed {} {}\">\n"
                   "      <failure type=\"{}\" message=\"{}\">virtual time {} ns; replay: {}</failure>\n"
                   "    </testcase>\n",
                   xml_escaped(row.scenario), violation.seed, xml_escaped(violation.invariant),
                   xml_escaped(violation.invariant), xml_escaped(violation.message), violation.time_ns,
                   xml_escaped(violation.replay));
}

void write_unsound_seed(Out out, const ScenarioRow& row, const UnsoundRun& run) {
    fmt::format_to(out,
                   "    <testcase classname=\"{}\" name=\"seed {} unsound\">\n"
                   "      <error type=\"unsound\" message=\"{}\">replay: {}</error>\n"
                   "    </testcase>\n",
                   xml_escaped(row.scenario), run.seed, xml_escaped(run.why), xml_escaped(run.replay));
}

void write_suite(Out out, const ScenarioRow& row) {
    const std::size_t cases = 1 + row.violations.size() + row.unsound.size();
    fmt::format_to(out, "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n",
                   xml_escaped(row.scenario), cases, row.violations.size(), row.unsound.size(),
                   seconds_of(row.wall_ns));
    fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{} schedules, seeds {}..{}\" time=\"{:.3f}\"/>\n",
                   xml_escaped(row.scenario), row.schedules, row.first_seed, row.last_seed, seconds_of(row.wall_ns));
    for (const Violation& violation : row.violations) write_failing_seed(out, row, violation);
    for (const UnsoundRun& run : row.unsound) write_unsound_seed(out, row, run);
    fmt::format_to(out, "  </testsuite>\n");
}

void write_early_stop(Out out, const Results& results) {
    fmt::format_to(out,
                   "  <testsuite name=\"campaign\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\n"
                   "    <testcase classname=\"campaign\" name=\"complete\"><skipped message=\"stopped by {}\"/>"
                   "</testcase>\n  </testsuite>\n",
                   xml_escaped(results.stopped_by));
}

bool xml_can_hold(unsigned char c) {
    return c >= 0x20 || c == '\t' || c == '\n' || c == '\r';
}

// Length of the UTF-8 sequence that starts at `at`, 0 when there is none (overlong forms, surrogates and U+FFFE/F too).
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned lead = byte(at);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return follows(at + 1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned second = byte(at + 1);
        if (!follows(at + 1) || !follows(at + 2)) return 0;
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
        if (lead == 0xEF && second == 0xBF && byte(at + 2) >= 0xBE) return 0;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned second = byte(at + 1);
        if (!follows(at + 1) || !follows(at + 2) || !follows(at + 3)) return 0;
        if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
        return 4;
    }
    return 0;
}

std::string_view entity_of(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\n':
            return "&#10;";
        default:
            return {};
    }
}

}  // namespace

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text, i);
        if (length == 0 || !xml_can_hold(static_cast<unsigned char>(text[i]))) {
            out += "\xEF\xBF\xBD";
            ++i;
            continue;
        }
        const std::string_view entity = entity_of(text[i]);
        out += entity.empty() ? text.substr(i, length) : entity;
        i += length;
    }
    return out;
}

std::string results_to_junit(const Results& results) {
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    const Out out = std::back_inserter(text);
    const Totals totals = totals_of(results);
    const std::int64_t cases = static_cast<std::int64_t>(results.scenarios.size()) + totals.violations +
                               totals.unsound + (results.complete ? 0 : 1);
    fmt::format_to(out, "<testsuites name=\"tidelock\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n",
                   cases, totals.violations, totals.unsound, seconds_of(results.elapsed_ns));
    for (const ScenarioRow& row : results.scenarios) write_suite(out, row);
    if (!results.complete) write_early_stop(out, results);
    fmt::format_to(out, "</testsuites>\n");
    return text;
}

}  // namespace tidelock::reports
