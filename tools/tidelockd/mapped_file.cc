#include "tools/tidelockd/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <utility>

namespace tidelock::tidelockd {
namespace {

struct Mapping {
    std::uintptr_t end;  // of the last page
    std::string name;
    volatile sig_atomic_t has_failed = 0;
};

/// By where they begin. Changed only between reads of what is mapped, so that the handler, which runs in the reading
/// thread, finds it whole.
std::map<std::uintptr_t, Mapping>& mappings() {
    static std::map<std::uintptr_t, Mapping> all;
    return all;
}

std::uintptr_t page_bytes() {
    return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
}

bool put_zeros(std::uintptr_t at, Mapping& mapping) {
    const std::uintptr_t from = at / page_bytes() * page_bytes();
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    mapping.has_failed = 1;
    return ::mmap(reinterpret_cast<void*>(from), mapping.end - from, PROT_READ, kFlags, -1, 0) != MAP_FAILED;
}

/// A page of a mapped file could not be had. Zeros take its place and those after it, and the read goes on.
void on_bus_error(int number, siginfo_t* info, void*) {
    const int error = errno;
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const auto after = mappings().upper_bound(at);
    const bool is_ours = after != mappings().begin() && at < std::prev(after)->second.end;
    // Not ours, or no zeros to be had: the read is tried again and ends the process, as without a handler.
    if (!is_ours || !put_zeros(at, std::prev(after)->second)) ::signal(number, SIG_DFL);
    errno = error;
}

int handle_bus_errors() {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, nullptr) == 0 ? 0 : errno;
}

void unmap(std::uintptr_t begin) {
    const auto at = mappings().find(begin);
    ::munmap(reinterpret_cast<void*>(begin), at->second.end - begin);
    mappings().erase(at);
}

}  // namespace

Result<Bytes, int> map_file(int file, std::size_t size, std::string name) {
    if (size == 0) return Bytes();
    static const int unhandled = handle_bus_errors();
    if (unhandled != 0) return Failure<int>(unhandled);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    if (memory == MAP_FAILED) return Failure<int>(errno);
    ::madvise(memory, size, MADV_SEQUENTIAL);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t pages = (size + page_bytes() - 1) / page_bytes();
    mappings().emplace(begin, Mapping{begin + pages * page_bytes(), std::move(name)});
    return Bytes::borrow({static_cast<const std::byte*>(memory), size}, [begin] { unmap(begin); });
}

std::size_t mapped_file_count() {
    return mappings().size();
}

std::vector<std::string> take_unreadable_mapped_files() {
    std::vector<std::string> names;
    for (auto& [begin, mapping] : mappings()) {
        if (mapping.has_failed != 0) names.push_back(mapping.name);
        mapping.has_failed = 0;
    }
    return names;
}

}  // namespace tidelock::tidelockd
