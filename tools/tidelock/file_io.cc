#include "tools/tidelock/file_io.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

namespace tidelock::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytesMax = std::size_t{256} << 20;
constexpr int kLinksMax = 40;

FileError file_error(std::string_view doing, const std::string& path, int error) {
    const std::string_view way_out = doing == "write" && error == ENOENT ? " (its directory has to be there)" : "";
    return fmt::format("cannot {} '{}': {}{}", doing, path, std::generic_category().message(error), way_out);
}

// The open descriptor that a path stands for. Replacing such a name, as is done with files, would take it from
// everybody.
std::optional<int> descriptor_of(std::string_view path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder)) continue;
        const std::string_view digits = path.substr(folder.size());
        int descriptor = -1;
        const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
        if (code == std::errc() && stop == digits.data() + digits.size()) return descriptor;
    }
    return std::nullopt;
}

// Where links lead, so that a link is written through and not replaced. A circle is returned as it is: opening it
// fails.
std::string link_target(const std::string& path) {
    fs::path target = path;
    std::error_code code;
    for (int links = 0; links < kLinksMax && !descriptor_of(target.native()); ++links) {
        if (!fs::is_symlink(target, code)) return target.string();
        const fs::path next = fs::read_symlink(target, code);
        if (code) return path;
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target.string();
}

bool is_special(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

FileError write_and_close(int fd, const std::string& path, std::string_view content) {
    const bool written = write_all(fd, content);
    const int write_error = errno;
    const bool closed = ::close(fd) == 0;
    if (!written) return file_error("write", path, write_error);
    if (!closed) return file_error("write", path, errno);
    return {};
}

FileError write_directly(const std::string& path, std::string_view content) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return file_error("write", path, errno);
    return write_and_close(fd, path, content);
}

std::string partial_name(const std::string& path) {
    return fmt::format("{}.partial-{}", path, ::getpid());
}

FileError write_descriptor(int fd, const std::string& path, std::string_view content) {
    return write_all(fd, content) ? FileError() : file_error("write", path, errno);
}

FileError check_writable_descriptor(int fd, const std::string& path) {
    const int flags = ::fcntl(fd, F_GETFL);
    const bool is_writable = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    return is_writable ? FileError() : file_error("write", path, EBADF);
}

// What a descriptor of a named pipe without a writer reads is its end, at once.
tl::unexpected<FileError> nothing_in_pipe(const std::string& path) {
    return tl::unexpected(fmt::format("cannot read '{}': it is a pipe that nobody writes to", path));
}

bool is_pipe(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) {
            // Whoever started us made the stream non-blocking.
            pollfd ready{fd, POLLOUT, 0};
            ::poll(&ready, 1, -1);
            continue;
        }
        if (count < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

tl::expected<std::string, FileError> read_file(const std::string& path) {
    // Opening a named pipe without O_NONBLOCK waits for a writer that may never come.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return tl::unexpected(file_error("read", path, errno));
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    const bool from_pipe = is_pipe(fd);
    std::string content;
    char block[64 * 1024];
    ssize_t count = 0;
    while (content.size() <= kReadBytesMax && (count = ::read(fd, block, sizeof block)) != 0) {
        if (count < 0 && errno != EINTR) break;
        if (count > 0) content.append(block, static_cast<std::size_t>(count));
    }
    const int error = errno;
    ::close(fd);
    if (count < 0) return tl::unexpected(file_error("read", path, error));
    if (content.size() > kReadBytesMax) {
        return tl::unexpected(fmt::format("cannot read '{}': it is larger than {} MiB", path, kReadBytesMax >> 20));
    }
    if (content.empty() && from_pipe) return nothing_in_pipe(path);
    return content;
}

FileError write_file(const std::string& path, std::string_view content) {
    const std::string target = link_target(path);
    if (const std::optional<int> fd = descriptor_of(target)) return write_descriptor(*fd, path, content);
    if (is_special(target)) return write_directly(target, content);
    const std::string partial = partial_name(target);
    const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return file_error("write", path, errno);
    FileError error = write_and_close(fd, path, content);
    if (error.empty() && ::rename(partial.c_str(), target.c_str()) != 0) error = file_error("write", path, errno);
    if (!error.empty()) ::unlink(partial.c_str());
    return error;
}

FileError check_writable_file(const std::string& path) {
    const std::string target = link_target(path);
    if (const std::optional<int> fd = descriptor_of(target)) return check_writable_descriptor(*fd, path);
    if (is_special(target)) {
        if (fs::is_directory(target)) return file_error("write", path, EISDIR);
        return ::access(target.c_str(), W_OK) == 0 ? FileError() : file_error("write", path, errno);
    }
    const std::string partial = partial_name(target);
    const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return file_error("write", path, errno);
    FileError error = write_and_close(fd, path, "?");
    ::unlink(partial.c_str());
    return error;
}

bool are_one_file(const std::string& a, const std::string& b) {
    const std::string target_a = link_target(a);
    const std::string target_b = link_target(b);
    if (descriptor_of(target_a) || is_special(target_a)) return false;
    std::error_code code;
    const fs::path whole_a = fs::weakly_canonical(target_a, code);
    return !code && whole_a == fs::weakly_canonical(target_b, code) && !code;
}

FileError prepare_directory(const std::string& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) return file_error("create directory", path, code.value());
    if (!fs::is_directory(path, code)) return file_error("write into", path, ENOTDIR);
    const FileError error = check_writable_file((fs::path(path) / "tidelock-probe").string());
    return error.empty() ? FileError() : fmt::format("cannot write into '{}' ({})", path, error);
}

}  // namespace tidelock::tools
