/// Planned faults as lines of text: `pause at=1000 lasts=500 hosts=2`.
#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "sim/plan.h"

namespace tidelock::sim {
namespace {

std::string list_of(const std::vector<HostId>& hosts) {
    std::string list;
    for (const HostId host : hosts)
        fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ",", host.value);
    return list;
}

template <typename Int>
bool parse(std::string_view text, Int& number) {
    const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool parse(std::string_view text, std::vector<HostId>& hosts) {
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        HostId host;
        if (!parse(text.substr(0, comma), host.value)) return false;
        hosts.push_back(host);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return !hosts.empty();
}

bool parse_field(std::string_view key, std::string_view value, PlannedFault& fault) {
    if (key == "at") return parse(value, fault.at.value);
    if (key == "lasts") return parse(value, fault.lasts.value);
    if (key == "hosts") return parse(value, fault.hosts);
    if (key == "peers") return parse(value, fault.peers);
    if (key == "amount") return parse(value, fault.amount);
    if (key == "position") return parse(value, fault.position);
    if (key != "file") return false;
    fault.file = value;
    return true;
}

std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

}  // namespace

std::string text_of(const PlannedFault& fault) {
    std::string line = fmt::format("{} at={}", text_of(fault.fault), fault.at.value);
    const auto out = std::back_inserter(line);
    if (fault.lasts.value != 0) fmt::format_to(out, " lasts={}", fault.lasts.value);
    if (!fault.hosts.empty()) fmt::format_to(out, " hosts={}", list_of(fault.hosts));
    if (!fault.peers.empty()) fmt::format_to(out, " peers={}", list_of(fault.peers));
    if (fault.amount != 0) fmt::format_to(out, " amount={}", fault.amount);
    if (!fault.file.empty()) fmt::format_to(out, " file={}", fault.file);
    if (fault.position != 0) fmt::format_to(out, " position={}", fault.position);
    return line;
}

Result<PlannedFault, DecodeError> planned_fault_from(std::string_view text) {
    PlannedFault fault;
    const std::string_view name = next_word(text);
    const std::optional<FaultKind> kind = fault_kind_named(name);
    if (!kind) return decode_failure(fmt::format("no fault is called '{}'", name));
    fault.fault = *kind;
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        const std::size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals);
        if (equals == std::string_view::npos || !parse_field(key, word.substr(equals + 1), fault))
            return decode_failure(fmt::format("fault field '{}' is unknown or has no such value", word));
    }
    return fault;
}

}  // namespace tidelock::sim
