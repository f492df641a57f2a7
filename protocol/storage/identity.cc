#include "protocol/storage/identity.h"

namespace tidelock::storage {

void Identity::fold(Digest& digest) const {
    digest.add(format_version);
    digest.add(broker);
    digest.add(raft_incarnation);
    digest.add(data_incarnation);
    digest.add(preset);
    digest.add(role_command);
    digest.add(commanded_leader);
    digest.add(static_epoch);
    digest.add(is_damage_on_record ? 1 : 0);
}

void encode(const Identity& identity, ByteWriter& out) {
    out.u32(identity.format_version);
    out.i32(identity.broker.value);
    out.u64(identity.raft_incarnation.value);
    out.u64(identity.data_incarnation.value);
    out.u8(identity.preset);
    out.i32(identity.role_command);
    out.i32(identity.commanded_leader.value);
    out.i32(identity.static_epoch.value);
    out.u8(identity.is_damage_on_record ? 1 : 0);
}

Result<Identity, DecodeError> decode_identity(const Bytes& content) {
    ByteReader in(content);
    Identity identity;
    identity.format_version = in.u32();
    identity.broker = BrokerId(in.i32());
    identity.raft_incarnation = Incarnation(in.u64());
    identity.data_incarnation = Incarnation(in.u64());
    if (!in.failed() && identity.format_version != kDataFormatVersion)
        return decode_failure("identity: format version");
    identity.preset = in.u8();
    identity.role_command = in.i32();
    identity.commanded_leader = BrokerId(in.i32());
    identity.static_epoch = LeaderEpoch(in.i32());
    const std::uint8_t damage = in.u8();
    if (!in.at_end()) return decode_failure("identity: length");
    if (identity.broker.value < 1) return decode_failure("identity: broker");
    if (identity.raft_incarnation.value == 0) return decode_failure("identity: raft incarnation");
    if (identity.data_incarnation.value == 0) return decode_failure("identity: data incarnation");
    const bool has_command = identity.role_command > 0 && identity.commanded_leader.value > 0;
    const bool has_none = identity.role_command == 0 && identity.commanded_leader.value == 0;
    if (!has_command && !has_none) return decode_failure("identity: role command");
    if (identity.static_epoch.value < 0) return decode_failure("identity: static epoch");
    if (damage > 1) return decode_failure("identity: damage");
    identity.is_damage_on_record = damage == 1;
    return identity;
}

}  // namespace tidelock::storage
