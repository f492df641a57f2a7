/// What a disk can do to its files: power loss, rot, errors, misdirection, fullness, slowness.
#include <algorithm>
#include <utility>

#include "protocol/base/check.h"
#include "sim/disk.h"
#include "sim/world.h"

namespace tidelock::sim {

bool Disk::strikes(FaultKind kind) {
    // The number moves whether the fault is on or not, so that switching one off leaves the others where they were.
    return world_.faults().strikes(kind, fault_key_, fault_number_++);
}

Damage Disk::damage(FaultKind kind, std::string_view file, ByteRange range) const {
    return Damage{world_.now(), host_.id(), kind, std::string(file), range.from, range.to};
}

void Disk::record_all(FaultKind kind, std::string_view file, const std::vector<ByteRange>& ranges) {
    if (ranges.empty()) {
        if (kind == FaultKind::kSyncFailed) world_.faults().record(damage(kind, file, ByteRange{}));
        return;
    }
    world_.faults().record(damage(kind, file, ranges.front()));
    for (std::size_t i = 1; i < ranges.size(); ++i) world_.faults().log(damage(kind, file, ranges[i]));
}

std::optional<std::uint64_t> Disk::misplaced(ByteRange range, std::uint64_t size) {
    const std::uint64_t sector_count = (size + kSectorBytes - 1) / kSectorBytes;
    if (sector_count < 2) return std::nullopt;
    const std::uint64_t right = range.from / kSectorBytes;
    const std::uint64_t wrong = (right + 1 + outcome_.below(sector_count - 1)) % sector_count;
    return wrong * kSectorBytes + range.from % kSectorBytes;
}

bool Disk::misdirect_write(DiskFile& file, const Request& request) {
    const ByteRange meant = file.first_unsynced_write(request.order);
    if (meant.from == meant.to) return false;
    const std::uint64_t size = std::max<std::uint64_t>(file.durable().size(), meant.to);
    // In a file of one sector the write lands in free space: it is merely missing.
    const std::uint64_t instead = misplaced(meant, size).value_or(UINT64_MAX);
    const std::string_view name = name_of(request.file);
    const ByteRange hit{std::min(instead, size),
                        std::min(size - std::min(instead, size), meant.to - meant.from) + std::min(instead, size)};
    const Damage missing = damage(FaultKind::kMisdirectedWrite, name, meant);
    const Damage overwritten = damage(FaultKind::kMisdirectedWrite, name, hit);
    if (!world_.faults().allows(missing) || !world_.faults().allows(overwritten)) return false;
    file.make_durable_misdirected(request.order, instead);
    world_.faults().record(missing);
    if (hit.from != hit.to) world_.faults().log(overwritten);
    return true;
}

DiskError Disk::read_content(std::string_view name, DiskFile& file, ByteRange range, Bytes& content) {
    if (strikes(FaultKind::kBitRot) && !file.durable().empty()) {
        const std::uint64_t position = outcome_.below(file.durable().size());
        const std::uint32_t bit = static_cast<std::uint32_t>(outcome_.below(8));
        rot_bit(name, position, bit);
    }
    // A reader may take one wrong answer for the loss of the copy, so these count against the budget like lasting
    // damage.
    const Damage failed = damage(FaultKind::kReadError, name, range);
    const bool fails_once = strikes(FaultKind::kReadError) && world_.faults().allows(failed);
    if (fails_once) world_.faults().record(failed);
    if (fails_once || !file.is_readable(range)) return DiskError::kReadFailed;
    std::uint64_t from = range.from;
    const Damage misread = damage(FaultKind::kMisdirectedRead, name, range);
    if (strikes(FaultKind::kMisdirectedRead) && world_.faults().allows(misread))
        from = misplaced(range, file.cached().size()).value_or(from);
    const std::uint64_t count =
        std::min(range.to - range.from, file.cached().size() - std::min(from, file.cached().size()));
    content = Bytes::copy_of(file.cached().subspan(count == 0 ? 0 : from, count));
    if (from == range.from) return DiskError::kNone;
    const std::span<const std::byte> right = file.cached().subspan(range.from, range.to - range.from);
    if (!std::ranges::equal(content.span(), right)) world_.faults().record(misread);
    return DiskError::kNone;
}

bool Disk::rot_bit(std::string_view file, std::uint64_t position, std::uint32_t bit) {
    DiskFile* const found = find(file);
    if (found == nullptr || position >= found->durable().size()) return false;
    const Damage rot = damage(FaultKind::kBitRot, file, ByteRange{position, position + 1});
    if (!world_.faults().allows(rot)) return false;
    found->flip_bit(position, bit);
    world_.faults().record(rot);
    return true;
}

bool Disk::rot_random(Rng& rng, std::string_view prefix) {
    std::vector<std::string_view> candidates;
    for (const auto& [name, id] : names_)
        if (name.starts_with(prefix) && !files_.at(id).durable().empty()) candidates.push_back(name);
    if (candidates.empty()) return false;
    const std::string_view victim = candidates[rng.below(candidates.size())];
    const std::uint64_t position = rng.below(find(victim)->durable().size());
    const std::uint32_t bit = static_cast<std::uint32_t>(rng.below(8));
    return rot_bit(victim, position, bit);
}

bool Disk::rot_recent(Rng& rng, const RecentBytes& of) {
    std::string_view victim;
    for (const auto& [name, id] : names_)
        if (name.starts_with(of.prefix) && name.ends_with(of.suffix) && !files_.at(id).durable().empty()) victim = name;
    if (victim.empty()) return false;
    const std::span<const std::byte> content = find(victim)->durable();
    std::vector<std::uint64_t> positions;  // padding tells nobody anything
    for (std::size_t at = content.size() - std::min(content.size(), of.bytes); at < content.size(); ++at)
        if (content[at] != std::byte{0}) positions.push_back(at);
    if (positions.empty()) return false;
    return rot_bit(victim, positions[rng.below(positions.size())], static_cast<std::uint32_t>(rng.below(8)));
}

bool Disk::lose_random_sector(Rng& rng, std::string_view part) {
    std::vector<std::string_view> candidates;
    for (const auto& [name, id] : names_)
        if (name.find(part) != std::string_view::npos && !files_.at(id).durable().empty()) candidates.push_back(name);
    if (candidates.empty()) return false;
    const std::string_view victim = candidates[rng.below(candidates.size())];
    const std::uint64_t sectors = (find(victim)->durable().size() + kSectorBytes - 1) / kSectorBytes;
    const std::uint64_t from = rng.below(sectors) * kSectorBytes;
    return make_unreadable(victim, ByteRange{from, from + kSectorBytes});
}

bool Disk::make_unreadable(std::string_view file, ByteRange range) {
    DiskFile* const found = find(file);
    if (found == nullptr || range.from >= range.to || range.from >= found->durable().size()) return false;
    const Damage broken = damage(FaultKind::kSectorUnreadable, file, range);
    if (!world_.faults().allows(broken)) return false;
    found->make_unreadable(range);
    world_.faults().record(broken);
    return true;
}

bool Disk::empty() {
    if (names_.empty() && durable_names_.empty()) return false;
    const Damage all = damage(FaultKind::kDiskEmptied, {}, ByteRange{0, UINT64_MAX});
    if (!world_.faults().allows(all)) return false;
    names_.clear();
    durable_names_.clear();
    unsynced_names_.clear();
    files_.clear();
    requests_.clear();
    used_bytes_ = 0;
    world_.faults().record(all);
    return true;
}

void Disk::slow_down(std::uint32_t factor) {
    CHECK(factor > 0);
    const bool is_faster = factor < slow_factor_;
    slow_factor_ = factor;
    slowness_was_counted_ = false;
    if (is_faster) hurry_queued();
}

void Disk::slow_down_files(std::string_view part, std::uint32_t factor) {
    CHECK(factor > 0);
    const bool is_faster = factor < slow_files_factor_;
    slow_files_ = part;
    slow_files_factor_ = factor;
    if (is_faster) hurry_queued();
}

void Disk::stall() {
    if (!std::exchange(is_stalled_, true)) stall_was_counted_ = false;
}

void Disk::release() {
    if (!std::exchange(is_stalled_, false) || held_.empty()) return;
    world_.call_at(world_.now(), [this] { release_held(); });
}

/// Until this has run, later completions queue behind what is held: they keep their order.
void Disk::release_held() {
    if (is_stalled_) return;
    for (Event& event : std::exchange(held_, {})) finish(event);
}

void Disk::restore_all() {
    capacity_bytes_ = config_.capacity_bytes;
    slow_down_files({}, 1);
    slow_down(1);
    release();
}

void Disk::on_power_loss() {
    for (const Queued& each : queued_) world_.queue().cancel(each.handle);
    queued_.clear();
    last_said_at_.assign(last_said_at_.size(), world_.now());
    requests_.clear();
    held_.clear();
    for (auto& [id, file] : files_) lose_writes(id, file);
    lose_names();
    recount_used_bytes();
}

void Disk::lose_writes(FileId id, DiskFile& file) {
    PowerLossModel model;
    model.may_lose = strikes(FaultKind::kUnsyncedWriteLost);
    model.may_reorder = strikes(FaultKind::kWritesReordered);
    model.may_tear = strikes(FaultKind::kSectorTorn);
    const PowerLossOutcome outcome = file.lose_power(model, outcome_);
    const std::string name(name_of(id));
    record_all(FaultKind::kUnsyncedWriteLost, name, outcome.lost);
    record_all(FaultKind::kSectorTorn, name, outcome.torn);
    record_all(FaultKind::kWritesReordered, name, outcome.reordered);
}

void Disk::lose_names() {
    const bool may_lose_rename = strikes(FaultKind::kRenameLost);
    const bool may_lose_entry = strikes(FaultKind::kDirectoryEntryLost);
    // Names go through a journal: of what was not synced, a prefix survives.
    const std::size_t survivors = outcome_.below(unsynced_names_.size() + 1);
    for (std::size_t i = 0; i < unsynced_names_.size(); ++i) {
        const UnsyncedName& change = unsynced_names_[i];
        const bool is_rename = change.change == NameChange::kRenamed;
        if (i < survivors || !(is_rename ? may_lose_rename : may_lose_entry)) {
            apply_name(durable_names_, change);
            continue;
        }
        const ByteRange whole{0, files_.at(change.file).durable().size()};
        const FaultKind kind = is_rename ? FaultKind::kRenameLost : FaultKind::kDirectoryEntryLost;
        world_.faults().record(damage(kind, is_rename ? change.to : change.name, whole));
    }
    unsynced_names_.clear();
    names_ = durable_names_;
    drop_unnamed_files();
}

}  // namespace tidelock::sim
