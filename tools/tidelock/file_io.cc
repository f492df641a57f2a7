#include "tools/tidelock/file_io.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tidelock::tools {

namespace {

namespace fs = std::filesystem;

FileError file_error(std::string_view doing, const std::string& path, int error) {
    return fmt::format("cannot {} '{}': {}", doing, path, std::generic_category().message(error));
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

}  // namespace

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

tl::expected<std::string, FileError> read_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tl::unexpected(file_error("read", path, errno));
    std::string content;
    char block[64 * 1024];
    for (;;) {
        const ssize_t count = ::read(fd, block, sizeof block);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            const int error = errno;
            ::close(fd);
            if (count < 0) return tl::unexpected(file_error("read", path, error));
            return content;
        }
        content.append(block, static_cast<std::size_t>(count));
    }
}

FileError write_file(const std::string& path, std::string_view content) {
    if (is_special(path)) return write_directly(path, content);
    const std::string partial = partial_name(path);
    const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return file_error("write", path, errno);
    FileError error = write_and_close(fd, path, content);
    if (error.empty() && ::rename(partial.c_str(), path.c_str()) != 0) error = file_error("write", path, errno);
    if (!error.empty()) ::unlink(partial.c_str());
    return error;
}

FileError check_writable_file(const std::string& path) {
    if (is_special(path)) {
        if (fs::is_directory(path)) return file_error("write", path, EISDIR);
        return ::access(path.c_str(), W_OK) == 0 ? FileError() : file_error("write", path, errno);
    }
    const std::string partial = partial_name(path);
    const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return file_error("write", path, errno);
    FileError error = write_and_close(fd, path, "?");
    ::unlink(partial.c_str());
    return error;
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
