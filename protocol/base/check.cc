#include "protocol/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tidelock {

void check_failed(const char* file, int line, const char* fact) {
    std::fprintf(stderr, "CHECK failed: %s (%s:%d)\n", fact, file, line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace tidelock
