// A program with the command line of Tidelock and scenarios that misbehave on demand: what the tests of the command
// line run, so that they need no real schedule to crash, hang or lie.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "tools/tidelock/commands.h"
#include "tools/tidelock/engine.h"

namespace {

using namespace tidelock;
using nlohmann::json;
using scenarios::RunOptions;
using scenarios::ScheduleResult;

constexpr std::int64_t kEvents = 100;

void trace_events(const RunOptions& options, ScheduleResult& result, std::uint64_t twist) {
    std::uint64_t digest = result.seed * 31 + 7;
    for (std::int64_t event = 0; event < kEvents; ++event) {
        const bool twisted = twist != 0 && event == 41;
        digest = digest * 6364136223846793005ULL + (twisted ? twist : 1);
        if (options.record_event_digests) result.event_digests.push_back(digest);
        if (options.trace == nullptr) continue;
        options.trace->line(
            {event * 10'000'000, "broker-1", "event", fmt::format("event {} {}", event, twisted ? twist : 0)});
    }
    result.digest = digest;
}

ScheduleResult ordinary(std::uint64_t seed, const RunOptions& options, std::uint64_t twist) {
    ScheduleResult result;
    result.seed = seed;
    result.events = kEvents;
    result.virtual_ns = 1'000'000'000;
    result.acked_records = static_cast<std::int64_t>(seed % 10);
    result.read_records = 3;
    result.peak_memory_bytes = 1 << 20;
    result.faults = {{"network.loss", static_cast<std::int64_t>(seed % 3)}, {"process.kill", 1}, {"disk.rot", 0}};
    result.marks = {{"elected", 1}, {"never-seen", 0}};
    trace_events(options, result, twist);
    return result;
}

class FakePlan final : public tools::SchedulePlan {
  public:
    FakePlan(std::string scenario, std::uint64_t seed) : scenario_(std::move(scenario)), seed_(seed) {}

    ScheduleResult run(const RunOptions& options) const override {
        static std::uint64_t runs = 0;
        ++runs;
        ScheduleResult result = ordinary(seed_, options, scenario_ == "wavering" && seed_ == 3 ? runs : 0);
        if (scenario_ == "violating" && seed_ % 7 == 0) {
            result.violations = {{"acked-survival", 12'500'000, "record <7> & \"more\" is gone"}};
        }
        if (scenario_ == "unsound" && seed_ == 2) result.unsound = "the event budget ran out";
        if (scenario_ == "slow") ::usleep(20'000);
        if (scenario_ == "throwing" && seed_ == 4) throw std::runtime_error("thrown on purpose");
        if (scenario_ == "crashing" && seed_ == 13) crash();
        if (scenario_ == "hanging" && seed_ == 5) {
            for (;;) ::usleep(100'000);
        }
        if (scenario_ == "spinning" && seed_ == 5) {
            for (;;) use_cpu(1'000'000);
        }
        if (scenario_ == "busy") use_cpu(40'000'000);
        return result;
    }
    std::string to_json() const override { return json{{"scenario", scenario_}, {"seed", seed_}}.dump(); }

  private:
    static void use_cpu(std::int64_t ns) {
        const std::clock_t until = std::clock() + static_cast<std::clock_t>(ns / (1'000'000'000 / CLOCKS_PER_SEC));
        while (std::clock() < until) {
        }
    }
    static void crash() {
        std::fputs("broker.cc:7: CHECK failed: the sky is up\n", stderr);
        std::fflush(stderr);
        std::abort();
    }

    std::string scenario_;
    std::uint64_t seed_;
};

class FakeScenario final : public tools::Scenario {
  public:
    explicit FakeScenario(std::string name) : name_(std::move(name)) {}
    std::string name() const override { return name_; }
    std::unique_ptr<tools::SchedulePlan> plan(std::uint64_t seed) const override {
        if (name_ == "planless" && seed == 2) std::abort();
        return std::make_unique<FakePlan>(name_, seed);
    }
    live::LiveResult run_live(std::uint64_t seed, const live::LiveOptions& options) const override {
        live::LiveResult result;
        result.folder = options.folder;
        result.acked_records = 10;
        result.faults["process.kill"] = 1;
        if (name_ == "violating" && seed == 3) result.violations.push_back({"acked-survival", 5, "a record is gone"});
        if (name_ == "crashing") result.unsound = "there is no broker";
        return result;
    }

  private:
    std::string name_;
};

class FakeStory final : public tools::Schedule {
  public:
    explicit FakeStory(std::string name) : name_(std::move(name)) {}
    ScheduleResult run(const RunOptions& options) const override {
        ScheduleResult result = ordinary(1, options, 0);
        if (name_ == "b-broken") result.violations = {{"story", 5'000'000, "b-broken.scn:3: nobody leads"}};
        if (name_ == "c-expecting") result.violations = {{"acked-survival", 5'000'000, "record 7 is gone"}};
        return result;
    }

  private:
    std::string name_;
};

class FakeEngine final : public tools::Engine {
  public:
    std::vector<tools::Described> scenarios() const override {
        std::vector<tools::Described> list;
        for (const char* name : {"clean", "violating", "unsound", "slow", "throwing", "crashing", "hanging", "spinning",
                                 "busy", "wavering", "planless"}) {
            list.push_back({name, fmt::format("the {} one", name)});
        }
        return list;
    }
    tl::expected<std::unique_ptr<tools::Scenario>, std::string> load(const std::string& name) const override {
        for (const tools::Described& known : scenarios()) {
            if (known.name == name) return std::make_unique<FakeScenario>(name);
        }
        return tl::unexpected(fmt::format("no scenario is called '{}'", name));
    }
    tl::expected<std::unique_ptr<tools::SchedulePlan>, std::string> read_plan(const std::string& text,
                                                                              const std::string& file) const override {
        const json plan = json::parse(text, nullptr, false);
        if (!plan.contains("seed")) return tl::unexpected(file + ": plan.seed: is missing");
        return std::make_unique<FakePlan>(plan["scenario"].get<std::string>(), plan["seed"].get<std::uint64_t>());
    }
    std::vector<tools::Described> stories() const override {
        return {{"a-told", "goes as told"}, {"b-broken", "does not"}, {"c-expecting", "ends with what it tells of"}};
    }
    tl::expected<std::unique_ptr<tools::Schedule>, std::string> read_story(const std::string& name) const override {
        if (name.ends_with("wrong.scn")) return tl::unexpected(name + ":2: \"cluser\" is no verb");
        return std::make_unique<FakeStory>(name);
    }
    std::string obstacle() const override {
        rlimit limit{};
        ::getrlimit(RLIMIT_AS, &limit);
        return limit.rlim_cur == RLIM_INFINITY ? "" : "the address space is limited";
    }
    std::vector<tools::Described> invariants() const override { return {{"acked-survival", "no record is lost"}}; }
    std::vector<tools::Described> faults() const override { return {{"network.loss", "a frame is lost"}}; }
    std::vector<tools::Described> marks() const override { return {{"elected", ""}}; }
};

}  // namespace

int main(int argc, char** argv) {
    return tools::run_program(FakeEngine(), argc, argv);
}
