#include "sim/trace.h"

#include <fmt/format.h>

#include <iterator>

namespace tidelock::sim {

std::string_view text_of(TraceKind kind) {
    switch (kind) {
        case TraceKind::kSend:
            return "send";
        case TraceKind::kDeliver:
            return "deliver";
        case TraceKind::kDrop:
            return "drop";
        case TraceKind::kConnection:
            return "connection";
        case TraceKind::kTimer:
            return "timer";
        case TraceKind::kDisk:
            return "disk";
        case TraceKind::kLifecycle:
            return "lifecycle";
        case TraceKind::kFault:
            return "fault";
        case TraceKind::kObservation:
            return "observation";
        case TraceKind::kNote:
            return "note";
    }
    return "?";
}

std::string line_of(const TraceEntry& entry) {
    std::string line = fmt::format("{:3d}.{:09d}", entry.at.value / 1'000'000'000, entry.at.value % 1'000'000'000);
    if (entry.host != kNoHost) fmt::format_to(std::back_inserter(line), " host {}", entry.host.value);
    if (entry.peer != kNoHost) {
        const std::string_view arrow = entry.kind == TraceKind::kSend ? "->" : "<-";
        fmt::format_to(std::back_inserter(line), " {} {}", arrow, entry.peer.value);
    }
    fmt::format_to(std::back_inserter(line), " {}", text_of(entry.kind));
    if (!entry.text.empty()) fmt::format_to(std::back_inserter(line), ": {}", entry.text);
    if (entry.flow != 0) fmt::format_to(std::back_inserter(line), " #{}", entry.flow);
    return line;
}

void TextTrace::on_entry(const TraceEntry& entry) {
    text_ += line_of(entry);
    text_ += '\n';
}

}  // namespace tidelock::sim
