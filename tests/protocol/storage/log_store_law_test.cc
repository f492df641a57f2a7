// The log store's law, tried on random stories: whatever is appended, cut, failed and crashed, what was promised is
// there, what was durably cut stays gone, and what recovery returns is a prefix of something that was once the log.
#include <rapidcheck.h>

#include "protocol/base/crc32c.h"
#include "tests/protocol/storage/store_rig.h"

namespace tidelock::storage {
namespace {

struct Command {
    std::uint8_t kind = 0;
    std::uint16_t a = 0;
    std::uint16_t b = 0;
};

void showValue(const Command& command, std::ostream& os) {
    os << "{" << int(command.kind) << "," << command.a << "," << command.b << "}";
}

/// The image with each file's content borrowed; `lent_count` says how many are not back yet.
DirectoryImage lend(DirectoryImage image, int& lent_count) {
    for (ImageFile& file : image) {
        if (!file.content) continue;
        const Bytes kept = *file.content;
        ++lent_count;
        file.content = Bytes::borrow(kept.span(), [kept, &lent_count] { --lent_count; });
    }
    return image;
}

class Story {
  public:
    Story(std::uint64_t seed, bool with_failures, RecoveryScan scan)
        : files_(seed), with_failures_(with_failures), config_(configured(scan)), store_(config_) {
        begin();
    }

    void run(const Command& command) {
        switch (command.kind % 20) {
            case 0:
            case 1:
            case 2:
            case 3:
                append(command);
                break;
            case 4:
                truncate(command);
                break;
            case 5:
                advance_start(command);
                break;
            case 6:
                if (command.a % 4 == 0) reset(command);
                break;
            case 7:
                new_epoch(command);
                break;
            case 8:
                raise_high_watermark();
                break;
            case 9:
            case 10:
                read(command);
                break;
            case 11:
            case 12:
            case 13:
                deliver(1 + command.a % 3);
                break;
            case 14:
                deliver(1000);
                break;
            case 15:
                crash(command.a % 3 != 0);
                break;
            case 16:
                if (with_failures_) files_.fail_next_sync();
                break;
            case 17:
                if (with_failures_ && command.a % 2 == 0) fail_write(command.a % 4 == 0);
                break;
            case 18:
                resume();
                break;
            case 19:
                if (command.a % 4 == 0) drop_and_create();
                break;
        }
        settle();
    }

    void finish() {
        resume();
        settle();
        for (int i = 0; i < 4; ++i) {
            deliver(100000);
            resume();
            settle();
        }
        const std::optional<LogView> view = store_.view(kPartition);
        RC_ASSERT(view.has_value());
        RC_ASSERT(view->condition == LogCondition::kOpen);
        RC_ASSERT(view->durable_end_offset == view->log_end_offset);  // progress: nothing waits for ever
        crash(true);
        const LogVersion found = recovered_log(recover(files_.image(), config_));
        RC_ASSERT(found.end() == view->log_end_offset);
    }

  private:
    static LogStoreConfig configured(RecoveryScan scan) {
        LogStoreConfig config = small_config();
        config.scan = scan;
        return config;
    }

    void begin() {
        store_.start(out_);
        store_.create_partition(kPartition);
        settle();
    }

    /// Ends a step the way a broker does.
    void settle() {
        store_.flush(out_);
        check_invariants(store_);
        StoreOutputs out;
        std::swap(out, out_);
        for (const StoreReport& report : out.reports) take_report(report);
        // A broker may tell at any time what it sees here (L2).
        if (const auto view = store_.view(kPartition)) RC_ASSERT(view->durable_end_offset <= promised_);
        files_.carry_out(out.effects);
        is_booting_ = is_booting_ && store_.is_commit_in_flight();
        if (!is_cutting() && !is_booting_) older_.clear();
    }

    bool is_cutting() const {
        // From the durable journal commit on, recovery carries the cut out itself: what was cut cannot come back.
        for (const PartitionLog& log : store_.logs())
            if (log.wanted_cut.kind != PendingCut::kNone || log.cut_stage == CutStage::kJournaling) return true;
        return false;
    }

    void take_report(const StoreReport& report) {
        if (const auto* persisted = std::get_if<Persisted>(&report)) {
            RC_ASSERT(persisted->durable_end_offset <= now_.end());
            promised_ = std::max(promised_, persisted->durable_end_offset);
        }
        if (const auto* failed = std::get_if<LogFailed>(&report)) {
            RC_ASSERT(with_failures_);
            RC_ASSERT(failed->log_end_offset >= promised_);
            remember();
            now_.cut(failed->log_end_offset);
            now_.history.drop_past(now_.end());
            RC_ASSERT(now_.end() == failed->log_end_offset);
        }
        if (const auto* records = std::get_if<RecordsRead>(&report)) check_records(*records);
        if (const auto* failed = std::get_if<ReadFailed>(&report))
            RC_ASSERT(failed->reason != ReadFailure::kDamaged || with_failures_);
        RC_ASSERT(!std::holds_alternative<LogDamaged>(report));
    }

    void check_records(const RecordsRead& records) {
        const Result<std::vector<BatchView>, BatchError> batches = split_batches(records.batches);
        RC_ASSERT(batches.has_value());
        for (const BatchView& batch : *batches) RC_ASSERT(contains(now_, batch));
    }

    static bool contains(const LogVersion& version, const BatchView& batch) {
        for (const BatchView& each : version.batches)
            if (each == batch) return true;
        return false;
    }

    void remember() { older_.push_back(now_); }

    void append(const Command& command) {
        Bytes run;
        std::vector<Bytes> batches;
        Offset next = now_.end();
        const int count = 1 + command.a % 3;
        ByteWriter joined;
        for (int i = 0; i < count; ++i) {
            const Bytes batch = make_batch(next, epoch_, 1 + command.b % 3, ++salt_, 20 + command.b % 300);
            next += 1 + command.b % 3;
            joined.raw(batch.span());
        }
        run = joined.take();
        const Result<void, AppendRefusal> taken = store_.append(kPartition, run, out_);
        if (!taken) {
            if (taken.error() != AppendRefusal::kClosed) RC_FAIL(describe(taken.error()));
            return;
        }
        if (now_.history.latest_epoch() != epoch_) RC_ASSERT(now_.history.assign({epoch_, now_.end()}).has_value());
        const Result<std::vector<BatchView>, BatchError> split = split_batches(run);
        for (const BatchView& each : *split) now_.batches.push_back(each);
    }

    void truncate(const Command& command) {
        const std::int64_t span = now_.end() - now_.start;
        const Offset to = now_.end() - static_cast<std::int64_t>(command.a % static_cast<std::uint64_t>(span + 1));
        if (to >= now_.end()) return;
        remember();
        const Offset end = store_.truncate(kPartition, to);
        RC_ASSERT(end <= to);
        now_.cut(end);
        now_.history.truncate_from_end(end);
        RC_ASSERT(now_.end() == end);
        promised_ = std::min(promised_, end);
        epoch_ = LeaderEpoch(epoch_.value + 1 + command.b % 2);
    }

    void advance_start(const Command& command) {
        const std::int64_t span = promised_ - now_.start;
        const Offset to = now_.start + static_cast<std::int64_t>(
                                           command.a % static_cast<std::uint64_t>(std::max<std::int64_t>(span, 0) + 1));
        store_.advance_log_start(kPartition, to);
        follow_start(store_.view(kPartition)->log_start_offset);
    }

    /// What lies below the log start does not count any more.
    void follow_start(Offset start) {
        now_.start = start;
        while (!now_.batches.empty() && now_.batches.front().header.next_offset() <= start)
            now_.batches.erase(now_.batches.begin());
        now_.history.truncate_from_start(start);
    }

    void reset(const Command& command) {
        remember();
        const Offset start(command.b % 100);
        store_.reset(kPartition, start);
        now_ = {{}, {}, start};
        promised_ = Offset(0);
        epoch_ = LeaderEpoch(epoch_.value + 1);
    }

    void drop_and_create() {
        remember();
        store_.drop_partition(kPartition);
        settle();
        deliver(salt_ % 5);
        store_.create_partition(kPartition);
        now_ = {};
        promised_ = Offset(0);
        settle();
    }

    void new_epoch(const Command& command) {
        epoch_ = LeaderEpoch(epoch_.value + 1);
        if (command.a % 2 == 0) return;
        if (store_.note_epoch(kPartition, {epoch_, now_.end()}))
            RC_ASSERT(now_.history.assign({epoch_, now_.end()}).has_value());
    }

    void raise_high_watermark() { store_.set_high_watermark(kPartition, promised_); }

    void read(const Command& command) {
        const std::int64_t span = now_.end() - now_.start;
        const Offset from = now_.start + static_cast<std::int64_t>(command.a % static_cast<std::uint64_t>(span + 1));
        store_.read({ReadId(++salt_), kPartition, from, now_.end(), command.b}, out_);
    }

    void fail_write(bool is_full) { files_.fail_next_write(is_full ? WriteFailure::kFull : WriteFailure::kError); }

    void resume() { store_.resume(out_); }

    void deliver(std::uint64_t count) {
        for (; count > 0 && files_.has_completion(); --count) {
            store_.step(files_.take_completion(), out_);
            settle();
        }
    }

    LogVersion recovered_log(const StoreRecovery& recovery) {
        LogVersion found;
        for (const PartitionRecovery& each : recovery.partitions) {
            RC_ASSERT(each.damage == PartitionDamage::kNone);  // nothing was lost that was promised
            found.start = each.log_start_offset;
            found.history = each.history;
            read_back(each, found);
        }
        RC_ASSERT(recovery.journal != JournalCondition::kDamaged);
        return found;
    }

    /// The recovered log's batches, out of the files it names.
    void read_back(const PartitionRecovery& recovered, LogVersion& found) {
        DirectoryImage image = files_.image();
        std::vector<BatchView> all;
        for (const ImageFile& file : image) {
            const std::optional<PartitionFile> parsed = parse_partition_file(file.name.text());
            if (!parsed || parsed->kind != PartitionFileKind::kSegment) continue;
            std::size_t at = 0;
            while (const Result<BatchHeader, BatchError> header = check_batch(file.content->span().subspan(at))) {
                all.push_back({*header, file.content->slice(at, header->size_bytes())});
                at += header->size_bytes();
            }
        }
        Offset next = recovered.log_start_offset;
        bool is_first = true;
        for (const BatchView& batch : all) {
            const BatchHeader& header = batch.header;
            if (header.next_offset() <= recovered.log_start_offset || header.next_offset() > recovered.log_end_offset)
                continue;
            if (!is_first && header.base_offset != next) continue;
            if (is_first && header.base_offset > next) continue;
            is_first = false;
            next = header.next_offset();
            found.batches.push_back(batch);
        }
        RC_ASSERT(next == recovered.log_end_offset);
    }

    void crash(bool is_power_loss) {
        is_power_loss ? files_.lose_power() : files_.kill();
        int lent_count = 0;
        StoreRecovery recovery = recover(lend(files_.image(), lent_count), config_);
        LogVersion found = recovered_log(recovery);
        check_recovered(found);
        if (recovery.partitions.empty()) found = {};
        // A kernel that outlived the process may still forget what is not synced: all versions stay possible.
        std::vector<LogVersion> older = is_power_loss ? std::vector<LogVersion>() : std::move(older_);
        if (!is_power_loss) older.push_back(now_);
        const bool is_known = !recovery.partitions.empty();
        store_ = std::move(recovery.store);
        out_.clear();
        store_.start(out_);
        RC_ASSERT(lent_count == 0);  // what it wants written is not borrowed from what may be the file itself
        if (!is_known) store_.create_partition(kPartition);
        older_ = std::move(older);
        is_booting_ = true;  // what a kernel remembers is made durable by the first commit
        now_ = std::move(found);
        promised_ = std::min(promised_, now_.end());
        epoch_ = LeaderEpoch(epoch_.value + 1);
    }

    void check_recovered(const LogVersion& found) {
        std::vector<LogVersion> candidates = older_;
        candidates.push_back(now_);
        bool is_explained = false;
        for (const LogVersion& version : candidates) is_explained = is_explained || is_prefix(found, version);
        // A log that was never promised anything may be gone as a whole.
        if (found.batches.empty() && found.end() <= promised_) is_explained = true;
        if (!is_explained) explain(found, candidates);
        RC_ASSERT(is_explained);
        RC_ASSERT(found.end() >= promised_);
        for (const BatchView& batch : now_.batches)
            if (batch.header.next_offset() <= promised_ && batch.header.next_offset() > found.start)
                RC_ASSERT(contains(found, batch));
    }

    static void explain(const LogVersion& found, const std::vector<LogVersion>& candidates) {
        const auto print = [](const LogVersion& version) {
            std::string text = "start " + std::to_string(version.start.value) + " batches";
            for (const BatchView& b : version.batches)
                text += " " + std::to_string(b.header.base_offset.value) + "/" +
                        std::to_string(b.header.leader_epoch.value);
            text += " history";
            for (const EpochStart& e : version.history.entries())
                text += " " + std::to_string(e.leader_epoch.value) + "@" + std::to_string(e.start_offset.value);
            return text;
        };
        RC_LOG() << "found " << print(found) << "\n";
        for (const LogVersion& version : candidates) RC_LOG() << "candidate " << print(version) << "\n";
    }

    /// Whether `found` is `version` up to some offset, log starts apart, with the history of that part.
    static bool is_prefix(const LogVersion& found, const LogVersion& version) {
        for (const BatchView& batch : found.batches)
            if (!contains(version, batch) && batch.header.next_offset() > version.start) return false;
        if (found.end() > std::max(version.end(), version.start)) return false;
        for (const EpochStart& entry : version.history.entries()) {
            const bool is_needed = entry.start_offset < found.end() && entry.start_offset >= found.start;
            if (is_needed && found.history.epoch_at(entry.start_offset) != entry.leader_epoch) return false;
        }
        for (const BatchView& batch : found.batches)
            if (batch.header.base_offset >= found.start &&
                found.history.epoch_at(batch.header.base_offset) != batch.header.leader_epoch)
                return false;
        return true;
    }

    FileModel files_;
    bool with_failures_;
    LogStoreConfig config_;
    LogStore store_;
    StoreOutputs out_;
    LogVersion now_;
    std::vector<LogVersion> older_;  // what the log was before cuts that may not be durable
    Offset promised_;
    LeaderEpoch epoch_{1};
    std::uint64_t salt_ = 0;
    bool is_booting_ = false;
};

}  // namespace
}  // namespace tidelock::storage

namespace rc {
template <>
struct Arbitrary<tidelock::storage::Command> {
    static Gen<tidelock::storage::Command> arbitrary() {
        using tidelock::storage::Command;
        return gen::build<Command>(gen::set(&Command::kind, gen::inRange<std::uint8_t>(0, 20)), gen::set(&Command::a),
                                   gen::set(&Command::b));
    }
};
}  // namespace rc

namespace tidelock::storage {
namespace {

void law(bool with_failures, RecoveryScan scan) {
    const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
    const auto commands = *rc::gen::scale(2.0, rc::gen::arbitrary<std::vector<Command>>());
    Story story(seed, with_failures, scan);
    for (const Command& command : commands) story.run(command);
    story.finish();
}

TEST_CASE("whatever is lost in crashes, promised records are there and cut ones are not") {
    REQUIRE(rc::check("scan all", [] { law(false, RecoveryScan::kAll); }));
    REQUIRE(rc::check("scan from the checkpoint", [] { law(false, RecoveryScan::kFromCheckpoint); }));
}

TEST_CASE("failed syncs and failed writes take no promise back") {
    REQUIRE(rc::check("scan all", [] { law(true, RecoveryScan::kAll); }));
}

}  // namespace
}  // namespace tidelock::storage
