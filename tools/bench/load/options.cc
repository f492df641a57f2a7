#include "tools/bench/load/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "tools/bench/load/payload.h"
#include "tools/tidelock/arguments.h"

namespace tidelock::load {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::uint32_t kRecordBytesMax = 1 << 20;

const std::map<std::string, SystemKind> kSystems = {{"kafka", SystemKind::kKafka},
                                                    {"nats", SystemKind::kNats},
                                                    {"amqp", SystemKind::kAmqp},
                                                    {"etcd", SystemKind::kEtcd},
                                                    {"redis", SystemKind::kRedis}};
const std::map<std::string, std::int32_t> kAcks = {{"all", -1}, {"-1", -1}, {"1", 1}, {"0", 0}};

/// What CLI11 reads as text and is more than that.
struct Words {
    std::string brokers;
    std::string pids;
    std::vector<std::string> notes;
};

CLI::Option* add_duration(CLI::App& app, const std::string& flag, std::int64_t& into_ns, const std::string& text) {
    return app
        .add_option_function<std::string>(
            flag,
            [&into_ns, flag](const std::string& word) {
                const auto parsed = tools::parse_duration(word);
                if (!parsed) throw CLI::ValidationError(flag, parsed.error());
                into_ns = *parsed;
            },
            text)
        ->type_name("TIME");
}

void add_target(CLI::App& app, Options& options, Words& words) {
    app.add_option("--brokers", words.brokers, "host:port,host:port,... (default 127.0.0.1:9092)")->type_name("LIST");
    app.add_option("--topic", options.topic, "created when missing")->capture_default_str();
    app.add_option("--json", options.json_file, "write the result there as JSON; - is standard output")
        ->type_name("FILE");
    app.add_option("--note", words.notes, "KEY=VALUE, copied into the JSON; may be given again")->type_name("NOTE");
    add_duration(app, "--patience", options.patience_ns, "how long to try to connect (default 10s)");
}

void add_load(CLI::App& app, Options& options) {
    app.add_option("--system", options.system, "kafka (tidelockd), nats, amqp, etcd, redis")
        ->transform(CLI::CheckedTransformer(kSystems))
        ->type_name("NAME");
    app.add_option("--partitions", options.partitions, "of a topic that is created")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option("--replication", options.replication, "of a topic that is created")
        ->check(CLI::Range(1, 7))
        ->capture_default_str();
    app.add_option("--acks", options.acks, "all, 1 or 0")->transform(CLI::CheckedTransformer(kAcks))->type_name("ACKS");
    app.add_flag("--idempotent", options.is_idempotent, "numbered, so that what is sent again is not written twice");
    app.add_option("--record-bytes", options.record_bytes, "of each record's value")
        ->check(CLI::Range(std::uint32_t{kPayloadBytesMin}, kRecordBytesMax))
        ->capture_default_str();
    app.add_option("--records", options.records, "end after so many")->check(CLI::Range(1UL, 1'000'000'000UL));
    add_duration(app, "--seconds", options.seconds_ns, "end after so long (default 10s without --records)");
    app.add_option("--in-flight", options.in_flight, "records sent and not acknowledged")
        ->check(CLI::Range(1U, 1'000'000U))
        ->capture_default_str();
    app.add_option("--batch-bytes", options.batch_bytes, "most of a request; 1: each record by itself")
        ->check(CLI::Range(1U, 8U << 20U))
        ->capture_default_str();
    add_duration(app, "--linger", options.linger_ns, "how long a batch may wait to be filled (default 0)");
    add_duration(app, "--ack-timeout", options.ack_timeout_ns, "give an acknowledgement up (default 30s, failover 5s)");
}

void add_consuming(CLI::App& app, Options& options) {
    app.add_option("--consumers", options.consumers, "so many, and each reads all of the topic")
        ->check(CLI::Range(1U, 1'000U))
        ->capture_default_str();
    app.add_option("--records", options.records, "end after so many (default: at the end of the topic)")
        ->check(CLI::Range(1UL, 1'000'000'000UL));
    add_duration(app, "--seconds", options.seconds_ns, "end after so long");
    app.add_flag("--follow", options.follows, "begin at the end and wait for what is produced; needs --seconds");
}

std::string read_brokers(const std::string& text, std::vector<HostPort>& into) {
    if (text.empty()) return {};
    into.clear();
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const auto address = tidelockd::parse_host_port(word);
        if (!address) return fmt::format("--brokers: '{}' is not host:port", word);
        into.push_back(*address);
    }
    return into.empty() ? "--brokers: no host:port is given" : std::string();
}

std::string read_pids(const std::string& text, std::vector<pid_t>& into) {
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const bool is_number = !word.empty() && word.size() < 10 &&
                               std::ranges::all_of(word, [](unsigned char c) { return c >= '0' && c <= '9'; });
        if (!is_number || std::stol(word) < 2) return fmt::format("--pids: '{}' is no process to kill", word);
        into.push_back(static_cast<pid_t>(std::stol(word)));
    }
    return {};
}

std::string read_notes(const std::vector<std::string>& notes, Options& options) {
    for (const std::string& note : notes) {
        const std::size_t equals = note.find('=');
        if (equals == std::string::npos || equals == 0) return fmt::format("--note: '{}' is not KEY=VALUE", note);
        options.notes[note.substr(0, equals)] = note.substr(equals + 1);
    }
    return {};
}

std::string fault_of(const Options& options) {
    if (options.command == Command::kReport) return {};
    if (options.is_idempotent && options.acks != -1) return "--idempotent needs --acks all";
    if (options.command == Command::kConsume)
        return options.follows && options.seconds_ns == 0 ? "--follow needs --seconds" : "";
    const bool waits_for_acks = options.command == Command::kFailover || options.verifies;
    if (options.acks == 0 && waits_for_acks) return "--acks 0 acknowledges nothing that could be looked for";
    if (options.acks != -1 && options.system != SystemKind::kKafka)
        return fmt::format("--acks is for kafka alone; {} acknowledges what its majority has", name_of(options.system));
    const bool can_number = options.system == SystemKind::kKafka || options.system == SystemKind::kNats;
    if (options.is_idempotent && !can_number)
        return fmt::format("--idempotent: {} has nothing like it", name_of(options.system));
    if (options.command == Command::kProduce) return {};
    if (options.pids.empty()) return "--pids: failover needs the processes of the brokers, one a broker, in order";
    if (options.pids.size() != options.brokers.size())
        return fmt::format("--pids: {} processes for {} brokers", options.pids.size(), options.brokers.size());
    return options.kill_after_ns >= options.seconds_ns ? "--kill-after has to be less than --seconds" : "";
}

void set_defaults(Options& options) {
    if (options.patience_ns == 0) options.patience_ns = 10 * kSecondNs;
    if (options.ack_timeout_ns == 0)
        options.ack_timeout_ns = options.command == Command::kFailover ? 5 * kSecondNs : 30 * kSecondNs;
    if (options.command == Command::kConsume) return;
    if (options.seconds_ns == 0 && options.records == 0) options.seconds_ns = 10 * kSecondNs;
    if (options.kill_after_ns == 0) options.kill_after_ns = 3 * kSecondNs;
}

}  // namespace

std::string_view name_of(SystemKind system) {
    switch (system) {
        case SystemKind::kKafka:
            return "kafka";
        case SystemKind::kNats:
            return "nats";
        case SystemKind::kAmqp:
            return "amqp";
        case SystemKind::kEtcd:
            return "etcd";
        case SystemKind::kRedis:
            return "redis";
    }
    return "?";
}

Result<Options, NoOptions> parse_options(std::vector<std::string> words) {
    Options options;
    Words text;
    CLI::App app("Produces and consumes as fast as brokers let it, and kills one of them on the way.", "tidelock_load");
    app.require_subcommand(1);
    CLI::App* produce = app.add_subcommand("produce", "records/s and latencies of a producer");
    add_target(*produce, options, text);
    add_load(*produce, options);
    add_duration(*produce, "--warmup", options.warmup_ns, "at first, not counted (default 0)");
    produce->add_flag("--verify", options.verifies, "read everything back and look for what was acknowledged");
    CLI::App* consume = app.add_subcommand("consume", "records/s of consumers (kafka)");
    add_target(*consume, options, text);
    add_consuming(*consume, options);
    CLI::App* failover = app.add_subcommand("failover",
                                            "kill -9 of the leader under load: how long nothing is "
                                            "acknowledged, and whether all that was is there");
    add_target(*failover, options, text);
    add_load(*failover, options);
    failover->add_option("--pids", text.pids, "of the brokers, in the order of --brokers")->type_name("LIST");
    add_duration(*failover, "--kill-after", options.kill_after_ns, "when to kill the leader (default 3s)");
    CLI::App* report = app.add_subcommand("report", "one table of many results");
    report->add_option("files", options.files, "results, as --json has written them")->required();
    report->add_option("--json", options.json_file, "write all of them there; - is standard output");
    app.footer(
        "Exit status: 0 done, 1 an acknowledged record is lost or the run could not be ended, 2 wrong use or no\n"
        "broker reached. TIME is 10, 1.5s, 20ms, 2m.");
    try {
        std::reverse(words.begin(), words.end());
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        std::ostringstream out;
        std::ostringstream err;
        const int status = app.exit(error, out, err) == 0 ? 0 : 2;
        return Failure<NoOptions>({status == 0 ? out.str() : err.str(), status});
    }
    if (consume->parsed()) options.command = Command::kConsume;
    if (failover->parsed()) options.command = Command::kFailover;
    if (report->parsed()) options.command = Command::kReport;
    std::string fault = read_brokers(text.brokers, options.brokers);
    if (fault.empty()) fault = read_pids(text.pids, options.pids);
    if (fault.empty()) fault = read_notes(text.notes, options);
    set_defaults(options);
    if (fault.empty()) fault = fault_of(options);
    if (!fault.empty()) return Failure<NoOptions>({fmt::format("tidelock_load: {}\n", fault), 2});
    return options;
}

}  // namespace tidelock::load
