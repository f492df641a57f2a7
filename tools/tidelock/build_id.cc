#include "tools/tidelock/build_id.h"

#include <elf.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace tidelock::tools {

namespace {

constexpr std::size_t kBytesShown = 6;

// Notes lie one after another: header, name, description, the last two padded to four bytes.
std::string id_in_notes(const char* notes, std::size_t size) {
    const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
    std::size_t at = 0;
    while (at + sizeof(ElfW(Nhdr)) <= size) {
        ElfW(Nhdr) header;
        std::memcpy(&header, notes + at, sizeof header);
        const std::size_t name = at + sizeof header;
        const std::size_t content = name + padded(header.n_namesz);
        if (content + header.n_descsz > size) break;
        if (header.n_type == NT_GNU_BUILD_ID && std::memcmp(notes + name, "GNU", 4) == 0) {
            std::string digits;
            for (std::size_t i = 0; i < std::min<std::size_t>(header.n_descsz, kBytesShown); ++i) {
                digits += fmt::format("{:02x}", static_cast<unsigned char>(notes[content + i]));
            }
            return digits;
        }
        at = content + padded(header.n_descsz);
    }
    return {};
}

// Visits loaded objects; the first is the program itself.
int visit_program(dl_phdr_info* info, std::size_t, void* out) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        const char* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
        const std::string id = id_in_notes(notes, segment.p_memsz);
        if (!id.empty()) *static_cast<std::string*>(out) = id;
    }
    return 1;
}

std::string compiler() {
#ifdef __clang__
    return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

std::string build_id() {
    std::string id = "unidentified";
    ::dl_iterate_phdr(&visit_program, &id);
    return fmt::format("{} {} {}", TIDELOCK_VERSION, compiler(), id);
}

}  // namespace tidelock::tools
