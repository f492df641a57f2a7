#include "protocol/storage/checkpoint_journal.h"

#include <algorithm>
#include <charconv>

#include "protocol/base/check.h"
#include "protocol/base/crc32c.h"

namespace tidelock::storage {

/// The 44 bytes of a slot that depend on its kind; numbers a kind has no use for are 0.
struct CommitWriter::SlotBody {
    TopicPartition tp;
    std::uint8_t detail = 0;
    std::int64_t numbers[4] = {0, 0, 0, 0};
    std::uint8_t marks = 0;
};

namespace {

constexpr std::string_view kNamePrefix = "checkpoint.";
constexpr std::string_view kDraftSuffix = ".new";
constexpr std::uint8_t kFlagLast = 1;
constexpr std::uint8_t kMarkHistoryUnvouched = 1;
constexpr std::size_t kFlagsAt = 5;
constexpr std::int64_t kOffsetMax = std::int64_t{1} << 62;  // far from where adding to an offset overflows

std::uint32_t slot_crc(std::uint64_t generation, std::span<const std::byte> slot) {
    std::array<std::byte, sizeof generation> seed;
    std::memcpy(seed.data(), &generation, sizeof generation);
    return crc32c_extend(crc32c(seed), slot.subspan(sizeof(std::uint32_t)));
}

/// A slot as decoded; whether its numbers make sense is asked when it is applied.
struct Slot {
    SlotKind kind = SlotKind::kPartition;
    bool is_last = false;
    std::uint8_t detail = 0;
    std::uint8_t marks = 0;
    std::uint32_t index = 0;
    std::uint64_t sequence = 0;
    TopicPartition tp;
    std::int64_t numbers[4] = {0, 0, 0, 0};
};

std::optional<Slot> decode_slot(std::uint64_t generation, std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    const std::uint32_t crc = in.u32();
    if (in.failed() || crc != slot_crc(generation, bytes)) return std::nullopt;
    Slot slot;
    const std::uint8_t kind = in.u8();
    slot.is_last = (in.u8() & kFlagLast) != 0;
    slot.detail = in.u8();
    slot.marks = in.u8();
    slot.index = in.u32();
    slot.sequence = in.u64();
    slot.tp.topic = TopicId(in.u64());
    slot.tp.partition = PartitionIndex(in.i32());
    for (std::int64_t& number : slot.numbers) number = in.i64();
    if (in.failed() || kind < 1 || kind > static_cast<std::uint8_t>(SlotKind::kSeal)) return std::nullopt;
    slot.kind = static_cast<SlotKind>(kind);
    return slot;
}

using Records = std::vector<PartitionRecord>;

Records::iterator place_of(Records& records, const TopicPartition& tp) {
    return std::lower_bound(records.begin(), records.end(), tp,
                            [](const PartitionRecord& record, const TopicPartition& key) { return record.tp < key; });
}

PartitionRecord& record_of(Records& records, const TopicPartition& tp) {
    const Records::iterator at = place_of(records, tp);
    if (at != records.end() && at->tp == tp) return *at;
    PartitionRecord fresh;
    fresh.tp = tp;
    return *records.insert(at, fresh);
}

/// Applies a partition slot; false if its numbers contradict each other.
bool apply_partition(Records& records, const Slot& slot) {
    const std::int64_t log_start = slot.numbers[0];
    const std::int64_t durable_end = slot.numbers[1];
    const std::int64_t high_watermark = slot.numbers[2];
    const std::int64_t cut_to = slot.numbers[3];
    if (log_start < 0 || durable_end < log_start || high_watermark < log_start || cut_to < 0) return false;
    if (durable_end > kOffsetMax || high_watermark > kOffsetMax || cut_to > kOffsetMax) return false;
    if (slot.detail > static_cast<std::uint8_t>(PendingCut::kAll)) return false;
    PartitionRecord& record = record_of(records, slot.tp);
    record.log_start_offset = Offset(log_start);
    record.durable_end_offset = Offset(durable_end);
    record.high_watermark = Offset(high_watermark);
    record.pending_cut = static_cast<PendingCut>(slot.detail);
    record.cut_to = Offset(cut_to);
    record.is_history_unvouched = (slot.marks & kMarkHistoryUnvouched) != 0;
    record.history.truncate_from_start(record.log_start_offset);
    return true;
}

bool apply(Records& records, const Slot& slot) {
    switch (slot.kind) {
        case SlotKind::kPartition:
            return apply_partition(records, slot);
        case SlotKind::kHistoryCut:
            record_of(records, slot.tp).history.truncate_from_end(Offset(slot.numbers[0]));
            return true;
        case SlotKind::kEpochEntry: {
            const auto leader_epoch = static_cast<std::int32_t>(slot.numbers[0]);
            const EpochStart entry{LeaderEpoch(leader_epoch), Offset(slot.numbers[1])};
            const bool is_sane =
                leader_epoch == slot.numbers[0] && slot.numbers[1] >= 0 && slot.numbers[1] <= kOffsetMax;
            return is_sane && record_of(records, slot.tp).history.assign(entry).has_value();
        }
        case SlotKind::kDropped: {
            const Records::iterator at = place_of(records, slot.tp);
            if (at != records.end() && at->tp == slot.tp) records.erase(at);
            return true;
        }
        case SlotKind::kFileHeader:
        case SlotKind::kSeal:
            return true;
    }
    return false;
}

constexpr std::size_t round_up_to_sector(std::size_t size) {
    return (size + kJournalSectorBytes - 1) / kJournalSectorBytes * kJournalSectorBytes;
}

/// One journal file as far as it can be believed.
struct FileReading {
    bool has_snapshot = false;  // its first commit is whole
    bool is_torn = false;       // something incomplete at the end
    bool is_damaged = false;    // something bad or missing before something good
    Records records;
};

class JournalFileReader {
  public:
    JournalFileReader(std::uint64_t generation, std::span<const std::byte> bytes)
        : generation_(generation), bytes_(bytes) {}

    FileReading read() {
        std::uint64_t sequence = 1;
        while (at_ < bytes_.size()) {
            const std::optional<std::size_t> commit_end = whole_commit_end(sequence);
            if (!commit_end) break;
            if (!apply_commit(*commit_end)) reading_.is_damaged = true;
            if (sequence == 1) reading_.has_snapshot = true;
            ++sequence;
            at_ = round_up_to_sector(*commit_end);
        }
        if (at_ < bytes_.size()) read_rest(sequence);
        return std::move(reading_);
    }

  private:
    std::optional<Slot> slot_at(std::size_t at) const {
        if (at + kJournalSlotBytes > bytes_.size()) return std::nullopt;
        return decode_slot(generation_, bytes_.subspan(at, kJournalSlotBytes));
    }

    /// Where the commit that starts at at_ ends, if all its slots are there.
    std::optional<std::size_t> whole_commit_end(std::uint64_t sequence) const {
        std::size_t at = at_;
        for (std::uint32_t index = 0;; ++index, at += kJournalSlotBytes) {
            const std::optional<Slot> slot = slot_at(at);
            if (!slot || slot->sequence != sequence || slot->index != index) return std::nullopt;
            if (sequence == 1 && index == 0 && slot->kind != SlotKind::kFileHeader) return std::nullopt;
            if (slot->is_last) return at + kJournalSlotBytes;
        }
    }

    bool apply_commit(std::size_t end) {
        bool is_sane = true;
        for (; at_ < end; at_ += kJournalSlotBytes) {
            const std::optional<Slot> slot = slot_at(at_);
            CHECK(slot.has_value());
            is_sane = apply(reading_.records, *slot) && is_sane;
        }
        return is_sane;
    }

    /// From the first commit that is not whole on. A slot of a later commit proves that this one was once whole,
    /// because a commit is written only when the one before is durable.
    void read_rest(std::uint64_t torn_sequence) {
        std::vector<Slot> valid;
        bool is_later_there = false;
        for (std::size_t at = at_; at + kJournalSlotBytes <= bytes_.size(); at += kJournalSlotBytes) {
            const std::optional<Slot> slot = slot_at(at);
            if (!slot) continue;
            is_later_there = is_later_there || slot->sequence > torn_sequence;
            valid.push_back(*slot);
        }
        reading_.is_torn = !is_later_there;
        if (!is_later_there) return;
        reading_.is_damaged = true;
        for (const Slot& slot : valid) apply(reading_.records, slot);
    }

    std::uint64_t generation_;
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    FileReading reading_;
};

/// Nothing of it can be believed, though it was whole when it got its name.
bool is_ruined(const FileReading& reading) {
    return !reading.has_snapshot && !reading.is_damaged;
}

void take(JournalState& state, FileReading reading, bool is_older_unreadable) {
    state.partitions = std::move(reading.records);
    const bool is_damaged = reading.is_damaged || is_older_unreadable;
    state.condition = is_damaged        ? JournalCondition::kDamaged
                      : reading.is_torn ? JournalCondition::kTornTail
                                        : JournalCondition::kWhole;
}

}  // namespace

FileName journal_file_name(std::uint64_t generation) {
    std::array<char, 20> digits{};
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), generation).ptr;
    FileName name(kNamePrefix);
    name.append({digits.data(), static_cast<std::size_t>(end - digits.data())});
    return name;
}

std::optional<std::uint64_t> parse_journal_file_name(std::string_view name) {
    if (name.substr(0, kNamePrefix.size()) != kNamePrefix) return std::nullopt;
    const std::string_view digits = name.substr(kNamePrefix.size());
    std::uint64_t generation = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), generation);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return journal_file_name(generation).text() == name ? std::optional<std::uint64_t>(generation) : std::nullopt;
}

FileName journal_draft_name(std::uint64_t generation) {
    FileName name = journal_file_name(generation);
    name.append(kDraftSuffix);
    return name;
}

std::optional<std::uint64_t> parse_journal_draft_name(std::string_view name) {
    if (!name.ends_with(kDraftSuffix)) return std::nullopt;
    return parse_journal_file_name(name.substr(0, name.size() - kDraftSuffix.size()));
}

void CommitWriter::put(SlotKind kind, const SlotBody& body) {
    const std::size_t at = out_.size();
    out_.u32(0);  // CRC, known only when it is known which slot is the last
    out_.u8(static_cast<std::uint8_t>(kind));
    out_.u8(0);
    out_.u8(body.detail);
    out_.u8(body.marks);
    out_.u32(slot_count_++);
    out_.u64(sequence_);
    out_.u64(body.tp.topic.value);
    out_.i32(body.tp.partition.value);
    for (const std::int64_t number : body.numbers) out_.i64(number);
    CHECK(out_.size() == at + kJournalSlotBytes);
}

void CommitWriter::add_file_header() {
    put(SlotKind::kFileHeader, {});
}

void CommitWriter::add_partition(const PartitionRecord& record) {
    put(SlotKind::kPartition, {record.tp,
                               static_cast<std::uint8_t>(record.pending_cut),
                               {record.log_start_offset.value, record.durable_end_offset.value,
                                record.high_watermark.value, record.cut_to.value},
                               record.is_history_unvouched ? kMarkHistoryUnvouched : std::uint8_t{0}});
}

void CommitWriter::add_history_cut(const TopicPartition& tp, Offset from) {
    put(SlotKind::kHistoryCut, {tp, 0, {from.value, 0, 0, 0}});
}

void CommitWriter::add_epoch_entry(const TopicPartition& tp, const EpochStart& entry) {
    put(SlotKind::kEpochEntry, {tp, 0, {entry.leader_epoch.value, entry.start_offset.value, 0, 0}});
}

void CommitWriter::add_dropped(const TopicPartition& tp) {
    put(SlotKind::kDropped, {tp, 0, {0, 0, 0, 0}});
}

void CommitWriter::add_seal() {
    put(SlotKind::kSeal, {});
}

Bytes CommitWriter::finish() {
    CHECK(slot_count_ > 0);
    const std::span<const std::byte> slots = out_.span();
    return Bytes::build(round_up_to_sector(slots.size()), [&](std::span<std::byte> into) {
        std::memcpy(into.data(), slots.data(), slots.size());
        std::memset(into.data() + slots.size(), 0, into.size() - slots.size());
        into[slots.size() - kJournalSlotBytes + kFlagsAt] = std::byte{kFlagLast};
        for (std::size_t at = 0; at < slots.size(); at += kJournalSlotBytes) {
            const std::uint32_t crc = slot_crc(generation_, into.subspan(at, kJournalSlotBytes));
            std::memcpy(into.data() + at, &crc, sizeof crc);
        }
    });
}

JournalState read_journal(const DirectoryImage& image) {
    JournalState state;
    for (const ImageFile& file : image) {
        const std::optional<std::uint64_t> generation = parse_journal_file_name(file.name.text());
        const std::optional<std::uint64_t> draft = parse_journal_draft_name(file.name.text());
        if (generation) state.generations.push_back(*generation);
        if (draft) state.drafts.push_back(*draft);
        // A number is never used twice: what an old draft left behind its end would count as slots of a new one.
        state.generation_max = std::max({state.generation_max, generation.value_or(0), draft.value_or(0)});
    }
    std::sort(state.generations.begin(), state.generations.end());

    // The newest file speaks; older ones are left-overs of a removal that was not durable.
    bool is_newer_unreadable = false;
    for (auto generation = state.generations.rbegin(); generation != state.generations.rend(); ++generation) {
        const ImageFile* file = find_file(image, journal_file_name(*generation));
        CHECK(file != nullptr);
        if (!file->content) {
            is_newer_unreadable = true;
            continue;
        }
        FileReading reading = JournalFileReader(*generation, file->content->span()).read();
        if (is_ruined(reading)) {
            is_newer_unreadable = true;
            continue;
        }
        take(state, std::move(reading), is_newer_unreadable);
        return state;
    }
    state.condition = is_newer_unreadable ? JournalCondition::kDamaged : JournalCondition::kEmpty;
    return state;
}

}  // namespace tidelock::storage
