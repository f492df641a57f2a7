#include "protocol/storage/files.h"

#include <algorithm>

namespace tidelock::storage {

const ImageFile* find_file(const DirectoryImage& image, const FileName& name) {
    const auto at = std::lower_bound(image.begin(), image.end(), name,
                                     [](const ImageFile& file, const FileName& wanted) { return file.name < wanted; });
    return at != image.end() && at->name == name ? &*at : nullptr;
}

}  // namespace tidelock::storage
