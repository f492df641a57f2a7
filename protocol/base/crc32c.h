/// CRC-32C (Castagnoli), the checksum of record batches, state files and peer frames (RFC 3720 appendix B.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidelock {

/// Checksum of `bytes`; `crc32c("123456789")` is 0xE3069283. Uses the SSE 4.2 instruction where there is one.
std::uint32_t crc32c(std::span<const std::byte> bytes);
/// Continues a checksum: crc32c_extend(crc32c(a), b) == crc32c(a + b).
std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes);
/// The table-driven path, kept callable so that tests compare it with the instruction.
std::uint32_t crc32c_extend_portable(std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace tidelock
