// Recovery: what is damage, what is a torn tail, what is rebuilt (L3, L4, I10).
#include "protocol/storage/recovery.h"

#include "tests/protocol/storage/store_rig.h"

namespace tidelock::storage {
namespace {

DirectoryImage with_flipped_bit(DirectoryImage image, const FileName& name, std::size_t bit) {
    for (ImageFile& file : image) {
        if (file.name != name) continue;
        const Bytes content = *file.content;
        file.content = Bytes::build(content.size(), [&](std::span<std::byte> into) {
            std::memcpy(into.data(), content.data(), content.size());
            into[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        });
    }
    return image;
}

DirectoryImage without(DirectoryImage image, std::string_view part) {
    std::erase_if(image, [&](const ImageFile& file) { return file.name.text().find(part) != std::string_view::npos; });
    return image;
}

/// Where the batches of a segment start.
std::vector<std::size_t> batch_starts(const Bytes& segment) {
    std::vector<std::size_t> starts;
    for (std::size_t at = 0; at < segment.size(); at += decode_batch_header(segment.span().subspan(at))->size_bytes())
        starts.push_back(at);
    return starts;
}

Disk promised_log() {
    Disk disk;
    for (int i = 0; i < 3; ++i) disk.append(2, 1);
    for (int i = 0; i < 3; ++i) disk.append(2, 2);
    disk.settle();
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(12));
    return disk;
}

TEST_CASE("an empty directory is an empty store without damage") {
    const StoreRecovery recovery = recover({}, small_config());
    REQUIRE(recovery.journal == JournalCondition::kEmpty);
    REQUIRE(recovery.partitions.empty());
    REQUIRE_FALSE(recovery.has_damage());
}

TEST_CASE("each flipped bit of a promised record is damage at its batch, and nothing is cut") {
    Disk disk = promised_log();
    const DirectoryImage good = disk.image();
    std::size_t segment_count = 0;
    for (const ImageFile& file : good) {
        const std::optional<PartitionFile> parsed = parse_partition_file(file.name.text());
        if (!parsed || parsed->kind != PartitionFileKind::kSegment) continue;
        ++segment_count;
        const std::vector<std::size_t> starts = batch_starts(*file.content);
        for (std::size_t bit = 0; bit < file.content->size() * 8; ++bit) {
            const StoreRecovery recovery = recover(with_flipped_bit(good, file.name, bit), small_config());
            REQUIRE(recovery.has_damage());
            const PartitionRecovery& found = recovery.partitions.at(0);
            REQUIRE(found.damage == PartitionDamage::kBad);
            const auto batch = std::upper_bound(starts.begin(), starts.end(), bit / 8) - starts.begin() - 1;
            REQUIRE(found.damaged_at == parsed->base_offset + 2 * batch);
            REQUIRE(found.durable_end_offset == Offset(12));
        }
    }
    REQUIRE(segment_count > 1);
}

TEST_CASE("damage is still there at the next boot, until the log is cut below it") {
    Disk disk = promised_log();
    const DirectoryImage bad = with_flipped_bit(disk.image(), segment_file_name(kPartition, Offset(0)), 8 * 300);
    for (const ImageFile& file : bad) disk.files.set_content(std::string(file.name.text()), *file.content);
    disk.store = recover(bad, small_config()).store;
    disk.out.clear();
    disk.store.start(disk.out);
    disk.settle();
    REQUIRE(disk.store.append(kPartition, make_batch(Offset(12), LeaderEpoch(3), 1, 1, 9), disk.out).error() ==
            AppendRefusal::kClosed);
    REQUIRE(disk.store.view(kPartition)->durable_end_offset <= disk.store.view(kPartition)->damaged_at);
    const StoreRecovery again = recover(disk.image(), small_config());
    REQUIRE(again.partitions.at(0).damage == PartitionDamage::kBad);
    const Offset at = again.partitions.at(0).damaged_at;

    REQUIRE(disk.store.truncate(kPartition, at) == at);
    disk.append(1, 3);
    disk.settle();
    const StoreRecovery healed = recover(disk.image(), small_config());
    REQUIRE_FALSE(healed.has_damage());
    REQUIRE(healed.partitions.at(0).log_end_offset == at + 1);
}

TEST_CASE("a flipped bit above what was promised is a torn tail: cut, and everything after it") {
    Disk disk = promised_log();
    disk.append(2, 2);
    disk.append(2, 2);
    disk.flush();  // written, not synced
    const DirectoryImage good = disk.image();
    REQUIRE(recover(good, small_config()).partitions.at(0).log_end_offset == Offset(16));
    const FileName tail = segment_file_name(kPartition, disk.store.logs().at(0).files.segments().back().base_offset);
    const Bytes content = *find_file(good, tail)->content;
    for (std::size_t bit = 0; bit < content.size() * 8; ++bit) {
        const StoreRecovery recovery = recover(with_flipped_bit(good, tail, bit), small_config());
        const PartitionRecovery& found = recovery.partitions.at(0);
        if (found.damage != PartitionDamage::kNone) {
            REQUIRE(found.damaged_at < Offset(12));
            continue;
        }
        REQUIRE(found.log_end_offset >= Offset(12));
        REQUIRE(found.log_end_offset < Offset(16));
        REQUIRE(found.has_torn_tail);
    }
}

TEST_CASE("missing and unreadable files below the promise are damage where they begin") {
    Disk disk = promised_log();
    const DirectoryImage good = disk.image();
    const Offset second = disk.store.logs().at(0).files.segments().at(1).base_offset;
    const PartitionRecovery lost =
        recover(without(good, segment_file_name(kPartition, second).text()), small_config()).partitions.at(0);
    REQUIRE(lost.damage == PartitionDamage::kMissing);
    REQUIRE(lost.damaged_at == second);
    const PartitionRecovery all = recover(without(good, "-3/"), small_config()).partitions.at(0);
    REQUIRE(all.damage == PartitionDamage::kMissing);
    REQUIRE(all.damaged_at == Offset(0));
    DirectoryImage unreadable = good;
    for (ImageFile& file : unreadable)
        if (file.name == segment_file_name(kPartition, second)) file.content = Failure<ReadError>(ReadError::kIo);
    const PartitionRecovery found = recover(unreadable, small_config()).partitions.at(0);
    REQUIRE(found.damage == PartitionDamage::kBad);
    REQUIRE(found.damaged_at == second);
}

TEST_CASE("an unreadable file is damage even above the promise: a read error is never the end of a log") {
    Disk disk = promised_log();
    for (int i = 0; i < 6; ++i) disk.append(2, 2);
    disk.flush();
    DirectoryImage image = disk.image();
    const Offset last = disk.store.logs().at(0).files.segments().back().base_offset;
    REQUIRE(last > Offset(12));
    for (ImageFile& file : image)
        if (file.name == segment_file_name(kPartition, last)) file.content = Failure<ReadError>(ReadError::kIo);
    REQUIRE(recover(image, small_config()).partitions.at(0).damage == PartitionDamage::kBad);
}

TEST_CASE("a lost journal is damage, and the history comes from batch headers (L3)") {
    Disk disk = promised_log();
    const StoreRecovery recovery = recover(without(disk.image(), "checkpoint."), small_config());
    REQUIRE(recovery.journal == JournalCondition::kDamaged);
    REQUIRE(recovery.has_damage());
    const PartitionRecovery& found = recovery.partitions.at(0);
    REQUIRE(found.is_history_rebuilt);
    REQUIRE(found.log_end_offset == Offset(12));
    REQUIRE(found.history.entries() ==
            std::vector<EpochStart>{{LeaderEpoch(1), Offset(0)}, {LeaderEpoch(2), Offset(6)}});
    const DirectoryImage bad =
        with_flipped_bit(without(disk.image(), "checkpoint."), segment_file_name(kPartition, Offset(0)), 4000);
    REQUIRE(recover(bad, small_config()).partitions.at(0).damage == PartitionDamage::kBad);
}

TEST_CASE("a history read from batches stays unvouched for at every later boot, until the log is reset (L3)") {
    Disk disk = promised_log();
    for (const ImageFile& file : disk.image())
        if (parse_journal_file_name(file.name.text())) disk.files.set_content(std::string(file.name.text()), Bytes());
    for (int boot = 0; boot < 2; ++boot) {
        StoreRecovery recovery = recover(disk.image(), small_config());
        REQUIRE(recovery.partitions.at(0).is_history_unvouched);
        REQUIRE(recovery.has_damage() == (boot == 0));
        disk.store = std::move(recovery.store);
        disk.out.clear();
        disk.store.start(disk.out);
        disk.settle();
    }
    disk.store.reset(kPartition, Offset(0));
    disk.settle();
    REQUIRE_FALSE(recover(disk.image(), small_config()).partitions.at(0).is_history_unvouched);
}

TEST_CASE("a journal with a bad slot in the middle still bounds the promise, and any bad batch is damage") {
    Disk disk = promised_log();
    for (int i = 0; i < 3; ++i) {
        disk.append(1, 2);
        disk.settle();
    }
    const FileName journal = find_file(disk.image(), "checkpoint.1") != nullptr ? "checkpoint.1" : "checkpoint.2";
    const std::size_t size = find_file(disk.image(), journal)->content->size();
    REQUIRE(size >= 5 * kJournalSectorBytes);
    // Behind it are the last commit and its seal.
    const DirectoryImage image = with_flipped_bit(disk.image(), journal, 8 * (size - 3 * kJournalSectorBytes));
    const StoreRecovery recovery = recover(image, small_config());
    REQUIRE(recovery.journal == JournalCondition::kDamaged);
    REQUIRE(recovery.partitions.at(0).durable_end_offset == Offset(15));
    REQUIRE(recovery.partitions.at(0).log_end_offset == Offset(15));
    REQUIRE(recovery.partitions.at(0).damage == PartitionDamage::kNone);
}

TEST_CASE("records without any epoch and without history are foreign (L3)") {
    Disk disk;
    disk.append(2, 0);
    disk.settle();
    REQUIRE(recover(disk.image(), small_config()).partitions.at(0).is_foreign);
    disk.append(2, 4);
    disk.settle();
    const PartitionRecovery found = recover(disk.image(), small_config()).partitions.at(0);
    REQUIRE_FALSE(found.is_foreign);
    REQUIRE(found.history.epoch_at(Offset(1)) == LeaderEpoch(0));
}

TEST_CASE("an epoch that wrote nothing survives a boot; entries past the log end do not (L3, F5)") {
    Disk disk = promised_log();
    REQUIRE(disk.store.note_epoch(kPartition, {LeaderEpoch(7), Offset(12)}).has_value());
    disk.settle();
    REQUIRE(recover(disk.image(), small_config()).partitions.at(0).history.latest() ==
            EpochStart{LeaderEpoch(7), Offset(12)});
    REQUIRE(disk.store.note_epoch(kPartition, {LeaderEpoch(8), Offset(20)}).has_value());
    disk.settle();
    REQUIRE(recover(disk.image(), small_config()).partitions.at(0).history.latest() ==
            EpochStart{LeaderEpoch(7), Offset(12)});
}

TEST_CASE("no record of an epoch is written before the epoch's entry is durable (L3)") {
    Disk disk = promised_log();
    disk.append(1, 9);
    disk.store.flush(disk.out);
    for (const FileEffect& effect : disk.out.effects)
        if (const auto* write = std::get_if<WriteFile>(&effect))
            REQUIRE(write->name.text().substr(0, 10) == "checkpoint");
    disk.out.reports.clear();
    disk.store.read({ReadId(1), kPartition, Offset(12), Offset(13), 1000}, disk.out);
    REQUIRE(std::get<RecordsRead>(disk.out.reports.at(0)).next_offset == Offset(13));  // but it can be read
    disk.settle();
    REQUIRE(std::get<Persisted>(disk.reports.back()) == Persisted{kPartition, Offset(13), LeaderEpoch(9)});
}

TEST_CASE("folders the journal does not know are strays and go") {
    Disk disk = promised_log();
    DirectoryImage image = disk.image();
    const TopicPartition other{TopicId(0xCD), PartitionIndex(0)};
    image.push_back({segment_file_name(other, Offset(0)), Bytes::copy_of(std::string_view("left over"))});
    image.push_back({"00000000000000cd-0/strange", Bytes()});
    std::sort(image.begin(), image.end(), [](const ImageFile& a, const ImageFile& b) { return a.name < b.name; });
    StoreRecovery recovery = recover(image, small_config());
    REQUIRE(recovery.strays == std::vector<TopicPartition>{other});
    REQUIRE_FALSE(recovery.has_damage());
    for (const ImageFile& file : image) disk.files.set_content(std::string(file.name.text()), *file.content);
    disk.store = recovery.store;
    disk.store.start(disk.out);
    disk.settle();
    for (const std::string& name : disk.files.names()) REQUIRE(name.find("cd-0") == std::string::npos);
}

TEST_CASE("a bad index costs nothing, and the log is the same with and without the scan") {
    Disk disk = promised_log();
    disk.store.set_high_watermark(kPartition, Offset(12));
    for (int i = 0; i < 4; ++i) disk.append(2, 2);
    disk.settle();
    LogStoreConfig quick = small_config();
    quick.scan = RecoveryScan::kFromCheckpoint;
    const StoreRecovery scanned = recover(disk.image(), small_config());
    StoreRecovery trusted = recover(disk.image(), quick);
    REQUIRE(trusted.partitions.at(0).unverified_end_offset > Offset(0));
    trusted.partitions.at(0).unverified_end_offset = Offset(0);
    REQUIRE(scanned.partitions == trusted.partitions);
    REQUIRE(trusted.store.logs().at(0).files.segments().at(0).is_thinned);
    DirectoryImage image = disk.image();
    for (ImageFile& file : image)
        if (file.name.text().find(".index") != std::string_view::npos)
            file.content = Bytes::copy_of(std::string_view("rot"));
    REQUIRE(recover(image, quick).partitions == scanned.partitions);
}

TEST_CASE("a trusted segment's records are not verified at boot, but its headers have to fit, and what is read is") {
    Disk disk = promised_log();
    disk.store.set_high_watermark(kPartition, Offset(12));
    for (int i = 0; i < 4; ++i) disk.append(2, 2);
    disk.settle();
    LogStoreConfig quick = small_config();
    quick.scan = RecoveryScan::kFromCheckpoint;
    const DirectoryImage good = disk.image();
    const Offset trusted_end = recover(good, quick).partitions.at(0).unverified_end_offset;
    REQUIRE(trusted_end > Offset(0));
    REQUIRE(recover(good, small_config()).partitions.at(0).unverified_end_offset == Offset(0));
    const FileName first = segment_file_name(kPartition, Offset(0));
    const std::size_t bits = find_file(good, first)->content->size() * 8;
    bool is_any_missed = false;
    for (std::size_t bit = 0; bit < bits; ++bit) {
        const StoreRecovery recovery = recover(with_flipped_bit(good, first, bit), quick);
        const PartitionRecovery& found = recovery.partitions.at(0);
        // Noticed, and then all is as after a scan; or not, and then the offsets are right all the same.
        if (found.damage != PartitionDamage::kNone) continue;
        is_any_missed = true;
        REQUIRE(found.unverified_end_offset == trusted_end);
        REQUIRE(found.log_end_offset == disk.store.view(kPartition)->log_end_offset);
    }
    REQUIRE(is_any_missed);
}

}  // namespace
}  // namespace tidelock::storage
