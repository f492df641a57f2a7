/// Reads a checkpoint journal on its own, by its format alone: what a broker makes of a journal is judged by this, so
/// nothing of the broker's reader is used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "protocol/storage/files.h"

namespace tidelock::scenarios {

/// The lowest commit of the journal file of that generation that is not whole though slots of a later one are: such a
/// one was whole once, as a commit is only written when the one before is durable (L4). None: no commit is known to be
/// bad; the last one may be torn.
std::optional<std::uint64_t> bad_commit_of(std::uint64_t generation, std::span<const std::byte> journal);

/// Such a commit in the newest journal of the directory that can be read, in words; empty: none.
std::optional<std::string> journal_damage(const storage::DirectoryImage& image);

}  // namespace tidelock::scenarios
