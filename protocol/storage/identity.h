/// Content of the state file `identity`: whose data directory this is and which life of it (I10, R11).
#pragma once

#include <cstdint>

#include "protocol/base/bytes.h"
#include "protocol/base/digest.h"
#include "protocol/base/ids.h"
#include "protocol/base/result.h"

namespace tidelock::storage {

inline constexpr std::uint32_t kDataFormatVersion = 4;

struct Identity {
    std::uint32_t format_version = kDataFormatVersion;
    BrokerId broker;
    Incarnation raft_incarnation;   // R11: renewed when the Raft state is lost
    Incarnation data_incarnation;   // I10: renewed before record data is discarded or when it was found damaged
    std::uint8_t preset = 0;        // number of the preset that the epochs in this directory were given out under
    std::int32_t role_command = 0;  // `static`: the latest an operator gave; 0: the configured role
    BrokerId commanded_leader;      // by role_command; 0: none
    LeaderEpoch static_epoch;       // `static`: the latest that this broker has claimed for itself; 0: none yet
    /// L4: damage was found in some log, and no whole scan of all logs has come out clean since. Written together with
    /// the incarnation that the damage renews: what a trusted index would not show must not be forgotten with a life.
    bool is_damage_on_record = false;
    void fold(Digest& digest) const;
    bool operator==(const Identity&) const = default;
};

void encode(const Identity& identity, ByteWriter& out);
/// Total; an unknown format version, zero incarnations, a role command without a leader, a
/// negative epoch and a flag other than 0 and 1 are errors.
Result<Identity, DecodeError> decode_identity(const Bytes& content);

}  // namespace tidelock::storage
