#include "tools/tidelockd/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "protocol/storage/segment_log.h"
#include "tools/tidelockd/mapped_file.h"

namespace tidelock::tidelockd {
namespace {

constexpr const char* kLockFile = "lock";
constexpr const char* kFormatFile = "format";
constexpr const char* kSetAside = "set-aside";
constexpr std::string_view kFormatWord = "tidelock data format ";
constexpr int kFormat = 1;
constexpr std::size_t kReadAtOnce = 1 << 20;
constexpr std::size_t kMapFrom = 64 << 10;  // what is smaller is read as fast as it is mapped

std::string why(int error) {
    return std::strerror(error);
}

Failure<std::string> refuse(std::string text) {
    return Failure<std::string>(std::move(text));
}

/// The medium itself has lost what was there. Anything else (permissions, too few descriptors) is for an operator to
/// mend, and says nothing about the data.
bool is_of_medium(int error) {
    return error == EIO || error == EUCLEAN || error == EBADMSG || error == ENODATA;
}

/// One that the broker made, by its name; what else is in folders is somebody else's, and is left alone.
bool is_partition_file(const std::string& name) {
    return storage::parse_partition_file(name).has_value();
}

bool is_ours(const std::string& name) {
    return name != kLockFile && name != kFormatFile && name != kSetAside && name != "lost+found";
}

Result<Bytes, int> read_all(int file) {
    ByteWriter content;
    std::vector<std::byte> part(kReadAtOnce);
    int error = 0;
    for (;;) {
        const ssize_t count = ::read(file, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) error = errno;
        if (count <= 0) break;
        content.raw(std::span(part).first(static_cast<std::size_t>(count)));
    }
    if (error != 0) return Failure<int>(error);
    return content.take();
}

int open_file(int directory, const std::string& name) {
    return ::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

Result<Bytes, int> read_file(int directory, const std::string& name) {
    const int file = open_file(directory, name);
    if (file < 0) return Failure<int>(errno);
    auto content = read_all(file);
    ::close(file);
    return content;
}

/// Records may be many times the memory: they are mapped, where the file system can.
Result<Bytes, int> map_records(int directory, const std::string& name) {
    const int file = open_file(directory, name);
    if (file < 0) return Failure<int>(errno);
    struct stat about = {};
    const bool is_large = ::fstat(file, &about) == 0 && static_cast<std::size_t>(about.st_size) >= kMapFrom;
    Result<Bytes, int> content = Failure<int>(ENODEV);
    if (is_large) content = map_file(file, static_cast<std::size_t>(about.st_size), name);
    if (!content && content.error() == ENODEV) content = read_all(file);
    ::close(file);
    return content;
}

bool write_format(int directory) {
    const std::string text = fmt::format("{}{}\n", kFormatWord, kFormat);
    const int file = ::openat(directory, "format.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return false;
    const bool is_written =
        ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
    ::close(file);
    return is_written && ::renameat(directory, "format.new", directory, kFormatFile) == 0 && ::fsync(directory) == 0;
}

/// The names in the directory and one level below.
Result<std::vector<std::string>, std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        std::error_code inner;
        const bool is_folder = at->is_directory(inner) && is_ours(name);
        if (!is_folder) names.push_back(name);
        if (is_folder)
            for (std::filesystem::directory_iterator in(at->path(), inner); !inner && in != end; in.increment(inner))
                names.push_back(name + "/" + in->path().filename().string());
        if (inner) return refuse(fmt::format("{}: {}", name, inner.message()));
    }
    if (error) return refuse(error.message());
    std::ranges::sort(names);
    return names;
}

bool sync_folder(const std::filesystem::path& path) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno == EACCES;  // one that was there before: not ours to look into
    const bool is_synced = ::fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP;  // some file systems cannot
    ::close(folder);
    return is_synced;
}

/// Makes the directory and those above it, so that they are there after a power loss too. Empty: done.
std::string make_durably(const std::string& path) {
    std::filesystem::path made = std::filesystem::absolute(path).lexically_normal();
    if (!made.has_filename()) made = made.parent_path();  // "data/"
    std::vector<std::filesystem::path> parents{made.parent_path()};
    std::error_code error;
    while (!std::filesystem::exists(parents.back(), error) && parents.back().has_relative_path())
        parents.push_back(parents.back().parent_path());
    std::filesystem::create_directories(made, error);
    if (error) return fmt::format("data directory {} cannot be made: {}", path, error.message());
    for (const std::filesystem::path& parent : parents)
        if (!sync_folder(parent)) return fmt::format("{} cannot be synced: {}", parent.string(), why(errno));
    return {};
}

/// What lies in the directory itself and is the core's, the identity first.
Result<std::vector<std::string>, std::string> entries_to_set_aside(const std::string& path) {
    std::vector<std::string> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
        if (std::string name = at->path().filename().string(); is_ours(name) && name != "format.new")
            entries.push_back(std::move(name));
    if (error) return refuse(fmt::format("data directory {} cannot be listed: {}", path, error.message()));
    std::ranges::sort(entries, {},
                      [](const std::string& name) { return std::pair(!name.starts_with("identity"), name); });
    return entries;
}

/// Empty: the format is there and ours, or the directory is empty and has got it.
std::string check_format(const std::string& path, int directory) {
    const auto format = read_file(directory, kFormatFile);
    if (!format && format.error() != ENOENT)
        return fmt::format("{}/{} cannot be read: {}", path, kFormatFile, why(format.error()));
    if (!format) {
        const auto names = names_in(path);
        if (!names) return fmt::format("{} cannot be listed: {}", path, names.error());
        const bool is_empty = std::none_of(names->begin(), names->end(), [](const std::string& name) {
            return is_ours(name) && name != "format.new";
        });
        if (!is_empty)
            return fmt::format(
                "{} holds files and is no data directory of tidelockd: give it an empty one, or one of "
                "its own",
                path);
        if (!write_format(directory)) return fmt::format("{} cannot be written: {}", path, why(errno));
        return {};
    }
    const std::string_view text = format->text();
    int number = 0;
    const bool is_format =
        text.starts_with(kFormatWord) &&
        std::from_chars(text.data() + kFormatWord.size(), text.data() + text.size(), number).ec == std::errc{};
    if (!is_format)
        return fmt::format("{}/{} is not what tidelockd writes there: is this its directory?", path, kFormatFile);
    if (number > kFormat)
        return fmt::format("{} has data format {}, this build reads up to {}: run a newer tidelockd", path, number,
                           kFormat);
    return {};
}

}  // namespace

Result<DataDirectory, std::string> DataDirectory::open(const std::string& path) {
    if (const std::string complaint = make_durably(path); !complaint.empty()) return refuse(complaint);
    const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return refuse(fmt::format("data directory {} cannot be opened: {}", path, why(errno)));
    const int lock = ::openat(directory, kLockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock < 0) {
        const int reason = errno;
        ::close(directory);
        return refuse(fmt::format("{}/{} cannot be made: {}", path, kLockFile, why(reason)));
    }
    DataDirectory opened(path, directory, lock);
    int locked = -1;
    do locked = ::flock(lock, LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    if (locked != 0 && errno == EWOULDBLOCK)
        return refuse(fmt::format("data directory {} is in use by another tidelockd; stop that one first", path));
    if (locked != 0) return refuse(fmt::format("{}/{} cannot be locked: {}", path, kLockFile, why(errno)));
    if (std::string complaint = check_format(path, directory); !complaint.empty()) return refuse(std::move(complaint));
    return opened;
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      directory_(std::exchange(other.directory_, -1)),
      lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
    if (lock_ >= 0) ::close(lock_);
    if (directory_ >= 0) ::close(directory_);
}

Result<DirectoryContent, std::string> DataDirectory::read() const {
    DirectoryContent content;
    const auto names = names_in(path_);
    if (!names) return refuse(fmt::format("data directory {} cannot be listed: {}", path_, names.error()));
    for (const std::string& name : *names) {
        if (!is_ours(name) || name == "format.new" || name.size() > storage::kFileNameBytesMax) continue;
        if (name.find('/') != std::string::npos && !is_partition_file(name)) {
            content.strangers.push_back(name);
            continue;
        }
        auto file = is_partition_file(name) ? map_records(directory_, name) : read_file(directory_, name);
        if (!file && !is_of_medium(file.error()))
            return refuse(fmt::format("{}/{} cannot be read: {}{}", path_, name, why(file.error()),
                                      file.error() == ENOMEM ? " (more mappings: vm.max_map_count)" : ""));
        if (file)
            content.image.push_back({storage::FileName(name), std::move(*file)});
        else
            content.image.push_back({storage::FileName(name), Failure<storage::ReadError>(storage::ReadError::kIo)});
    }
    return content;
}

Result<std::string, std::string> DataDirectory::set_aside() const {
    const auto entries = entries_to_set_aside(path_);
    if (!entries) return refuse(entries.error());
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const std::string folder = fmt::format("{}/{}", kSetAside, now.time_since_epoch().count());
    std::error_code error;
    std::filesystem::create_directories(path_ + "/" + folder, error);
    if (error) return refuse(fmt::format("{}/{} cannot be made: {}", path_, folder, error.message()));
    const int aside = ::openat(directory_, folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (aside < 0) return refuse(fmt::format("{}/{} cannot be opened: {}", path_, folder, why(errno)));
    std::string complaint;
    // Each is where it goes before it is gone from where it was, whatever the power does.
    if (!sync_folder(path_ + "/" + kSetAside) || !sync_folder(path_)) complaint = "cannot be synced";
    for (auto name = entries->begin(); name != entries->end() && complaint.empty(); ++name) {
        if (::renameat(directory_, name->c_str(), aside, name->c_str()) != 0)
            complaint = fmt::format("cannot be given {}", *name);
        else if (::fsync(aside) != 0 || ::fsync(directory_) != 0)
            complaint = "cannot be synced";
    }
    const int reason = errno;
    ::close(aside);
    if (!complaint.empty())
        return refuse(fmt::format("{}/{} {}: {}; mend that, and ask again", path_, folder, complaint, why(reason)));
    return fmt::format("{}/{}", path_, folder);
}

}  // namespace tidelock::tidelockd
