#include "tools/tidelock/wire.h"

#include <cstring>

#include "protocol/base/bytes.h"

namespace tidelock::tools {

namespace {

using Counts = std::vector<std::pair<std::string, std::int64_t>>;

constexpr std::size_t kLengthBytes = 4;

void write_counts(ByteWriter& out, const Counts& counts) {
    out.u32(static_cast<std::uint32_t>(counts.size()));
    for (const auto& [name, count] : counts) {
        out.string(name);
        out.i64(count);
    }
}

Counts read_counts(ByteReader& in) {
    Counts counts;
    const std::uint32_t size = in.count(kLengthBytes + sizeof(std::int64_t));
    for (std::uint32_t i = 0; i < size && !in.failed(); ++i) {
        std::string name = in.string();
        const std::int64_t count = in.i64();
        counts.emplace_back(std::move(name), count);
    }
    return counts;
}

void write_violations(ByteWriter& out, const std::vector<scenarios::Violation>& violations) {
    out.u32(static_cast<std::uint32_t>(violations.size()));
    for (const scenarios::Violation& violation : violations) {
        out.string(violation.invariant);
        out.i64(violation.time_ns);
        out.string(violation.message);
    }
}

std::vector<scenarios::Violation> read_violations(ByteReader& in) {
    std::vector<scenarios::Violation> violations;
    const std::uint32_t size = in.count(2 * kLengthBytes + sizeof(std::int64_t));
    for (std::uint32_t i = 0; i < size && !in.failed(); ++i) {
        scenarios::Violation violation;
        violation.invariant = in.string();
        violation.time_ns = in.i64();
        violation.message = in.string();
        violations.push_back(std::move(violation));
    }
    return violations;
}

void write_result(ByteWriter& out, const scenarios::ScheduleResult& result) {
    out.u64(result.seed);
    out.u64(result.digest);
    out.i64(result.events);
    out.i64(result.virtual_ns);
    out.i64(result.acked_records);
    out.i64(result.read_records);
    out.i64(result.peak_memory_bytes);
    write_counts(out, result.faults);
    write_counts(out, result.marks);
    write_violations(out, result.violations);
    out.string(result.unsound);
    out.u32(static_cast<std::uint32_t>(result.skipped.size()));
    for (const std::string& element : result.skipped) out.string(element);
}

scenarios::ScheduleResult read_result(ByteReader& in) {
    scenarios::ScheduleResult result;
    result.seed = in.u64();
    result.digest = in.u64();
    result.events = in.i64();
    result.virtual_ns = in.i64();
    result.acked_records = in.i64();
    result.read_records = in.i64();
    result.peak_memory_bytes = in.i64();
    result.faults = read_counts(in);
    result.marks = read_counts(in);
    result.violations = read_violations(in);
    result.unsound = in.string();
    const std::uint32_t skipped = in.count(kLengthBytes);
    for (std::uint32_t i = 0; i < skipped && !in.failed(); ++i) result.skipped.push_back(in.string());
    return result;
}

std::string frame_of(const ByteWriter& content) {
    ByteWriter length;
    length.u32(static_cast<std::uint32_t>(content.size()));
    std::string frame(length.take().text());
    frame.append(reinterpret_cast<const char*>(content.span().data()), content.size());
    return frame;
}

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

std::string encode_report(const ScheduleReport& report) {
    ByteWriter out;
    write_result(out, report.result);
    out.i64(report.wall_ns);
    out.i64(report.cpu_ns);
    out.i64(report.peak_rss_bytes);
    out.string(report.plan_json);
    return frame_of(out);
}

std::optional<ScheduleReport> decode_report(std::string_view content) {
    ByteReader in(bytes_of(content));
    ScheduleReport report;
    report.result = read_result(in);
    report.wall_ns = in.i64();
    report.cpu_ns = in.i64();
    report.peak_rss_bytes = in.i64();
    report.plan_json = in.string();
    if (!in.at_end()) return std::nullopt;
    return report;
}

std::optional<std::string> FrameReader::next() {
    if (buffer_.size() - start_ < kLengthBytes) return std::nullopt;
    std::uint32_t length = 0;
    std::memcpy(&length, buffer_.data() + start_, kLengthBytes);
    if (buffer_.size() - start_ - kLengthBytes < length) return std::nullopt;
    std::string content = buffer_.substr(start_ + kLengthBytes, length);
    start_ += kLengthBytes + length;
    // Moving the rest down only once it is the smaller half keeps the work linear in what was read.
    if (start_ * 2 >= buffer_.size()) {
        buffer_.erase(0, start_);
        start_ = 0;
    }
    return content;
}

std::optional<scenarios::TraceLine> decode_trace_line(std::string_view content) {
    ByteReader in(bytes_of(content));
    scenarios::TraceLine line;
    line.time_ns = in.i64();
    line.host = in.string();
    line.kind = in.string();
    line.text = in.string();
    if (!in.at_end()) return std::nullopt;
    return line;
}

}  // namespace tidelock::tools
