/// A disk without bad luck, and what a crash or a power loss does to it.
#include "sim/disk.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/world.h"
#include "toy_world.h"

using namespace tidelock;
using namespace tidelock::sim;

namespace {

constexpr HostId kHost{1};

struct OneDisk {
    explicit OneDisk(std::uint64_t seed = 1, const HostConfig& config = {}) : world(WorldConfig{}, seed) {
        Host& host = world.add_host(kHost, "one", config);
        world.spawn(host, [this, &host] { collect(host, log); });
        world.run_until(TimeNs(0));
    }
    Disk& disk() { return world.host(kHost).disk(); }
    void write(std::string_view file, std::string_view text, std::uint64_t at = 0) {
        disk().write(file, at, Bytes::copy_of(text));
    }
    void run_ms(std::int64_t ms) { world.run_until(world.now() + milliseconds(ms)); }
    /// Syncs the file and all names, and waits for it.
    void make_durable(std::string_view file) {
        disk().sync(file, DiskOp(100));
        disk().sync_directory(DiskOp(101));
        run_ms(300);
    }
    void lose_power_and_restart() {
        world.lose_power({&kHost, 1});
        world.restart(kHost, [this] { collect(world.host(kHost), log); });
        run_ms(1);
    }
    std::string content(std::string_view name) {
        for (const FileImage& file : disk().boot_image())
            if (file.name == name) return std::string(file.content.text());
        return "(no file)";
    }
    void set(FaultKind kind, std::uint32_t per_million) { world.faults().set_rate(kind, FaultRate{per_million}); }

    World world;
    std::vector<Arrival> log;
};

}  // namespace

TEST_CASE("writes are read back at once; gaps read as zeros; reads stop at the end") {
    OneDisk toy;
    toy.write("f", "hello");
    toy.write("f", "J", 0);
    toy.write("f", "x", 7);
    REQUIRE(toy.disk().size_of("f") == 8);
    toy.disk().read("f", 0, 100, DiskOp(1));
    toy.disk().read("f", 3, 2, DiskOp(2));
    toy.disk().read("f", 50, 2, DiskOp(3));
    toy.disk().read("none", 0, 1, DiskOp(4));
    toy.run_ms(100);
    std::vector<Arrival> expected{
        DiskRead{DiskOp(1), DiskError::kNone, Bytes::copy_of(std::string_view("Jello\0\0x", 8))},
        DiskRead{DiskOp(2), DiskError::kNone, Bytes::copy_of("lo")}, DiskRead{DiskOp(3), DiskError::kNone, Bytes()},
        DiskRead{DiskOp(4), DiskError::kNoSuchFile, Bytes()}};
    REQUIRE(toy.log.size() == 4);
    for (const Arrival& arrival : expected)
        REQUIRE(std::find(toy.log.begin(), toy.log.end(), arrival) != toy.log.end());
}

TEST_CASE("truncating cuts and extends; renaming replaces; removing forgets; the list is sorted") {
    OneDisk toy;
    toy.write("b", "bbbb");
    toy.write("a", "aaaa");
    toy.disk().truncate("b", 2);
    toy.disk().truncate("a", 6);
    REQUIRE(toy.disk().list() == std::vector<std::string>{"a", "b"});
    REQUIRE(toy.disk().used_bytes() == 8);
    toy.disk().rename("b", "a");
    REQUIRE(toy.content("a") == "bb");
    REQUIRE(toy.disk().used_bytes() == 2);
    toy.disk().rename("none", "x");
    toy.disk().remove("none");
    toy.disk().remove("a");
    REQUIRE(toy.disk().list().empty());
    REQUIRE(toy.disk().used_bytes() == 0);
}

TEST_CASE("syncs of one file finish in the order they were asked, each covering what came before it") {
    OneDisk toy;
    toy.write("f", "first");
    toy.disk().sync("f", DiskOp(1));
    toy.write("f", "later", 5);
    toy.disk().sync_directory(DiskOp(2));
    // Durable by content; the name follows with the directory sync.
    while (toy.log.size() < 2) toy.world.run_one();
    REQUIRE(toy.disk().durable_content("f").text() == "first");
    toy.log.clear();
    for (std::uint64_t op = 3; op < 20; ++op) toy.disk().sync("f", DiskOp(op));
    toy.run_ms(1'000);
    REQUIRE(toy.log.size() == 17);
    for (std::uint64_t op = 3; op < 20; ++op)
        REQUIRE(toy.log[op - 3] == Arrival(DiskSynced{DiskOp(op), DiskError::kNone}));
    REQUIRE(toy.disk().durable_content("f").text() == "firstlater");
    toy.disk().sync("none", DiskOp(20));
    toy.run_ms(1'000);
    REQUIRE(toy.log.back() == Arrival(DiskSynced{DiskOp(20), DiskError::kNoSuchFile}));
}

TEST_CASE("a sync of one file may overtake the sync of another, and the directory's") {
    bool saw_file_overtake = false;
    bool saw_names_overtake = false;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        OneDisk toy(seed);
        toy.write("f", "one");
        toy.write("g", "other");
        toy.disk().sync("f", DiskOp(1));
        toy.disk().sync("g", DiskOp(2));
        toy.disk().sync_directory(DiskOp(3));
        toy.run_ms(1'000);
        REQUIRE(toy.log.size() == 3);
        saw_file_overtake = saw_file_overtake || toy.log.front() == Arrival(DiskSynced{DiskOp(2), DiskError::kNone});
        saw_names_overtake = saw_names_overtake || toy.log.front() == Arrival(DiskSynced{DiskOp(3), DiskError::kNone});
    }
    REQUIRE(saw_file_overtake);
    REQUIRE(saw_names_overtake);
}

TEST_CASE("a process crash keeps everything that was written; completions belong to the life that asked") {
    OneDisk toy;
    toy.write("f", "unsynced");
    toy.disk().sync("f", DiskOp(1));
    toy.world.kill(kHost);
    toy.world.restart(kHost, [&] { collect(toy.world.host(kHost), toy.log); });
    toy.run_ms(500);
    REQUIRE(toy.content("f") == "unsynced");
    REQUIRE(toy.log.empty());
}

TEST_CASE("what was synced, name and content, survives every power loss") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        OneDisk toy(seed);
        set_all_rates(toy.world, 0);
        for (const FaultKind kind : {FaultKind::kUnsyncedWriteLost, FaultKind::kSectorTorn, FaultKind::kWritesReordered,
                                     FaultKind::kRenameLost, FaultKind::kDirectoryEntryLost})
            toy.set(kind, kMillion / 2);
        const std::string synced(3'000, 's');
        toy.write("old name", synced);
        toy.disk().rename("old name", "name");
        toy.make_durable("name");
        toy.write("name", std::string(2'000, 'u'), 3'000);
        toy.write("other", "unsynced");
        toy.lose_power_and_restart();
        REQUIRE(toy.content("name").substr(0, 3'000) == synced);
        REQUIRE(toy.content("old name") == "(no file)");
    }
}

TEST_CASE(
    "of unsynced writes a prefix survives a power loss: nothing, some and all are all seen, and losses are counted") {
    bool saw_none = false;
    bool saw_some = false;
    bool saw_all = false;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        OneDisk toy(seed);
        toy.write("f", "0");
        toy.make_durable("f");
        for (std::uint64_t i = 1; i <= 4; ++i) toy.write("f", std::to_string(i), i);
        toy.lose_power_and_restart();
        const std::string left = toy.content("f");
        REQUIRE(std::string("01234").substr(0, left.size()) == left);
        saw_none = saw_none || left == "0";
        saw_all = saw_all || left == "01234";
        saw_some = saw_some || (left.size() > 1 && left.size() < 5);
        const std::uint64_t counted = toy.world.faults().delivered(FaultKind::kUnsyncedWriteLost);
        REQUIRE(counted == (left == "01234" ? 0 : 1));
        REQUIRE(toy.world.faults().damages().size() == 5 - left.size());
    }
    REQUIRE(saw_none);
    REQUIRE(saw_some);
    REQUIRE(saw_all);
}

TEST_CASE("with the fault switched off a power loss loses nothing that was written to a durable name") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        OneDisk toy(seed);
        set_all_rates(toy.world, 0);
        toy.write("f", "unsynced");
        toy.lose_power_and_restart();
        REQUIRE(toy.content("f") == "unsynced");
        REQUIRE(toy.world.faults().damages().empty());
    }
}

TEST_CASE("a torn write survives up to some byte, the rest is missing or zero") {
    bool saw_missing = false;
    bool saw_zeros = false;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        OneDisk toy(seed);
        toy.set(FaultKind::kSectorTorn, kMillion);
        toy.write("f", "start");
        toy.make_durable("f");
        toy.write("f", std::string(1'500, 'x'), 5);
        toy.lose_power_and_restart();
        const std::string left = toy.content("f").substr(5);
        if (toy.world.faults().delivered(FaultKind::kSectorTorn) == 0) {
            REQUIRE(left == std::string(1'500, 'x'));
            continue;
        }
        const std::size_t kept = std::min(left.find('\0'), left.size());
        REQUIRE(kept > 0);
        REQUIRE(kept < 1'500);
        REQUIRE(left.substr(0, kept) == std::string(kept, 'x'));
        saw_missing = saw_missing || left.size() == kept;
        saw_zeros = saw_zeros || left.size() == 1'500;
    }
    REQUIRE(saw_missing);
    REQUIRE(saw_zeros);
}

TEST_CASE("reordered writes: a later one survives an earlier one") {
    bool saw_reordering = false;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        OneDisk toy(seed);
        toy.set(FaultKind::kWritesReordered, kMillion);
        toy.write("f", "....");
        toy.make_durable("f");
        for (std::uint64_t i = 0; i < 4; ++i) toy.write("f", "x", i);
        toy.lose_power_and_restart();
        const std::string left = toy.content("f");
        const bool is_prefix = left == "xxxx" || left == "xxx." || left == "xx.." || left == "x..." || left == "....";
        REQUIRE((toy.world.faults().delivered(FaultKind::kWritesReordered) == 1) == !is_prefix);
        saw_reordering = saw_reordering || !is_prefix;
    }
    REQUIRE(saw_reordering);
}

TEST_CASE("reordering works by the sector inside one large write") {
    bool saw_hole = false;
    for (std::uint64_t seed = 0; seed < 60 && !saw_hole; ++seed) {
        OneDisk toy(seed);
        toy.set(FaultKind::kWritesReordered, kMillion);
        toy.write("f", std::string(4 * kSectorBytes, '.'));
        toy.make_durable("f");
        toy.write("f", std::string(4 * kSectorBytes, 'x'));
        toy.lose_power_and_restart();
        const std::string left = toy.content("f");
        for (std::size_t sector = 0; sector < 4; ++sector) {
            const std::string part = left.substr(sector * kSectorBytes, kSectorBytes);
            REQUIRE((part == std::string(kSectorBytes, 'x') || part == std::string(kSectorBytes, '.')));
        }
        saw_hole = left.front() == '.' && left.back() == 'x';
    }
    REQUIRE(saw_hole);
}

TEST_CASE("names that were not synced may be lost: creations, renames and removals, in journal order") {
    std::uint64_t lost_entries = 0;
    std::uint64_t lost_renames = 0;
    bool saw_resurrection = false;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        OneDisk toy(seed);
        toy.write("kept", "k");
        toy.write("doomed", "d");
        toy.disk().sync("doomed", DiskOp(1));
        toy.make_durable("kept");
        toy.write("temporary", "t");
        toy.disk().sync("temporary", DiskOp(2));
        toy.run_ms(300);
        toy.disk().remove("doomed");
        toy.disk().rename("temporary", "kept");
        toy.lose_power_and_restart();
        const std::string kept = toy.content("kept");
        REQUIRE((kept == "k" || kept == "t"));
        if (kept == "t") REQUIRE(toy.content("doomed") == "(no file)");
        if (toy.content("doomed") != "(no file)") {
            REQUIRE(toy.content("doomed") == "d");
            saw_resurrection = true;
        }
        lost_entries += toy.world.faults().delivered(FaultKind::kDirectoryEntryLost);
        lost_renames += toy.world.faults().delivered(FaultKind::kRenameLost);
    }
    REQUIRE(lost_entries > 0);
    REQUIRE(lost_renames > 0);
    REQUIRE(saw_resurrection);
}

TEST_CASE("a sync that was asked but not finished promises nothing at a power loss") {
    std::uint64_t lost = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        OneDisk toy(seed);
        toy.write("f", "0");
        toy.make_durable("f");
        toy.log.clear();
        toy.write("f", "1", 1);
        toy.disk().sync("f", DiskOp(1));
        toy.lose_power_and_restart();
        toy.run_ms(500);
        REQUIRE(toy.log.empty());
        lost += toy.world.faults().delivered(FaultKind::kUnsyncedWriteLost);
    }
    REQUIRE(lost > 0);
}

TEST_CASE("several machines lose power at the same moment") {
    World world(WorldConfig{}, 1);
    add_gossips(world, 4);
    world.run_until(at_ms(100));
    const std::vector<HostId> victims{HostId(1), HostId(2), HostId(3)};
    world.lose_power(victims);
    REQUIRE(world.faults().delivered(FaultKind::kPowerLoss) == 1);
    for (const HostId id : victims) REQUIRE_FALSE(world.host(id).is_powered());
    world.lose_power(victims);
    REQUIRE(world.faults().delivered(FaultKind::kPowerLoss) == 1);
    for (const HostId id : victims) REQUIRE(world.restart(id));
    const std::uint64_t before = world.network().frames_delivered();
    world.run_until(at_ms(300));
    REQUIRE(world.network().frames_delivered() > before + 50);
}
