// produce and failover: the same closed loop, the second with a kill -9 of the leader on the way.
#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "tools/bench/load/commands.h"
#include "tools/bench/load/producer.h"
#include "tools/bench/load/report.h"
#include "tools/bench/load/survey.h"

namespace tidelock::load {
namespace {

std::uint64_t fresh_run() {
    std::random_device device;
    const std::uint64_t high = device();
    return (high << 32U) | device();
}

/// Reads back, after a connection of its own, since that of the producer may be the killed broker's.
std::string survey(System& system, const Options& options, std::uint64_t run, const Produced& produced, Json& result) {
    std::string error = connect_within(system, options.patience_ns);
    Surveyor surveyor(run, produced.places);
    if (error.empty())
        error = system.read_back([&](const Stamp& stamp, Place place) { surveyor.on_record(stamp, place); });
    if (!error.empty()) return fmt::format("what was acknowledged cannot be read back: {}", error);
    const Survey found = surveyor.finish();
    result["found"] = found.found;
    result["lost"] = found.lost;
    result["misplaced"] = found.misplaced;
    result["duplicates"] = found.duplicates;
    return {};
}

void add_figures(Json& result, const Options& options, const Produced& produced) {
    result["sent"] = produced.sent;
    result["acknowledged"] = produced.acknowledged;
    result["given_up"] = produced.given_up;
    add_rates(result, produced.counted, options.record_bytes, produced.counted_ns);
    result["latency"] = to_json(produced.latency);
}

bool has_lost(const Json& result) {
    return result.value("lost", 0) > 0 || result.value("misplaced", 0) > 0;
}

/// Kills the leader once its time has come.
class Killer {
  public:
    Killer(const Options& options, System& system, Producer& producer)
        : options_(options), system_(system), producer_(producer) {}

    /// Empty: fine.
    std::string turn() {
        if (is_done_ || now_ns() - producer_.started_ns() < options_.warmup_ns + options_.kill_after_ns) return {};
        is_done_ = true;
        const auto leader = system_.leader();
        if (!leader) return fmt::format("who leads cannot be found out: {}", leader.error());
        producer_.watch_silence();
        killed_ = *leader;
        if (::kill(options_.pids[killed_], SIGKILL) == 0) return {};
        return fmt::format("process {} cannot be killed: {}", options_.pids[killed_], std::strerror(errno));
    }
    [[nodiscard]] bool has_killed() const { return is_done_; }
    [[nodiscard]] std::size_t killed() const { return killed_; }

  private:
    const Options& options_;
    System& system_;
    Producer& producer_;
    bool is_done_ = false;
    std::size_t killed_ = 0;
};

}  // namespace

std::unique_ptr<System> make_system(const Options& options, Payload& payload) {
    switch (options.system) {
        case SystemKind::kKafka:
            return make_kafka(options, payload);
        case SystemKind::kNats:
            return make_nats(options, payload);
        case SystemKind::kAmqp:
            return make_amqp(options, payload);
        case SystemKind::kEtcd:
            return make_etcd(options, payload);
        case SystemKind::kRedis:
            return make_redis(options, payload);
    }
    return nullptr;
}

int complain(const std::string& text, int status) {
    fmt::print(stderr, "tidelock_load: {}\n", text);
    return status;
}

int produce(const Options& options) {
    Payload payload(fresh_run(), options.record_bytes);
    const auto system = make_system(options, payload);
    if (const std::string error = connect_within(*system, options.patience_ns); !error.empty())
        return complain("no broker takes records: " + error, 2);
    Producer producer(options, *system, {options.verifies, false});
    const std::string trouble = producer.run();
    Json result = describe(options);
    add_figures(result, options, producer.produced());
    if (!trouble.empty()) return complain("broken off: " + trouble, 1);
    if (options.verifies)
        if (const std::string error = survey(*system, options, payload.run(), producer.produced(), result);
            !error.empty())
            return complain(error, 1);
    return publish(options, result, to_text(result)) && !has_lost(result) ? 0 : 1;
}

int failover(const Options& options) {
    Payload payload(fresh_run(), options.record_bytes);
    const auto system = make_system(options, payload);
    if (const std::string error = connect_within(*system, options.patience_ns); !error.empty())
        return complain("no broker takes records: " + error, 2);
    Producer producer(options, *system, {true, true});
    Killer killer(options, *system, producer);
    if (const std::string trouble = producer.run([&] { return killer.turn(); }); !trouble.empty())
        return complain("broken off: " + trouble, 1);
    if (!killer.has_killed()) return complain("all records were acknowledged before it was time to kill", 1);
    Json result = describe(options);
    add_figures(result, options, producer.produced());
    result["killed"] = tidelockd::to_text(options.brokers[killer.killed()]);
    result["silence_ns"] = producer.produced().silence_ns;
    result["reconnects"] = producer.produced().reconnects;
    if (const std::string error = survey(*system, options, payload.run(), producer.produced(), result); !error.empty())
        return complain(error, 1);
    return publish(options, result, to_text(result)) && !has_lost(result) ? 0 : 1;
}

}  // namespace tidelock::load
