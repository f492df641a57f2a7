// The log store step by step: what is asked of the disk in which order, and when something is promised.
#include "protocol/storage/log_store.h"

#include <algorithm>
#include <cstring>

#include "protocol/storage/recovery.h"
#include "tests/protocol/storage/store_rig.h"

namespace tidelock::storage {
namespace {

template <typename Report>
std::vector<Report> reports_of(const std::vector<StoreReport>& reports) {
    std::vector<Report> found;
    for (const StoreReport& report : reports)
        if (const auto* each = std::get_if<Report>(&report)) found.push_back(*each);
    return found;
}

/// A log with ten promised records under epoch 1, quiet, its reports forgotten.
Disk ten_records() {
    Disk disk;
    for (int i = 0; i < 5; ++i) disk.append(2, 1);
    disk.settle();
    disk.reports.clear();
    return disk;
}

FileOpId sync_of(const std::vector<FileEffect>& effects, std::string_view part) {
    for (const FileEffect& effect : effects)
        if (const auto* sync = std::get_if<SyncFile>(&effect))
            if (sync->name.text().find(part) != std::string_view::npos) return sync->op;
    return FileOpId(0);
}

TEST_CASE("a position is promised after its data and then the journal are synced, not before (L2)") {
    Disk disk = ten_records();
    disk.append(2, 1);
    disk.store.flush(disk.out);
    const FileOpId data = sync_of(disk.out.effects, ".log");
    REQUIRE(data != FileOpId(0));
    REQUIRE(sync_of(disk.out.effects, "checkpoint") == FileOpId(0));
    disk.out.clear();
    disk.store.step(FileSynced{data, true}, disk.out);
    if (disk.store.is_commit_in_flight() && sync_of(disk.out.effects, "checkpoint") == FileOpId(0))
        for (const FileEffect& effect : std::vector<FileEffect>(disk.out.effects))
            REQUIRE(!std::holds_alternative<SyncFile>(effect));
    REQUIRE(reports_of<Persisted>(disk.out.reports).empty());
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(10));
}

TEST_CASE("what is appended while a commit is in flight is the next one's") {
    Disk disk = ten_records();
    disk.append(2, 1);
    disk.store.flush(disk.out);
    disk.append(2, 1);
    disk.settle();
    const std::vector<Persisted> promises = reports_of<Persisted>(disk.reports);
    REQUIRE(promises.size() == 2);
    REQUIRE(promises[0].durable_end_offset == Offset(12));
    REQUIRE(promises[1].durable_end_offset == Offset(14));
}

TEST_CASE("appends with a gap, an overlap or an older epoch are refused and change nothing (F4)") {
    Disk disk = ten_records();
    const LogStore before = disk.store;
    const auto refusal = [&](int base, int leader_epoch) {
        return disk.store.append(kPartition, make_batch(Offset(base), LeaderEpoch(leader_epoch), 1, 1, 8), disk.out)
            .error();
    };
    REQUIRE(refusal(11, 1) == AppendRefusal::kNotContiguous);
    REQUIRE(refusal(9, 1) == AppendRefusal::kNotContiguous);
    REQUIRE(refusal(10, 0) == AppendRefusal::kEpochWentBack);
    REQUIRE(refusal(10, -1) == AppendRefusal::kEpochWentBack);
    REQUIRE(disk.store.append(kPartition, Bytes::copy_of(std::string_view("noise")), disk.out).error() ==
            AppendRefusal::kBadBatch);
    REQUIRE(disk.store.append({TopicId(1), PartitionIndex(1)}, Bytes(), disk.out).error() ==
            AppendRefusal::kUnknownPartition);
    REQUIRE(disk.store == before);
}

TEST_CASE("a cut to the log end drops the epochs that start there, and no record (FINDING-1)") {
    Disk disk = ten_records();
    REQUIRE(disk.store.note_epoch(kPartition, {LeaderEpoch(4), Offset(10)}).has_value());
    REQUIRE(disk.store.truncate(kPartition, Offset(10)) == Offset(10));
    REQUIRE(disk.store.history(kPartition)->latest_epoch() < LeaderEpoch(4));
    REQUIRE(disk.store.append(kPartition, make_batch(Offset(10), LeaderEpoch(2), 1, 5, 8), disk.out).has_value());
}

bool is_seal(const Bytes& written) {
    return written.size() == kJournalSectorBytes && written.span()[4] == static_cast<std::byte>(SlotKind::kSeal);
}

TEST_CASE("a cut reaches the journal before the file, its end the journal again, and only then new records the file") {
    Disk disk = ten_records();
    REQUIRE(disk.store.truncate(kPartition, Offset(5)) == Offset(4));
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(4));
    REQUIRE(disk.store.append(kPartition, make_batch(Offset(4), LeaderEpoch(2), 1, 5, 8), disk.out).has_value());
    std::vector<std::string> order;
    const auto note = [&](const std::vector<FileEffect>& effects) {
        for (const FileEffect& effect : effects) {
            const auto* write = std::get_if<WriteFile>(&effect);
            if (write != nullptr && !is_seal(write->content))
                order.push_back("write " + std::string(write->name.text().substr(0, 10)));
            if (std::holds_alternative<TruncateFile>(effect)) order.push_back("truncate");
        }
    };
    disk.store.flush(disk.out);
    note(disk.out.effects);
    disk.files.carry_out(disk.out.effects);
    disk.out.clear();
    while (disk.files.has_completion()) {
        disk.store.step(disk.files.take_completion(), disk.out);
        disk.store.flush(disk.out);
        note(disk.out.effects);
        disk.files.carry_out(disk.out.effects);
        disk.out.clear();
    }
    REQUIRE(order.size() >= 5);
    REQUIRE(order[0] == "write checkpoint");
    REQUIRE(order[1] == "truncate");
    REQUIRE(order[2] == "write checkpoint");
    REQUIRE(order[3] == "write 0000000000");
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(5));
    REQUIRE(disk.store.history(kPartition)->latest() == EpochStart{LeaderEpoch(2), Offset(4)});
}

/// The newest journal of the image, with a bit flipped in its last commit; its seal is as it was, or gone.
void rot_newest_commit(DirectoryImage& image, bool is_seal_there) {
    const auto is_journal = [](const ImageFile& file) { return file.name.text().starts_with("checkpoint."); };
    const auto journal = std::ranges::find_if(image, is_journal);
    REQUIRE(journal != image.end());
    const std::span<const std::byte> content = journal->content->span();
    std::size_t last = content.size() - kJournalSectorBytes;
    while (last > 0 && content[last - 1] == std::byte{0}) --last;
    REQUIRE(last > 0);
    const std::size_t size = is_seal_there ? content.size() : content.size() - kJournalSectorBytes;
    journal->content = Bytes::build(size, [&](std::span<std::byte> into) {
        std::memcpy(into.data(), content.data(), size);
        into[last - 1] ^= std::byte{1};
    });
}

TEST_CASE(
    "the loss of the newest commit takes nothing that was promised after a cut, unless it is told as damage (L4)") {
    for (const int variant : {0, 1, 2, 3}) {
        const bool is_reset = variant % 2 == 0;
        Disk disk = ten_records();
        if (is_reset)
            disk.store.reset(kPartition, Offset(20));
        else
            REQUIRE(disk.store.truncate(kPartition, Offset(4)) == Offset(4));
        disk.append(2, 2);  // while the cut is under way
        disk.settle();
        const Offset promised = disk.store.view(kPartition)->durable_end_offset;
        REQUIRE(promised == disk.store.view(kPartition)->log_end_offset);
        DirectoryImage image = disk.image();
        rot_newest_commit(image, variant / 2 == 0);
        const StoreRecovery found = recover(image, small_config());
        REQUIRE(found.partitions.size() == 1);
        REQUIRE((found.has_damage() || found.partitions.front().log_end_offset == promised));
    }
}

TEST_CASE("rot of the newest commit is told from a torn tail by the seal behind it (L4)") {
    Disk disk = ten_records();
    DirectoryImage image = disk.image();
    REQUIRE(read_journal(image).condition == JournalCondition::kWhole);
    rot_newest_commit(image, true);
    REQUIRE(read_journal(image).condition == JournalCondition::kDamaged);
    image = disk.image();
    rot_newest_commit(image, false);
    REQUIRE(read_journal(image).condition == JournalCondition::kTornTail);
}

/// Asks for the records from there on; the device answers errors, as often as the store tries.
void fail_to_read(Disk& disk, Offset from) {
    disk.store.read(ReadRequest{ReadId(1), kPartition, from, Offset(10), 1}, disk.out);
    while (!disk.out.effects.empty()) {
        const auto asked = std::get<ReadFile>(disk.out.effects.at(0));
        disk.out.effects.clear();
        disk.store.step(FileReadDone{asked.op, Failure<ReadError>(ReadError::kIo)}, disk.out);
    }
    disk.flush();
}

bool is_damaged(const Disk& disk) {
    return disk.store.view(kPartition)->damaged_at.has_value();
}

TEST_CASE("errors of the device that pass, here and there, give up no record (L4)") {
    Disk disk = ten_records();
    for (int i = 0; i < 5; ++i) fail_to_read(disk, Offset(0));
    for (int i = 0; i < 7; ++i) fail_to_read(disk, Offset(6));
    REQUIRE_FALSE(is_damaged(disk));
    disk.store.advance_log_start(kPartition, Offset(2));
    disk.settle();
    for (int i = 0; i < 5; ++i) fail_to_read(disk, Offset(4));
    REQUIRE_FALSE(is_damaged(disk));
    fail_to_read(disk, Offset(6));
    REQUIRE(is_damaged(disk));
    REQUIRE(*disk.store.view(kPartition)->damaged_at > Offset(2));
}

TEST_CASE("an epoch that was cut is waited for like one that was noted, before older ones write on (L3)") {
    Disk disk = ten_records();
    REQUIRE(disk.store.note_epoch(kPartition, {LeaderEpoch(5), Offset(10)}).has_value());
    disk.settle();
    REQUIRE(disk.store.truncate(kPartition, Offset(10)) == Offset(10));
    disk.append(2, 1);
    const auto writes_records = [&] {
        return std::ranges::any_of(disk.out.effects, [](const FileEffect& effect) {
            const auto* write = std::get_if<WriteFile>(&effect);
            return write != nullptr && write->name.text().find(".log") != std::string_view::npos;
        });
    };
    REQUIRE_FALSE(writes_records());
    disk.store.flush(disk.out);
    REQUIRE_FALSE(writes_records());
    disk.settle();
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(12));
}

TEST_CASE("a failed sync takes the log back to its durable end, into a new file, after reading what is kept (L9)") {
    Disk disk = ten_records();
    disk.append(2, 1);
    disk.append(2, 1);
    disk.files.fail_next_sync();
    disk.settle();
    const std::vector<LogFailed> failures = reports_of<LogFailed>(disk.reports);
    REQUIRE(failures.size() == 1);
    REQUIRE(failures[0].log_end_offset == Offset(10));
    REQUIRE_FALSE(failures[0].is_final);
    REQUIRE(reports_of<LogReopened>(disk.reports) == std::vector<LogReopened>{{kPartition, Offset(10)}});
    disk.append(1, 2);
    disk.settle();
    REQUIRE(disk.store.logs().at(0).files.segments().back().base_offset == Offset(10));
    REQUIRE(reports_of<Persisted>(disk.reports).back().durable_end_offset == Offset(11));
}

TEST_CASE("a log that cannot be cut is given up after a bounded number of attempts, until resume") {
    Disk disk = ten_records();
    disk.append(2, 1);
    disk.store.flush(disk.out);
    for (int i = 0; i < 1000 && reports_of<LogFailed>(disk.reports).size() < 2; ++i) {
        disk.flush();
        if (!disk.files.has_completion()) break;
        FileEvent event = disk.files.take_completion();
        // Every sync of a segment fails, those of journals are well.
        if (auto* synced = std::get_if<FileSynced>(&event)) {
            const bool is_cutting = disk.store.logs().at(0).cut_stage == CutStage::kCutting;
            if (is_cutting || reports_of<LogFailed>(disk.reports).empty()) synced->ok = false;
        }
        disk.store.step(event, disk.out);
    }
    REQUIRE(reports_of<LogFailed>(disk.reports).back().is_final);
    disk.settle();
    REQUIRE(disk.store.append(kPartition, make_batch(Offset(10), LeaderEpoch(2), 1, 1, 8), disk.out).error() ==
            AppendRefusal::kClosed);
    disk.store.resume(disk.out);
    disk.settle();
    REQUIRE(disk.store.view(kPartition)->condition == LogCondition::kOpen);
}

TEST_CASE("a dropped log whose files cannot be removed is given up after as many attempts, and says so") {
    Disk disk = ten_records();
    disk.store.drop_partition(kPartition);
    disk.store.flush(disk.out);
    for (int i = 0; i < 1000; ++i) {
        disk.flush();
        if (!disk.files.has_completion()) break;
        FileEvent event = disk.files.take_completion();
        const bool is_cutting = disk.store.logs().at(0).cut_stage == CutStage::kCutting;
        if (auto* synced = std::get_if<FileSynced>(&event); synced != nullptr && is_cutting) synced->ok = false;
        disk.store.step(event, disk.out);
    }
    REQUIRE(reports_of<RemovalGivenUp>(disk.reports) == std::vector<RemovalGivenUp>{{kPartition}});
    REQUIRE(reports_of<LogFailed>(disk.reports).empty());
    disk.store.resume(disk.out);
    disk.settle();
    REQUIRE(disk.store.logs().empty());
}

TEST_CASE("a failed sync of the journal means a new journal, and the promise waits for it") {
    Disk disk = ten_records();
    disk.store.set_high_watermark(kPartition, Offset(10));
    disk.store.advance_log_start(kPartition, Offset(4));  // the journal alone is dirty
    disk.files.fail_next_sync();
    disk.settle();
    REQUIRE(reports_of<JournalFailed>(disk.reports) == std::vector<JournalFailed>{{1, false}});
    REQUIRE(recover(disk.image(), small_config()).partitions.at(0).log_start_offset == Offset(4));
    for (const std::string& name : disk.files.names()) REQUIRE(name != "checkpoint.1");
}

TEST_CASE("a full disk stops commits until resume, and loses nothing promised") {
    Disk disk = ten_records();
    disk.files.fail_next_write(WriteFailure::kFull);
    disk.append(2, 1);
    disk.settle();
    REQUIRE(reports_of<DiskFull>(disk.reports).size() == 1);
    REQUIRE(reports_of<LogFailed>(disk.reports).at(0).log_end_offset == Offset(10));
    REQUIRE_FALSE(disk.store.is_commit_in_flight());
    disk.append(1, 2);  // the cut was part of the commit in flight, so the log is open again
    disk.settle();
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(10));
    disk.store.resume(disk.out);
    disk.settle();
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(11));
}

TEST_CASE("a bad batch is read twice, then it is damage and the log is closed (L4)") {
    Disk disk = ten_records();
    disk.files.flip(std::string(segment_file_name(kPartition, Offset(0)).text()), 250, 3);
    disk.store.read({ReadId(7), kPartition, Offset(0), Offset(10), 100000}, disk.out);
    REQUIRE(disk.out.effects.size() == 1);
    disk.settle();
    REQUIRE(reports_of<ReadFailed>(disk.reports) ==
            std::vector<ReadFailed>{{ReadId(7), kPartition, ReadFailure::kDamaged}});
    const std::vector<LogDamaged> damages = reports_of<LogDamaged>(disk.reports);
    REQUIRE(damages.size() == 1);
    REQUIRE(damages[0].at_offset < Offset(10));
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == damages[0].at_offset);
}

TEST_CASE("a sector that gives errors is damage when it has given them often enough, not at the first (L4)") {
    Disk disk;
    disk.append(3, 1);
    disk.settle();
    const auto read_in_vain = [&] {
        disk.store.read({ReadId(1), kPartition, Offset(1), Offset(3), 1000}, disk.out);
        for (int attempt = 0; attempt < 2; ++attempt) {
            const auto* read = std::get_if<ReadFile>(&disk.out.effects.back());
            REQUIRE(read != nullptr);
            disk.store.step(FileReadDone{read->op, tl::unexpected(ReadError{})}, disk.out);
        }
        disk.out.clear();
    };
    for (int i = 0; i < 7; ++i) read_in_vain();
    REQUIRE(disk.store.view(kPartition)->condition == LogCondition::kOpen);
    // What was unreadable is read after all: it counts anew.
    disk.store.read({ReadId(2), kPartition, Offset(0), Offset(3), 1000}, disk.out);
    disk.settle();
    for (int i = 0; i < 7; ++i) read_in_vain();
    REQUIRE(disk.store.view(kPartition)->condition == LogCondition::kOpen);
    read_in_vain();
    REQUIRE(disk.store.view(kPartition)->condition == LogCondition::kDamaged);
    REQUIRE(disk.store.view(kPartition)->damaged_at.has_value());
}

TEST_CASE("reads outside the log are refused, at its end they are empty") {
    Disk disk = ten_records();
    const auto read = [&](int from) {
        disk.out.clear();
        disk.store.read({ReadId(1), kPartition, Offset(from), Offset(100), 100}, disk.out);
        return disk.out.reports;
    };
    REQUIRE(std::get<ReadFailed>(read(11).at(0)).reason == ReadFailure::kOutOfRange);
    REQUIRE(std::get<ReadFailed>(read(-1).at(0)).reason == ReadFailure::kOutOfRange);
    REQUIRE(std::get<RecordsRead>(read(10).at(0)).batches.empty());
    REQUIRE(read(3).empty());  // goes to the file
}

TEST_CASE("dropping and creating again leaves nothing of the old log, and the store equals its copy") {
    Disk disk = ten_records();
    disk.store.drop_partition(kPartition);
    REQUIRE_FALSE(disk.store.view(kPartition).has_value());
    disk.store.create_partition(kPartition);
    disk.append(1, 4);
    disk.settle();
    REQUIRE(disk.store.view(kPartition)->durable_end_offset == Offset(1));
    const LogStore copy = disk.store;
    REQUIRE(copy == disk.store);
    Digest one;
    Digest other;
    copy.fold(one);
    disk.store.fold(other);
    REQUIRE(one == other);
    disk.store.drop_partition(kPartition);
    disk.settle();
    REQUIRE(disk.store.logs().empty());
    for (const std::string& name : disk.files.names()) REQUIRE(name.find('/') == std::string::npos);
}

}  // namespace
}  // namespace tidelock::storage
