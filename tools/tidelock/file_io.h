/// Files of the command line: read whole, written whole or not at all, and checked for being writable before work
/// starts. A name like /dev/stdout or /dev/fd/3 stands for that open descriptor; a symbolic link for what it leads to.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace tidelock::tools {

/// An error text that names the file, or nothing when all went well.
using FileError = std::string;

/// Refuses what is larger than 256 MiB, and a named pipe that nobody writes to instead of waiting for it.
tl::expected<std::string, FileError> read_file(const std::string& path);

/// Writes beside the file and renames over it, so that nobody ever sees half a file; what is no regular file (a pipe, a
/// device) is written directly. Empty: done.
FileError write_file(const std::string& path, std::string_view content);

/// Whether write_file could create or replace `path`. Leaves nothing behind. Empty: it could.
FileError check_writable_file(const std::string& path);

/// Creates the directory and its parents where missing, and tries a file in it. Empty: it is writable.
FileError prepare_directory(const std::string& path);

/// Whether two outputs would overwrite each other: one regular file, by whatever two names.
bool are_one_file(const std::string& a, const std::string& b);

/// Writes all of it; false when the other end is gone or the device full. Allocates nothing.
bool write_all(int fd, std::string_view bytes);

}  // namespace tidelock::tools
