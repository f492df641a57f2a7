/// Content of the state file `identity`: whose data directory this is and which life of it (I10, R11).
#pragma once

#include <cstdint>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::storage {

inline constexpr std::uint32_t kDataFormatVersion = 3;

struct Identity {
    std::uint32_t format_version = kDataFormatVersion;
    BrokerId broker;
    Incarnation raft_incarnation;   // R11: renewed when the Raft state is lost
    Incarnation data_incarnation;   // I10: renewed before record data is discarded or when it was found damaged
    std::uint8_t preset = 0;        // number of the preset that the epochs in this directory were given out under
    std::int32_t role_command = 0;  // `static`: the latest an operator gave; 0: the configured role
    BrokerId commanded_leader;      // by role_command; 0: none
    LeaderEpoch static_epoch;       // `static`: the latest that this broker has claimed for itself; 0: none yet
    void fold(Digest& digest) const;
    bool operator==(const Identity&) const = default;
};

void encode(const Identity& identity, ByteWriter& out);
/// Total; an unknown format version, zero incarnations, a role command without a leader and a
/// negative epoch are errors.
Result<Identity, DecodeError> decode_identity(const Bytes& content);

}  // namespace tidelock::storage
