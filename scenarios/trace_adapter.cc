#include "scenarios/trace_adapter.h"

#include <fmt/format.h>

#include "sim/world.h"

namespace tidelock::scenarios {

namespace {

constexpr std::string_view kCallPrefix = "call ";

std::string kind_of(const sim::TraceEntry& entry) {
    if (entry.kind == sim::TraceKind::kObservation) return "observation";
    if (entry.kind == sim::TraceKind::kFault) return "fault";
    if (entry.kind == sim::TraceKind::kNote && entry.text.starts_with(kCallPrefix)) return "call";
    return "event";
}

}  // namespace

std::string TraceAdapter::host_name(sim::HostId host) const {
    if (host == sim::kNoHost || world_ == nullptr) return "world";
    return world_->has_host(host) ? world_->host(host).name() : fmt::format("host-{}", host.value);
}

void TraceAdapter::on_entry(const sim::TraceEntry& entry) {
    TraceLine line{entry.at.value, host_name(entry.host), kind_of(entry), std::string(entry.text)};
    if (line.kind == "fault" && entry.host == sim::kNoHost) line.host = "nemesis";
    if (line.kind == "call") line.text.erase(0, kCallPrefix.size());
    if (line.kind == "event") {
        const std::string with = entry.peer == sim::kNoHost ? "" : fmt::format(" ({})", host_name(entry.peer));
        line.text = fmt::format("{}{}: {}", sim::text_of(entry.kind), with, entry.text);
    }
    sink_->line(line);
}

void TraceAdapter::violation(const Violation& violation) {
    if (sink_ == nullptr) return;
    sink_->line({violation.time_ns, "checker", "violation", violation.invariant + ": " + violation.message});
}

}  // namespace tidelock::scenarios
