#include "protocol/storage/state_file.h"

#include "protocol/base/check.h"
#include "protocol/base/crc32c.h"

namespace tidelock::storage {
namespace {

constexpr std::uint32_t kMagic = 0x5453'4C54U;  // "TLST"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 24;  // magic, version, sequence, length, crc

StateCopy other(StateCopy copy) {
    return copy == StateCopy::kA ? StateCopy::kB : StateCopy::kA;
}

std::uint32_t copy_crc(const FileName& name, std::uint64_t sequence, std::span<const std::byte> content) {
    ByteWriter covered;
    covered.string(name.text());
    covered.u32(kVersion);
    covered.u64(sequence);
    covered.u32(static_cast<std::uint32_t>(content.size()));
    return crc32c_extend(crc32c(covered.span()), content);
}

}  // namespace

Bytes encode_state_copy(const FileName& name, const StateFileContent& copy) {
    CHECK(copy.content.size() <= kStateContentBytesMax);
    ByteWriter out;
    out.reserve(kHeaderBytes + copy.content.size());
    out.u32(kMagic);
    out.u32(kVersion);
    out.u64(copy.sequence.value);
    out.u32(static_cast<std::uint32_t>(copy.content.size()));
    out.u32(copy_crc(name, copy.sequence.value, copy.content.span()));
    out.raw(copy.content.span());
    return out.take();
}

Result<StateFileContent, DecodeError> decode_state_copy(const FileName& name, const Bytes& bytes) {
    ByteReader in(bytes);
    const std::uint32_t magic = in.u32();
    const std::uint32_t version = in.u32();
    const std::uint64_t sequence = in.u64();
    const std::uint32_t length = in.u32();
    const std::uint32_t crc = in.u32();
    if (in.failed()) return decode_failure("state file: header cut short");
    if (magic != kMagic) return decode_failure("state file: magic");
    if (version != kVersion) return decode_failure("state file: version");
    if (sequence == 0) return decode_failure("state file: sequence");
    if (length > kStateContentBytesMax || length > in.left()) return decode_failure("state file: length");
    // Longer than it says is no damage: after a crash the write may be there without the truncation before it.
    const std::span<const std::byte> content = in.raw(length);
    if (copy_crc(name, sequence, content) != crc) return decode_failure("state file: crc");
    return StateFileContent{StateSequence(sequence), bytes.slice(kHeaderBytes, length)};
}

FileName StateFile::copy_name(StateCopy copy) const {
    FileName name = name_;
    name.append(copy == StateCopy::kA ? ".a" : ".b");
    return name;
}

bool StateFile::owns(const FileName& file) const {
    return file == copy_name(StateCopy::kA) || file == copy_name(StateCopy::kB);
}

StateSequence StateFile::write(Bytes content, std::vector<FileEffect>& effects) {
    requested_ = StateSequence(requested_.value + 1);
    next_content_ = std::move(content);
    if (stage_ == Stage::kIdle) begin_next(effects);
    return requested_;
}

void StateFile::begin_next(std::vector<FileEffect>& effects) {
    if (repair_content_) return start_repair(effects);
    CHECK(next_content_.has_value());
    const Bytes content = std::move(*next_content_);
    next_content_.reset();
    begin(requested_, content, effects);
}

void StateFile::begin(StateSequence sequence, const Bytes& content, std::vector<FileEffect>& effects) {
    writing_ = sequence;
    writing_content_ = encode_state_copy(name_, {sequence, content});
    attempts_ = 0;
    enter(Stage::kFirstCopy, effects);
}

void StateFile::enter(Stage stage, std::vector<FileEffect>& effects) {
    stage_ = stage;
    is_write_failed_ = false;
    if (stage == Stage::kFirstCopy) write_copy(first_copy_, effects);
    if (stage == Stage::kSecondCopy) write_copy(other(first_copy_), effects);
    if (stage == Stage::kFirstName || stage == Stage::kSecondName) {
        waiting_for_ = make_file_op(owner_, next_op_++);
        effects.push_back(SyncDirectory{waiting_for_});
    }
}

/// The former content goes first: a write that a disk loses then leaves no copy at all, never one that is whole and
/// old, which a rotten twin would let recovery take for the latest promise. A repair's first copy is the exception: it
/// is the best there is, perhaps the only one, so it is overwritten in place with what it holds already.
void StateFile::write_copy(StateCopy copy, std::vector<FileEffect>& effects) {
    const FileName name = copy_name(copy);
    const bool keeps_content = stage_ == Stage::kFirstCopy && writing_ == recovered_;
    waiting_for_ = make_file_op(owner_, next_op_++);
    if (!keeps_content) effects.push_back(TruncateFile{name, 0});
    effects.push_back(WriteFile{name, 0, writing_content_});
    if (keeps_content) effects.push_back(TruncateFile{name, writing_content_.size()});
    effects.push_back(SyncFile{name, waiting_for_});
}

StateFileOutcome StateFile::step(const FileEvent& event, std::vector<FileEffect>& effects) {
    if (const auto* synced = std::get_if<FileSynced>(&event)) return on_synced(*synced, effects);
    if (const auto* failed = std::get_if<WriteFailed>(&event)) return on_write_failed(*failed);
    return StateFileOutcome::kNothing;
}

StateFileOutcome StateFile::on_synced(const FileSynced& synced, std::vector<FileEffect>& effects) {
    const bool is_waiting = stage_ != Stage::kIdle && stage_ != Stage::kBlocked && stage_ != Stage::kFailed;
    if (!is_waiting || synced.op != waiting_for_) return StateFileOutcome::kNothing;
    return synced.ok && !is_write_failed_ ? advance(effects) : retry(effects);
}

/// Whatever of the copy reached the disk is unknown now, so the answer of the sync in flight proves nothing.
StateFileOutcome StateFile::on_write_failed(const WriteFailed& failed) {
    if (!owns(failed.name)) return StateFileOutcome::kNothing;
    if (stage_ != Stage::kFirstCopy && stage_ != Stage::kSecondCopy) return StateFileOutcome::kNothing;
    is_write_failed_ = true;
    if (failed.reason != WriteFailure::kFull) return StateFileOutcome::kNothing;
    blocked_stage_ = stage_;
    stage_ = Stage::kBlocked;
    return StateFileOutcome::kFull;
}

void StateFile::resume(std::vector<FileEffect>& effects) {
    if (stage_ != Stage::kBlocked && stage_ != Stage::kFailed) return;
    attempts_ = 0;
    enter(blocked_stage_, effects);
}

StateFileOutcome StateFile::advance(std::vector<FileEffect>& effects) {
    attempts_ = 0;
    std::optional<Stage> next;
    if (stage_ == Stage::kFirstCopy) next = is_name_durable_ ? Stage::kSecondCopy : Stage::kFirstName;
    if (stage_ == Stage::kFirstName) next = Stage::kSecondCopy;
    if (stage_ == Stage::kSecondCopy && !is_name_durable_) next = Stage::kSecondName;
    if (!next) return complete(effects);
    enter(*next, effects);
    return StateFileOutcome::kNothing;
}

/// L9: a sync that failed is never asked for again alone; the copy is written again as a whole before.
StateFileOutcome StateFile::retry(std::vector<FileEffect>& effects) {
    if (++attempts_ >= kStateAttemptsMax) {
        blocked_stage_ = stage_;
        stage_ = Stage::kFailed;
        return StateFileOutcome::kFailed;
    }
    enter(stage_, effects);
    return StateFileOutcome::kNothing;
}

StateFileOutcome StateFile::complete(std::vector<FileEffect>& effects) {
    CHECK(durable_ < writing_);
    durable_ = writing_;
    is_name_durable_ = true;
    first_copy_ = StateCopy::kA;  // both copies are whole: either may go first
    stage_ = Stage::kIdle;
    writing_content_ = Bytes();
    if (next_content_) begin_next(effects);
    return StateFileOutcome::kDurable;
}

/// The best copy goes first: it is overwritten with what it holds, so a crash meanwhile changes nothing in it, whether
/// it was durable or only in the memory of a kernel that outlived a killed process. The other one may be touched only
/// after that.
void StateFile::start_repair(std::vector<FileEffect>& effects) {
    if (stage_ != Stage::kIdle || !repair_content_) return;
    const Bytes content = std::move(*repair_content_);
    repair_content_.reset();
    begin(recovered_, content, effects);
}

void StateFile::fold(Digest& digest) const {
    digest.add(name_.text());
    digest.add(static_cast<std::uint8_t>(stage_));
    digest.add(static_cast<std::uint8_t>(first_copy_));
    digest.add(durable_);
    digest.add(requested_);
    digest.add(writing_);
    digest.add(attempts_);
    digest.add(writing_content_.span());
    digest.add(recovered_);
    digest.add((repair_content_.has_value() ? 2 : 0) + (next_content_.has_value() ? 1 : 0));
    if (next_content_) digest.add(next_content_->span());
}

namespace {

struct CopyFound {
    bool is_present = false;
    bool is_unreadable = false;
    std::optional<StateFileContent> content;
};

CopyFound look_at(const DirectoryImage& image, const StateFile& state, StateCopy copy) {
    CopyFound found;
    const ImageFile* file = find_file(image, state.copy_name(copy));
    if (file == nullptr) return found;
    found.is_present = true;
    found.is_unreadable = !file->content.has_value();
    if (found.is_unreadable) return found;
    Result<StateFileContent, DecodeError> decoded = decode_state_copy(state.name(), *file->content);
    if (decoded) found.content = std::move(*decoded);
    return found;
}

/// The second copy is created only after the first one is durable: while it is not there, a first copy that is no whole
/// one was never finished, and nothing was ever promised.
StateFileCondition condition_without_value(const CopyFound& a, const CopyFound& b) {
    const bool never_finished = !b.is_present && !a.is_unreadable;
    return never_finished ? StateFileCondition::kAbsent : StateFileCondition::kDamaged;
}

}  // namespace

StateFileRecovery recover_state_file(const DirectoryImage& image, FileName name, FileOwner owner) {
    StateFile file(name, owner);
    const CopyFound a = look_at(image, file, StateCopy::kA);
    const CopyFound b = look_at(image, file, StateCopy::kB);
    if (!a.content && !b.content) return {condition_without_value(a, b), Bytes(), StateSequence(), file};

    const bool is_a_best = a.content && (!b.content || b.content->sequence <= a.content->sequence);
    const StateFileContent& best = is_a_best ? *a.content : *b.content;
    file.requested_ = file.recovered_ = best.sequence;
    file.first_copy_ = is_a_best ? StateCopy::kA : StateCopy::kB;
    file.repair_content_ = best.content;
    return {StateFileCondition::kValue, best.content, best.sequence, file};
}

}  // namespace tidelock::storage
