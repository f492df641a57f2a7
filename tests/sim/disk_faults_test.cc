/// A disk's bad days: each fault bites where its test says, is counted, and is written to the damage log.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/world.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

constexpr HostId kHost{1};

/// A disk with one durable file "f" of four sectors: aaaa bbbb cccc dddd.
struct Sectors {
    explicit Sectors(std::uint64_t seed = 1) : world(WorldConfig{}, seed) {
        Host& host = world.add_host(kHost, "one");
        world.spawn(host, [this, &host] { collect(host, log); });
        world.run_until(TimeNs(0));
        for (std::size_t i = 0; i < 4; ++i)
            disk().write("f", i * kSectorBytes, Bytes::copy_of(std::string(kSectorBytes, "abcd"[i])));
        disk().sync("f", DiskOp(1));
        disk().sync_directory(DiskOp(2));
        run_ms(500);
        log.clear();
    }
    Disk& disk() { return world.host(kHost).disk(); }
    void run_ms(std::int64_t ms) { world.run_until(world.now() + milliseconds(ms)); }
    void set(FaultKind kind, std::uint32_t per_million) { world.faults().set_rate(kind, FaultRate{per_million}); }
    [[nodiscard]] std::uint64_t delivered(FaultKind kind) const { return world.faults().delivered(kind); }
    DiskRead read(std::uint64_t at, std::uint64_t count) {
        log.clear();
        disk().read("f", at, count, DiskOp(9));
        run_ms(100);
        return std::get<DiskRead>(log.back());
    }
    std::string letters() {  // the first byte of each sector as a reading process sees it
        std::string seen;
        const Bytes content = read(0, 100'000).content;
        for (std::size_t at = 0; at < content.size(); at += kSectorBytes) seen += content.text()[at];
        return seen;
    }
    void lose_power_and_restart() {
        world.lose_power({&kHost, 1});
        restart();
    }
    void restart() {
        world.restart(kHost, [this] { collect(world.host(kHost), log); });
        run_ms(1);
    }

    World world;
    std::vector<Arrival> log;
};

}  // namespace

TEST_CASE("a write that answers an error has written nothing, and the sync after it says nothing of that") {
    Sectors toy;
    toy.set(FaultKind::kWriteError, kMillion);
    toy.disk().write("f", 0, Bytes::copy_of(std::string(kSectorBytes, 'X')));
    toy.set(FaultKind::kWriteError, 0);
    toy.disk().sync("f", DiskOp(1));
    toy.run_ms(500);
    REQUIRE(toy.log == std::vector<Arrival>{DiskWriteFailed{"f", DiskError::kWriteFailed},
                                            DiskSynced{DiskOp(1), DiskError::kNone}});
    REQUIRE(toy.delivered(FaultKind::kWriteError) == 1);
    REQUIRE(toy.letters() == "abcd");
}

TEST_CASE("a failed sync drops the pages: readable until the cache is gone, and never on the medium") {
    for (const bool by_power_loss : {true, false}) {
        Sectors toy;
        toy.set(FaultKind::kSyncFailed, kMillion);
        toy.disk().write("f", 0, Bytes::copy_of(std::string(kSectorBytes, 'X')));
        toy.disk().sync("f", DiskOp(1));
        toy.run_ms(500);
        REQUIRE(toy.log == std::vector<Arrival>{DiskSynced{DiskOp(1), DiskError::kSyncFailed}});
        REQUIRE(toy.delivered(FaultKind::kSyncFailed) == 1);
        toy.set(FaultKind::kSyncFailed, 0);
        // The next sync succeeds and brings nothing back.
        toy.disk().sync("f", DiskOp(2));
        toy.run_ms(500);
        REQUIRE(toy.log.back() == Arrival(DiskSynced{DiskOp(2), DiskError::kNone}));
        REQUIRE(toy.letters() == "Xbcd");
        REQUIRE(toy.disk().durable_content("f").text().front() == 'a');
        if (by_power_loss) {
            toy.lose_power_and_restart();
        } else {
            toy.world.kill(kHost);
            toy.restart();
        }
        REQUIRE(toy.letters() == "abcd");
        const Damage& damage = toy.world.faults().damages().front();
        REQUIRE(damage.kind == FaultKind::kSyncFailed);
        REQUIRE(damage.file == "f");
        REQUIRE(damage.from == 0);
        REQUIRE(damage.to == kSectorBytes);
    }
}

TEST_CASE("a random read error is that read's alone; a bad sector stays bad until it is overwritten") {
    Sectors toy;
    toy.set(FaultKind::kReadError, kMillion);
    REQUIRE(toy.read(0, 10).error == DiskError::kReadFailed);
    toy.set(FaultKind::kReadError, 0);
    REQUIRE(toy.read(0, 10).error == DiskError::kNone);
    REQUIRE(toy.disk().make_unreadable("f", ByteRange{600, 700}));
    REQUIRE(toy.read(0, 600).error == DiskError::kNone);
    REQUIRE(toy.read(0, 601).error == DiskError::kReadFailed);
    REQUIRE(toy.disk().boot_image().front().error == DiskError::kReadFailed);
    toy.disk().write("f", 512, Bytes::copy_of(std::string(512, 'B')));
    REQUIRE(toy.read(0, 2'048).error == DiskError::kNone);
    REQUIRE(toy.delivered(FaultKind::kReadError) == 1);
    REQUIRE(toy.delivered(FaultKind::kSectorUnreadable) == 1);
    REQUIRE_FALSE(toy.disk().make_unreadable("none", ByteRange{0, 1}));
}

TEST_CASE("rot flips one bit of durable content, and reads see it") {
    Sectors toy;
    REQUIRE(toy.disk().rot_bit("f", 512, 1));
    REQUIRE(toy.letters() == "a`cd");
    Rng rng(1);
    REQUIRE(toy.disk().rot_random(rng, "f"));
    REQUIRE_FALSE(toy.disk().rot_random(rng, "g"));
    REQUIRE_FALSE(toy.disk().rot_bit("f", 100'000, 0));
    REQUIRE(toy.delivered(FaultKind::kBitRot) == 2);
    toy.set(FaultKind::kBitRot, kMillion);
    toy.read(0, 1);
    REQUIRE(toy.delivered(FaultKind::kBitRot) == 3);
}

TEST_CASE("recent rot hits what was written last, not the padding behind it") {
    Sectors toy;
    toy.disk().write("f", 2'048, Bytes::copy_of("last"));
    toy.disk().write("f", 2'052, Bytes::build(4'096, [](std::span<std::byte> into) {
                         std::ranges::fill(into.first(2'048), std::byte{'x'});
                         std::ranges::fill(into.subspan(2'048), std::byte{0});
                     }));
    toy.disk().write("g", 0, Bytes::copy_of("of 1 byte"));
    toy.disk().sync("f", DiskOp(1));
    toy.run_ms(500);
    Rng rng(1);
    for (int i = 0; i < 20; ++i) REQUIRE_FALSE(toy.disk().rot_recent(rng, {"f", "", 1'024}));  // only zeros are recent
    REQUIRE_FALSE(toy.disk().rot_recent(rng, {"g", "", 1'024}));  // nothing of it is durable
    toy.disk().write("f", 6'148, Bytes::copy_of("recent"));
    toy.disk().sync("f", DiskOp(2));
    toy.run_ms(500);
    REQUIRE(toy.disk().rot_recent(rng, {"f", "", 1'024}));
    REQUIRE(toy.read(6'148, 6).content != Bytes::copy_of("recent"));
}

TEST_CASE("a disk is sound again when what was hurt is durably overwritten, cut off or removed") {
    const auto sync = [](Sectors& toy) {
        toy.disk().sync("f", DiskOp(1));
        toy.run_ms(500);
    };
    Sectors overwritten;
    REQUIRE(overwritten.disk().is_sound());
    REQUIRE(overwritten.disk().rot_bit("f", 700, 1));
    overwritten.disk().write("f", kSectorBytes, Bytes::copy_of(std::string(kSectorBytes, 'X')));
    REQUIRE_FALSE(overwritten.disk().is_sound());
    sync(overwritten);
    REQUIRE(overwritten.disk().is_sound());

    Sectors cut;
    REQUIRE(cut.disk().rot_bit("f", 700, 1));
    cut.disk().truncate("f", 701);
    sync(cut);
    REQUIRE_FALSE(cut.disk().is_sound());
    cut.disk().truncate("f", 700);
    sync(cut);
    REQUIRE(cut.disk().is_sound());

    Sectors removed;
    REQUIRE(removed.disk().rot_bit("f", 700, 1));
    removed.disk().remove("f");
    REQUIRE_FALSE(removed.disk().is_sound());
    removed.disk().sync_directory(DiskOp(2));
    removed.run_ms(500);
    REQUIRE(removed.disk().is_sound());

    Sectors misdirected;
    misdirected.set(FaultKind::kMisdirectedWrite, kMillion);
    misdirected.disk().write("f", kSectorBytes, Bytes::copy_of(std::string(kSectorBytes, 'X')));
    sync(misdirected);
    REQUIRE_FALSE(misdirected.disk().is_sound());
}

TEST_CASE("rot under an unsynced write shows only after the power loss that takes the write") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Sectors toy(seed);
        toy.disk().write("f", 0, Bytes::copy_of("Y"));
        toy.disk().rot_bit("f", 0, 1);
        REQUIRE(toy.letters() == "Ybcd");
        toy.lose_power_and_restart();
        const char first = toy.letters().front();
        REQUIRE((first == 'Y' || first == ('a' ^ 2)));
    }
}

TEST_CASE("a misdirected write misses its place and hits another; the cache hides it until it is gone") {
    bool saw_hit = false;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Sectors toy(seed);
        toy.set(FaultKind::kMisdirectedWrite, kMillion);
        toy.disk().write("f", kSectorBytes, Bytes::copy_of(std::string(kSectorBytes, 'X')));
        toy.disk().sync("f", DiskOp(1));
        toy.run_ms(500);
        REQUIRE(toy.log == std::vector<Arrival>{DiskSynced{DiskOp(1), DiskError::kNone}});
        REQUIRE(toy.letters() == "aXcd");
        toy.lose_power_and_restart();
        const std::string after = toy.letters();
        REQUIRE(after[1] == 'b');
        saw_hit = saw_hit || after.find('X') != std::string::npos;
        REQUIRE(after.size() == 4);
        REQUIRE(toy.delivered(FaultKind::kMisdirectedWrite) == 1);
        REQUIRE(toy.world.faults().damages().size() == 2);
    }
    REQUIRE(saw_hit);
}

TEST_CASE("a misdirected read gives another sector's bytes, once") {
    Sectors toy;
    toy.set(FaultKind::kMisdirectedRead, kMillion);
    const DiskRead wrong = toy.read(0, kSectorBytes);
    REQUIRE(wrong.error == DiskError::kNone);
    REQUIRE(wrong.content.size() == kSectorBytes);
    REQUIRE(wrong.content.text().front() != 'a');
    REQUIRE(toy.delivered(FaultKind::kMisdirectedRead) == 1);
    toy.set(FaultKind::kMisdirectedRead, 0);
    REQUIRE(toy.letters() == "abcd");
}

TEST_CASE("a full disk takes the part of a write that fits and says so before any later sync of it ends") {
    Sectors toy;
    toy.disk().set_capacity(toy.disk().used_bytes() + 10);
    toy.disk().write("f", 4 * kSectorBytes, Bytes::copy_of(std::string(100, 'e')));
    toy.disk().sync("f", DiskOp(5));
    toy.run_ms(500);
    REQUIRE(toy.log ==
            std::vector<Arrival>{DiskWriteFailed{"f", DiskError::kNoSpace}, DiskSynced{DiskOp(5), DiskError::kNone}});
    REQUIRE(toy.disk().size_of("f") == 4 * kSectorBytes + 10);
    toy.log.clear();
    // Overwriting needs no room.
    toy.disk().write("f", 0, Bytes::copy_of("A"));
    toy.run_ms(100);
    REQUIRE(toy.log.empty());
    REQUIRE(toy.delivered(FaultKind::kDiskFull) == 1);
}

TEST_CASE("a slow disk takes its time; a stalled one answers nothing until it is released, then in order") {
    Sectors toy;
    toy.disk().slow_down(1'000);
    toy.disk().sync("f", DiskOp(1));
    toy.run_ms(50);
    REQUIRE(toy.log.empty());
    toy.run_ms(150'000);
    REQUIRE(toy.log.size() == 1);
    REQUIRE(toy.delivered(FaultKind::kDiskSlow) == 1);
    toy.disk().slow_down(1);
    toy.log.clear();
    toy.disk().stall();
    for (std::uint64_t op = 1; op <= 5; ++op) toy.disk().sync("f", DiskOp(op));
    toy.run_ms(10'000);
    REQUIRE(toy.log.empty());
    toy.disk().release();
    toy.disk().sync("f", DiskOp(6));
    toy.run_ms(500);
    REQUIRE(toy.log.size() == 6);
    for (std::uint64_t op = 1; op <= 6; ++op)
        REQUIRE(toy.log[op - 1] == Arrival(DiskSynced{DiskOp(op), DiskError::kNone}));
    REQUIRE(toy.delivered(FaultKind::kDiskStalled) == 1);
}

TEST_CASE("files of one kind may be slow while others are not") {
    Sectors toy;
    toy.disk().write("g.a", 0, Bytes::copy_of("x"));
    toy.disk().slow_down_files("g.", 100'000);
    toy.disk().sync("g.a", DiskOp(1));
    toy.disk().sync("f", DiskOp(2));
    toy.run_ms(200);
    REQUIRE(toy.log == std::vector<Arrival>{DiskSynced{DiskOp(2), DiskError::kNone}});
    REQUIRE(toy.disk().slowed_file_syncs() == 1);
    toy.disk().slow_down_files({}, 1);
    toy.run_ms(200);
    REQUIRE(toy.log.size() == 2);
}

TEST_CASE("a disk that is fast again is soon done with what it was slow about, reads included") {
    Sectors toy;
    toy.disk().slow_down(100'000);
    toy.disk().read("f", 0, kSectorBytes, DiskOp(1));
    toy.disk().read("nothing", 0, 1, DiskOp(2));
    toy.disk().sync("f", DiskOp(3));
    toy.run_ms(1);
    REQUIRE(toy.log.empty());
    toy.disk().slow_down(1);
    toy.run_ms(300);
    REQUIRE(toy.log.size() == 3);
    for (const Arrival& arrival : toy.log) {
        const DiskRead* const read = std::get_if<DiskRead>(&arrival);
        if (read == nullptr) continue;
        REQUIRE(read->error == (read->op == DiskOp(1) ? DiskError::kNone : DiskError::kNoSuchFile));
        REQUIRE(read->content.size() == (read->op == DiskOp(1) ? kSectorBytes : 0));
    }
}

TEST_CASE("an emptied disk has no files, also not after a restart") {
    Sectors toy;
    toy.world.lose_power({&kHost, 1});
    REQUIRE(toy.disk().empty());
    REQUIRE_FALSE(toy.disk().empty());
    toy.restart();
    REQUIRE(toy.disk().boot_image().empty());
    REQUIRE(toy.delivered(FaultKind::kDiskEmptied) == 1);
}

TEST_CASE("the gate can forbid damage to what a host relies upon, and the listener hears of what was allowed") {
    Sectors toy;
    std::vector<Damage> heard;
    toy.world.faults().set_damage_listener([&](const Damage& damage) { heard.push_back(damage); });
    toy.world.faults().set_damage_gate([](const Damage& damage) { return damage.from >= 1'024; });
    REQUIRE_FALSE(toy.disk().rot_bit("f", 0, 0));
    REQUIRE_FALSE(toy.disk().make_unreadable("f", ByteRange{0, 2'000}));
    REQUIRE_FALSE(toy.disk().empty());
    REQUIRE(heard.empty());
    REQUIRE(toy.disk().rot_bit("f", 1'500, 0));
    REQUIRE(heard.size() == 1);
    REQUIRE(heard == toy.world.faults().damages());
    REQUIRE(heard.front().host == kHost);
    REQUIRE(heard.front().from == 1'500);
    REQUIRE(heard.front().to == 1'501);
}
