/// What the storage engine asks of its host's data directory, and what the host reports back. No call here does I/O.
///
/// The contract with the host:
///   - Effects on one file take effect in the order given. A write is complete when its effect was carried out (page
///     cache), is visible to later reads, and has no success event; a failing one is reported as WriteFailed before the
///     completion of any sync of that file which was asked for later.
///   - A sync that reports ok covers every earlier write and truncation of that file. One that failed says nothing
///   about
///     them, and a later ok covers only what was written after the failure (L9).
///   - Names (creation, rename, removal) are durable only after a SyncDirectory that was asked for later reported ok.
///   - Files are created by their first write. Names may contain one '/': the host makes the folder.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/result.h"
#include "protocol/base/tagged.h"

namespace tidelock::storage {

/// Name of a file inside the data directory, relative to it. At most kFileNameBytesMax characters, kept in place.
inline constexpr std::size_t kFileNameBytesMax = 63;

class FileName {
  public:
    constexpr FileName() = default;
    /// Longer text is cut at kFileNameBytesMax; names made by this folder never are.
    constexpr FileName(std::string_view text) { append(text); }  // NOLINT: names convert from text on purpose
    constexpr FileName(const char* text) { append(std::string_view(text)); }  // NOLINT

    [[nodiscard]] constexpr std::string_view text() const { return {text_.data(), size_}; }
    [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
    constexpr void append(std::string_view more) {
        for (const char c : more)
            if (size_ < kFileNameBytesMax) text_[size_++] = c;
    }

    constexpr bool operator==(const FileName& other) const { return text() == other.text(); }
    constexpr std::strong_ordering operator<=>(const FileName& other) const { return text() <=> other.text(); }

  private:
    std::array<char, kFileNameBytesMax> text_{};
    std::uint8_t size_ = 0;
};

/// Which machine of a broker asked for an operation: the broker routes completions by it.
enum class FileOwner : std::uint8_t { kLogStore = 1, kIdentity = 2, kRaft = 3, kTopics = 4 };

/// Pairs a completion with its request; the owner is its top byte. Never reused in one life of a broker.
using FileOpId = Tagged<struct FileOpIdTag, std::uint64_t>;

constexpr FileOpId make_file_op(FileOwner owner, std::uint64_t number) {
    return FileOpId((static_cast<std::uint64_t>(owner) << 56U) | number);
}
constexpr FileOwner owner_of(FileOpId op) {
    return static_cast<FileOwner>(op.value >> 56U);
}

/// Writes `content` at `position` (bytes from the start), growing the file as needed.
struct WriteFile {
    FileName name;
    std::uint64_t position = 0;
    Bytes content;
    bool operator==(const WriteFile&) const = default;
};
/// Makes the file exactly `size` bytes long.
struct TruncateFile {
    FileName name;
    std::uint64_t size = 0;
    bool operator==(const TruncateFile&) const = default;
};
/// Answered by FileSynced.
struct SyncFile {
    FileName name;
    FileOpId op;
    bool operator==(const SyncFile&) const = default;
};
/// Makes every name change in the data directory (its folders included) durable. Answered by FileSynced.
struct SyncDirectory {
    FileOpId op;
    bool operator==(const SyncDirectory&) const = default;
};
/// Replaces `to` if it exists.
struct RenameFile {
    FileName from;
    FileName to;
    bool operator==(const RenameFile&) const = default;
};
/// No error if it does not exist. A folder left empty may be removed too.
struct RemoveFile {
    FileName name;
    bool operator==(const RemoveFile&) const = default;
};
/// Reads at most `length` bytes at `position`; fewer at the end of the file. Answered by FileReadDone.
struct ReadFile {
    FileName name;
    std::uint64_t position = 0;
    std::uint64_t length = 0;
    FileOpId op;
    bool operator==(const ReadFile&) const = default;
};

using FileEffect = std::variant<WriteFile, TruncateFile, SyncFile, SyncDirectory, RenameFile, RemoveFile, ReadFile>;

/// Why bytes could not be read: the file is not there, or the device says so.
enum class ReadError : std::uint8_t { kMissing, kIo };

struct FileSynced {
    FileOpId op;
    bool ok = false;
    bool operator==(const FileSynced&) const = default;
};
struct FileReadDone {
    FileOpId op;
    Result<Bytes, ReadError> content;
    bool operator==(const FileReadDone&) const = default;
};
enum class WriteFailure : std::uint8_t { kFull, kError };
/// Some write or truncation of `name` did not happen; how much of it did is unknown.
struct WriteFailed {
    FileName name;
    WriteFailure reason = WriteFailure::kError;
    bool operator==(const WriteFailed&) const = default;
};

using FileEvent = std::variant<FileSynced, FileReadDone, WriteFailed>;

/// One file as the host found it at boot.
struct ImageFile {
    FileName name;
    Result<Bytes, ReadError> content;
    bool operator==(const ImageFile&) const = default;
};
/// The whole data directory, sorted by name without duplicates: what recovery is a function of. What is in partition
/// folders may be borrowed from the files themselves: nobody keeps a part of it when the boot is over.
using DirectoryImage = std::vector<ImageFile>;

/// The file called `name`, or null.
const ImageFile* find_file(const DirectoryImage& image, const FileName& name);

}  // namespace tidelock::storage
