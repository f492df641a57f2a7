// What workers send: read back equal, in whatever pieces the pipe hands it over, and never trusted.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rapidcheck.h>
#include <catch2/catch.hpp>

#include "tools/tidelock/trace_pipe.h"
#include "tools/tidelock/wire.h"

using namespace tidelock;
using namespace tidelock::tools;

namespace {

ScheduleReport sample() {
    ScheduleReport report;
    report.result.seed = UINT64_MAX;
    report.result.digest = 0x1234;
    report.result.events = 5;
    report.result.virtual_ns = -1;
    report.result.acked_records = 7;
    report.result.read_records = 8;
    report.result.peak_memory_bytes = 9;
    report.result.faults = {{"network.loss", 3}, {"", 0}};
    report.result.marks = {{"elected", 1}};
    report.result.violations = {{"acked-survival", 17, std::string("a\0b", 3)}};
    report.result.unsound = "why";
    report.result.skipped = {"one", "two"};
    report.wall_ns = 10;
    report.cpu_ns = 11;
    report.peak_rss_bytes = 12;
    report.plan_json = "{}";
    return report;
}

}  // namespace

TEST_CASE("a report comes back equal, byte by byte through the pipe") {
    const std::string frame = encode_report(sample());
    FrameReader reader;
    for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
        reader.add(frame.substr(i, 1));
        REQUIRE_FALSE(reader.next().has_value());
    }
    reader.add(frame.substr(frame.size() - 1) + frame);
    for (int i = 0; i < 2; ++i) {
        const std::optional<std::string> content = reader.next();
        REQUIRE(content.has_value());
        const std::optional<ScheduleReport> report = decode_report(*content);
        REQUIRE(report.has_value());
        REQUIRE(encode_report(*report) == frame);
        REQUIRE(report->result.violations == sample().result.violations);
        REQUIRE(report->result.faults == sample().result.faults);
        REQUIRE(report->result.skipped == sample().result.skipped);
    }
    REQUIRE_FALSE(reader.next().has_value());
}

TEST_CASE("no bytes are too broken to be refused") {
    const std::string content = encode_report(sample()).substr(4);
    for (std::size_t size = 0; size < content.size(); ++size) REQUIRE_FALSE(decode_report(content.substr(0, size)));
    REQUIRE_FALSE(decode_report(content + "x"));
    REQUIRE(rc::check([&] {
        std::string broken = content;
        broken[*rc::gen::inRange<std::size_t>(0, broken.size())] = *rc::gen::arbitrary<char>();
        decode_report(broken);
        decode_trace_line(*rc::gen::arbitrary<std::string>());
    }));
}

TEST_CASE("trace lines pass through a descriptor, long ones cut") {
    const int fd = ::memfd_create("trace", MFD_CLOEXEC);
    {
        TracePipe pipe(fd, false);
        for (int i = 0; i < 5'000; ++i) pipe.line({i, "broker-1", "event", std::string(100, 'x')});
        pipe.line({7, "world", "fault", std::string(100'000, 'y')});
    }
    ::lseek(fd, 0, SEEK_SET);
    FrameReader reader;
    char block[1000];
    for (ssize_t count = 0; (count = ::read(fd, block, sizeof block)) > 0;) {
        reader.add(std::string_view(block, static_cast<std::size_t>(count)));
    }
    ::close(fd);
    for (int i = 0; i < 5'000; ++i) {
        const auto line = decode_trace_line(reader.next().value_or(""));
        REQUIRE(line.has_value());
        REQUIRE(line->time_ns == i);
    }
    const auto cut = decode_trace_line(reader.next().value_or(""));
    REQUIRE(cut.has_value());
    REQUIRE(cut->text == std::string(32 * 1024, 'y'));
    REQUIRE_FALSE(reader.next().has_value());
}
