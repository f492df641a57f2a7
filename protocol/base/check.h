/// CHECK guards what only our own bug can break; it is on in every build. Input from a peer, a disk or a client is
/// never CHECKed: it becomes a Result.
#pragma once

namespace tidelock {

/// Prints the broken fact with its place and aborts. A campaign reports the abort as a crash of that seed.
[[noreturn]] void check_failed(const char* file, int line, const char* fact);

}  // namespace tidelock

#define CHECK(fact)                                              \
    do {                                                         \
        if (!(fact)) [[unlikely]]                                \
            ::tidelock::check_failed(__FILE__, __LINE__, #fact); \
    } while (false)
