/// Which program this is: the same for the same code, compiler and flags, different for any other.
#pragma once

#include <string>

namespace tidelock::tools {

/// "0.1.0 g++ 12.2.0 3f9a1c0b7d2e": version, compiler, start of the linker's build id.
std::string build_id();

}  // namespace tidelock::tools
