/// The data directory as an operator's files see it: one broker's, locked while it runs, in a format that this build
/// reads. What is in it is the core's.
#pragma once

#include <string>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/storage/files.h"

namespace tidelock::tidelockd {

struct DirectoryContent {
    storage::DirectoryImage image;       // every file of the core's, sorted by name; large ones are mapped_file.h's
    std::vector<std::string> strangers;  // in folders below, with names that the core gives to no file: left alone
};

/// Owns the directory until it is destroyed. Moved, not copied.
class DataDirectory {
  public:
    /// Creates it if it is missing; refuses, saying what to do, one that another process has, that holds something
    /// else, that a newer build has written, or that cannot be read or written.
    static Result<DataDirectory, std::string> open(const std::string& path);

    DataDirectory(DataDirectory&& other) noexcept;
    DataDirectory& operator=(DataDirectory&&) = delete;
    ~DataDirectory();

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Of the directory itself, for the calls that take one.
    [[nodiscard]] int descriptor() const { return directory_; }
    /// A file that the medium has lost is listed with its error. Anything else that hinders reading is an error: what
    /// an operator can mend (permissions, too few descriptors) must not be taken for lost.
    [[nodiscard]] Result<DirectoryContent, std::string> read() const;
    /// Moves all files of the core's into a new folder `set-aside/TIME` in here, and says which: whoever starts next is
    /// an empty broker (R8, R11), and nothing is deleted. The identity goes first, so that a move that was cut off
    /// leaves a directory that is refused, never one that passes for whole; it can be called again.
    [[nodiscard]] Result<std::string, std::string> set_aside() const;

  private:
    DataDirectory(std::string path, int directory, int lock)
        : path_(std::move(path)), directory_(directory), lock_(lock) {}

    std::string path_;
    int directory_ = -1;
    int lock_ = -1;
};

}  // namespace tidelock::tidelockd
