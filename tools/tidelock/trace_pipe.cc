#include "tools/tidelock/trace_pipe.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tools/tidelock/file_io.h"

namespace tidelock::tools {

namespace {

constexpr std::size_t kWordMax = 256;
constexpr std::size_t kTextMax = 32 * 1024;
constexpr std::size_t kNumberBytes = sizeof(std::uint32_t);

}  // namespace

void TracePipe::line(const scenarios::TraceLine& line) {
    const std::string_view host = std::string_view(line.host).substr(0, kWordMax);
    const std::string_view kind = std::string_view(line.kind).substr(0, kWordMax);
    const std::string_view text = std::string_view(line.text).substr(0, kTextMax);
    const std::size_t content = sizeof line.time_ns + 3 * kNumberBytes + host.size() + kind.size() + text.size();
    if (used_ + kNumberBytes + content > kBufferBytes) flush();
    put_number(content);
    put(&line.time_ns, sizeof line.time_ns);
    put_text(host);
    put_text(kind);
    put_text(text);
    if (promptly_) flush();
}

void TracePipe::flush() {
    write_all(fd_, std::string_view(buffer_, used_));
    used_ = 0;
}

void TracePipe::put(const void* bytes, std::size_t size) {
    std::memcpy(buffer_ + used_, bytes, size);
    used_ += size;
}

void TracePipe::put_number(std::size_t number) {
    const auto narrow = static_cast<std::uint32_t>(number);
    put(&narrow, sizeof narrow);
}

void TracePipe::put_text(std::string_view text) {
    put_number(text.size());
    put(text.data(), text.size());
}

}  // namespace tidelock::tools
