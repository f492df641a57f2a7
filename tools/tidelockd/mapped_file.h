/// Files as memory, so that a boot reads of each what it looks at, and nothing is copied. Read errors of the medium,
/// which come as a signal here, are remembered and told: the reader sees zeros meanwhile and has to be run again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/base/bytes.h"
#include "protocol/base/result.h"

namespace tidelock::tidelockd {

/// The first `size` bytes of an open file, for reading, under the name by which a loss is told. Nobody may write to the
/// file or cut it while the content is held. The error is an errno; ENOMEM where the kernel allows no more mappings
/// (vm.max_map_count). One thread at a time.
Result<Bytes, int> map_file(int file, std::size_t size, std::string name);

/// How many mappings are held.
std::size_t mapped_file_count();

/// Names of mapped files of which something could not be read (EIO, or the file has become shorter) since they were
/// mapped. Each is told once.
std::vector<std::string> take_unreadable_mapped_files();

}  // namespace tidelock::tidelockd
