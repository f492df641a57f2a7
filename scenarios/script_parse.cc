// From text to script lines. Everything that can be wrong with a line is found here, before anything runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "checker/catalogue.h"
#include "protocol/broker/marks.h"
#include "protocol/broker/observation.h"
#include "scenarios/broker_host.h"
#include "scenarios/script.h"
#include "scenarios/settings.h"

namespace tidelock::scenarios {

namespace {

constexpr std::string_view kObservationNames[] = {
    "started",
    "refused-to-start",
    "data-incarnation-renewed",
    "raft-recovered",
    "vote-granted",
    "raft-leader-elected",
    "raft-leader-stepped-down",
    "read-round-asked",
    "read-round-confirmed",
    "raft-entry-appended",
    "raft-entries-truncated",
    "raft-entry-committed",
    "raft-replica-admitted",
    "raft-voter-changed",
    "raft-snapshot-installed",
    "claim-committed",
    "leader-serving",
    "leadership-ended",
    "following-leader",
    "in-sync-set-proposed",
    "in-sync-set-committed",
    "acknowledgement-set-changed",
    "under-replicated-partitions",
    "topic-created",
    "topic-grown",
    "topic-shrunk",
    "topic-hidden",
    "topic-shown",
    "topic-dropped",
    "batch-appended",
    "log-recovered",
    "log-truncated",
    "log-reset",
    "log-start-advanced",
    "durable-end-advanced",
    "damage-found",
    "log-failed",
    "log-reopened",
    "high-watermark-advanced",
    "records-acknowledged",
    "records-served",
    "bounds-told",
    "status-reported",
    "protocol-violation-refused",
    "mark-reached",
    "producer-refused",
    "group-changed",
};
static_assert(std::size(kObservationNames) == std::variant_size_v<broker::Observation>);

constexpr std::string_view kFrameNames[] = {
    "pre-vote-request", "pre-vote-answer",  "vote-request",      "vote-answer",      "append-request",
    "append-answer",    "snapshot-request", "snapshot-answer",   "timeout-now",      "formation-statement",
    "manifest-request", "manifest-answer",  "epoch-end-request", "epoch-end-answer", "fetch-request",
    "fetch-answer",     "position-update",  "topic-wanted",
};
static_assert(std::size(kFrameNames) == broker::kPeerKindCount);

constexpr std::array<std::string_view, 3> kAcksWords{"none", "leader", "all"};
constexpr std::array<std::string_view, 3> kExpectedWords{"ok", "refused", "unknown"};

constexpr std::string_view kConditionWords[] = {"leader",  "raft-leader", "in-sync", "high-watermark",
                                                "log-end", "log-start",   "mark",    "refused",
                                                "up",      "acked",       "topic",   "elections"};

bool is_name(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
}

bool is_number(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The words of one line, taken from the left. The first complaint is kept; after it everything answers harmlessly.
class Words {
  public:
    explicit Words(std::string_view line) {
        line = line.substr(0, line.find('#'));
        while (true) {
            const std::size_t begin = line.find_first_not_of(" \t\r");
            if (begin == std::string_view::npos) break;
            const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
            words_.emplace_back(line.substr(begin, end - begin));
            line.remove_prefix(end);
        }
    }

    [[nodiscard]] bool at_end() const { return at_ >= words_.size(); }
    [[nodiscard]] std::string_view peek() const { return at_end() ? std::string_view() : words_[at_]; }
    [[nodiscard]] const std::string& complaint() const { return complaint_; }
    void complain(std::string what) {
        if (complaint_.empty()) complaint_ = std::move(what);
        at_ = words_.size();
    }

    bool take_if(std::string_view word) {
        if (peek() != word) return false;
        ++at_;
        return true;
    }
    void want(std::string_view word) {
        if (!take_if(word)) complain(fmt::format("expected \"{}\"{}", word, instead()));
    }
    std::string word(std::string_view what) {
        if (at_end()) {
            complain(fmt::format("expected {}{}", what, instead()));
            return {};
        }
        return words_[at_++];
    }
    std::string name(std::string_view what) {
        const std::string taken = word(what);
        if (!is_name(taken)) complain(fmt::format("expected {}, not \"{}\"", what, taken));
        return taken;
    }
    std::int64_t number(std::string_view what, std::int64_t min = 0, std::int64_t max = INT64_MAX) {
        const std::string taken = word(what);
        std::int64_t number = min;
        const auto [end, error] = std::from_chars(taken.data(), taken.data() + taken.size(), number);
        if (error != std::errc{} || end != taken.data() + taken.size()) {
            complain(fmt::format("expected {}, not \"{}\"", what, taken));
        } else if (number < min || number > max) {
            complain(fmt::format("{} {} is not between {} and {}", what, number, min, max));
        }
        return number;
    }
    Duration duration() {
        const std::string taken = word("a duration");
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(taken.data(), taken.data() + taken.size(), number);
        const std::string_view unit = std::string_view(taken).substr(static_cast<std::size_t>(end - taken.data()));
        if (error == std::errc{} && number >= 0 && unit == "ms") return milliseconds(number);
        if (error == std::errc{} && number >= 0 && unit == "s") return seconds(number);
        complain(fmt::format("expected a duration as 500ms or 2s, not \"{}\"", taken));
        return {};
    }
    /// One or more, up to a word that is none of them.
    std::vector<std::string> brokers() {
        std::vector<std::string> taken;
        while (!at_end() && is_name(peek()) && !is_stop_word(peek())) taken.push_back(words_[at_++]);
        if (taken.empty()) complain(fmt::format("expected brokers{}", instead()));
        return taken;
    }
    std::vector<std::uint64_t> values() {
        std::vector<std::uint64_t> taken;
        while (is_number(peek())) taken.push_back(static_cast<std::uint64_t>(number("a value", 1, INT32_MAX)));
        return taken;
    }
    void partition(ScriptLine& line) {
        const std::string taken = word("a partition as t-0");
        const std::size_t dash = taken.rfind('-');
        const std::string_view number =
            dash == std::string::npos ? std::string_view() : std::string_view(taken).substr(dash + 1);
        if (!is_number(number) || number.size() > 4 || dash == 0) {
            complain(fmt::format("expected a partition as t-0, not \"{}\"", taken));
            return;
        }
        line.name = taken.substr(0, dash);
        line.partition = std::stoi(std::string(number));
    }
    template <std::size_t N>
    std::int64_t one_of(const std::array<std::string_view, N>& words) {
        const std::string taken = word("a word");
        const auto found = std::find(words.begin(), words.end(), taken);
        if (found == words.end()) complain(fmt::format("\"{}\" is none of {}", taken, fmt::join(words, ", ")));
        return found == words.end() ? 0 : found - words.begin();
    }

  private:
    static bool is_stop_word(std::string_view word) {
        constexpr std::string_view kStops[] = {"within", "at", "to", "on", "expect", "epoch"};
        return std::find(std::begin(kStops), std::end(kStops), word) != std::end(kStops);
    }
    [[nodiscard]] std::string instead() const {
        return at_end() ? " at the end of the line" : fmt::format(", not \"{}\"", words_[at_]);
    }

    std::vector<std::string> words_;
    std::size_t at_ = 0;
    std::string complaint_;
};

// --- one function a verb
// ------------------------------------------------------------------------------------------------

void parse_set(Words& words, ScriptLine& line) {
    const std::string key = words.word("a setting");
    std::vector<const SettingInfo*> found;
    for (const SettingInfo& info : all_settings()) {
        const bool is_last_part = info.path.ends_with("." + key);
        if (info.path == key || is_last_part) found.push_back(&info);
    }
    if (found.size() != 1) return words.complain(fmt::format("\"{}\" is no setting", key));
    const SettingInfo& info = *found.front();
    line.name = info.path;
    if (info.type == SettingType::kInteger) {
        line.amount = words.number(info.path, info.min, info.max);
        return;
    }
    const std::string word = words.word("a value");
    if (info.type == SettingType::kSwitch) {
        line.amount = word == "on" ? 1 : 0;
        if (word != "on" && word != "off") words.complain(fmt::format("{} is on or off, not \"{}\"", info.path, word));
        return;
    }
    const auto choice = std::find(info.choices.begin(), info.choices.end(), word);
    line.amount = choice - info.choices.begin();
    if (choice == info.choices.end())
        words.complain(fmt::format("\"{}\" is none of {}", word, fmt::join(info.choices, ", ")));
}

void parse_one_broker(Words& words, ScriptLine& line) {
    line.brokers = {words.name("a broker")};
}
void parse_brokers(Words& words, ScriptLine& line) {
    line.brokers = words.brokers();
}
void parse_nothing(Words&, ScriptLine&) {}

void parse_let(Words& words, ScriptLine& line) {
    line.name = words.name("a name");
    if (is_number(line.name)) words.complain("an alias cannot be a number");
    words.want("=");
    parse_one_broker(words, line);
}

void parse_topic(Words& words, ScriptLine& line) {
    constexpr std::array<std::string_view, 3> kWhat{"create", "grow", "delete"};
    line.verb = static_cast<Verb>(static_cast<std::int64_t>(Verb::kCreateTopic) + words.one_of(kWhat));
    line.name = words.name("a topic");
    line.amount = 1;
    if (line.verb == Verb::kGrowTopic) words.want("to");
    if (line.verb == Verb::kGrowTopic || (line.verb == Verb::kCreateTopic && words.take_if("partitions")))
        line.amount = words.number("partitions", 1, 64);
}

void parse_append(Words& words, ScriptLine& line) {
    line.values = words.values();
    if (line.values.empty()) words.complain("expected values");
    words.want("to");
    words.partition(line);
    if (words.take_if("acks")) line.acks = words.one_of(kAcksWords);
    if (words.take_if("via")) line.other_brokers = {words.name("a broker")};
}
void parse_expected(Words& words, ScriptLine& line) {
    words.want("expect");
    line.expected = static_cast<Expected>(words.one_of(kExpectedWords));
}
void parse_produce(Words& words, ScriptLine& line) {
    parse_append(words, line);
    parse_expected(words, line);
}

void parse_read(Words& words, ScriptLine& line) {
    words.partition(line);
    if (words.take_if("from")) line.amount = words.number("an offset");
    if (words.take_if("via")) line.other_brokers = {words.name("a broker")};
    words.want("expect");
    if (!words.take_if("nothing")) {
        line.values = words.values();
        if (line.values.empty()) words.complain("expected values or \"nothing\"");
    }
}

void parse_delete_records(Words& words, ScriptLine& line) {
    words.partition(line);
    words.want("before");
    line.amount = words.number("an offset");
}

void parse_commit(Words& words, ScriptLine& line) {
    words.partition(line);
    line.amount = words.number("an offset");
}
void parse_committed(Words& words, ScriptLine& line) {
    words.partition(line);
    words.want("expect");
    line.amount = words.take_if("none") ? -1 : words.number("an offset");
}

void parse_transfer(Words& words, ScriptLine& line) {
    words.want("to");
    parse_one_broker(words, line);
    // Without an expectation whatever comes is fine; who leads afterwards is asked by another line.
    line.amount = words.at_end() ? 0 : 1;
    if (!words.at_end()) parse_expected(words, line);
}

void parse_cut(Words& words, ScriptLine& line) {
    line.brokers = words.brokers();
    const bool is_one_way = words.take_if("->");
    if (is_one_way) line.verb = Verb::kCutOneWay;
    if (!is_one_way) words.want("|");
    line.other_brokers = words.brokers();
}
void parse_clog(Words& words, ScriptLine& line) {
    line.brokers = words.brokers();
    words.want("->");
    line.other_brokers = words.brokers();
}

void parse_lose(Words& words, ScriptLine& line) {
    line.name = words.name("a kind of frame");
    if (line.name == "nothing") return;
    const auto found = std::find(std::begin(kFrameNames), std::end(kFrameNames), line.name);
    line.amount = found - std::begin(kFrameNames);
    if (found == std::end(kFrameNames))
        words.complain(fmt::format("\"{}\" is none of nothing, {}", line.name, fmt::join(kFrameNames, ", ")));
    if (words.at_end()) return;
    line.brokers = words.brokers();
    words.want("->");
    line.other_brokers = words.brokers();
}

void parse_kill(Words& words, ScriptLine& line) {
    line.brokers = words.brokers();
    if (!words.take_if("at")) return;
    line.verb = Verb::kKillAt;
    line.name = words.name("an observation");
    const auto found = std::find(std::begin(kObservationNames), std::end(kObservationNames), line.name);
    line.amount = found - std::begin(kObservationNames);
    if (found == std::end(kObservationNames))
        words.complain(fmt::format("\"{}\" is none of {}", line.name, fmt::join(kObservationNames, ", ")));
}

void parse_disk(Words& words, ScriptLine& line) {
    parse_one_broker(words, line);
    const std::string what = words.word("slow, stall, release, full, free or rot");
    if (what == "slow") {
        line.verb = Verb::kSlowDisk;
        line.amount = words.number("a factor", 1, 1'000'000);
    } else if (what == "stall") {
        line.verb = Verb::kStallDisk;
    } else if (what == "release") {
        line.verb = Verb::kReleaseDisk;
    } else if (what == "full") {
        line.verb = Verb::kFullDisk;
        if (!words.at_end()) line.amount = words.number("bytes left");
    } else if (what == "free") {
        line.verb = Verb::kFreeDisk;
    } else if (what == "rot") {
        line.verb = Verb::kRot;
        if (!words.at_end()) line.name = words.word("a file");
    } else {
        words.complain(fmt::format("expected slow, stall, release, full, free or rot, not \"{}\"", what));
    }
}

void parse_role(Words& words, ScriptLine& line) {
    line.brokers = words.brokers();
    words.want("epoch");
    line.amount = words.number("an epoch", 1, INT32_MAX);
}

void parse_marked(Words& words, ScriptLine& line) {
    line.name = words.name("a mark");
    for (std::size_t i = 0; i < broker::kMarkCount; ++i)
        if (broker::name_of(static_cast<broker::Mark>(i)) == line.name) line.amount = static_cast<std::int64_t>(i);
    if (broker::name_of(static_cast<broker::Mark>(line.amount)) != line.name)
        words.complain(fmt::format("\"{}\" is no mark", line.name));
}

void parse_position(Words& words, ScriptLine& line) {
    words.partition(line);
    line.amount = words.number("an offset");
    words.want("on");
    line.brokers = words.brokers();
}

void parse_topic_condition(Words& words, ScriptLine& line) {
    line.name = words.name("a topic");
    if (words.take_if("partitions")) line.amount = words.number("partitions", 1, 64);
    words.want("on");
    line.brokers = words.brokers();
}

void parse_condition(Words& words, ScriptLine& line) {
    if (line.verb == Verb::kExpect && words.take_if("violation")) {
        line.verb = Verb::kExpectViolation;
        line.name = words.name("an invariant");
        const auto known = checker::catalogue();
        if (std::none_of(known.begin(), known.end(), [&line](const auto& info) { return info.name == line.name; }))
            words.complain(fmt::format("\"{}\" is no invariant", line.name));
        return;
    }
    line.is_negated = words.take_if("not");
    const std::string what = words.word("a condition");
    const auto found = std::find(std::begin(kConditionWords), std::end(kConditionWords), what);
    if (found == std::end(kConditionWords))
        return words.complain(fmt::format("\"{}\" is none of {}", what, fmt::join(kConditionWords, ", ")));
    line.condition = static_cast<Condition>(found - std::begin(kConditionWords));
    switch (line.condition) {
        case Condition::kLeader:
        case Condition::kRaftLeader:
            if (!words.at_end() && words.peek() != "within") parse_one_broker(words, line);
            break;
        case Condition::kInSync:
        case Condition::kRefused:
        case Condition::kUp:
            parse_brokers(words, line);
            break;
        case Condition::kHighWatermark:
        case Condition::kLogEnd:
        case Condition::kLogStart:
            parse_position(words, line);
            break;
        case Condition::kMark:
            parse_marked(words, line);
            break;
        case Condition::kAcked:
            line.values = words.values();
            break;
        case Condition::kTopic:
            parse_topic_condition(words, line);
            break;
        case Condition::kElections:
            line.amount = words.number("how many", 1, 1'000);
            break;
    }
    if (words.take_if("within")) {
        line.within = words.duration();
        if (line.verb == Verb::kExpect) words.complain("\"expect\" looks at once; waiting is \"await\"");
    }
}

struct VerbInfo {
    std::string_view word;
    Verb verb;
    void (*parse)(Words& words, ScriptLine& line);
};
constexpr VerbInfo kVerbs[] = {
    {"set", Verb::kSet, parse_set},
    {"seed", Verb::kSeed, [](Words& words, ScriptLine& line) { line.amount = words.number("a seed"); }},
    {"cluster", Verb::kCluster, [](Words& words, ScriptLine& line) { line.amount = words.number("brokers", 1, 9); }},
    {"start", Verb::kStart, parse_brokers},
    {"let", Verb::kLet, parse_let},
    {"topic", Verb::kCreateTopic, parse_topic},
    {"produce", Verb::kProduce, parse_produce},
    {"send", Verb::kSend, parse_append},
    {"read", Verb::kRead, parse_read},
    {"delete-records", Verb::kDeleteRecords, parse_delete_records},
    {"commit", Verb::kCommit, parse_commit},
    {"committed", Verb::kCommitted, parse_committed},
    {"transfer", Verb::kTransfer, parse_transfer},
    {"cut", Verb::kCut, parse_cut},
    {"heal", Verb::kHeal, parse_nothing},
    {"clog", Verb::kClog, parse_clog},
    {"unclog", Verb::kUnclog, parse_nothing},
    {"lose", Verb::kLose, parse_lose},
    {"reset", Verb::kReset, parse_clog},
    {"kill", Verb::kKill, parse_kill},
    {"power-loss", Verb::kPowerLoss, parse_brokers},
    {"restart", Verb::kRestart, parse_brokers},
    {"wipe", Verb::kWipe, parse_brokers},
    {"pause", Verb::kPause, parse_brokers},
    {"resume", Verb::kResume, parse_brokers},
    {"rejoin", Verb::kRejoin, parse_brokers},
    {"disk", Verb::kSlowDisk, parse_disk},
    {"fail-syncs", Verb::kFailSyncs,
     [](Words& words, ScriptLine& line) { line.amount = words.number("how many", 1, 1'000); }},
    {"role", Verb::kRole, parse_role},
    {"wait", Verb::kWait, [](Words& words, ScriptLine& line) { line.within = words.duration(); }},
    {"converge", Verb::kConverge, parse_nothing},
    {"await", Verb::kAwait, parse_condition},
    {"expect", Verb::kExpect, parse_condition},
};

std::string parse_line(Words& words, ScriptLine& line) {
    const std::string word = words.word("a verb");
    const auto* found =
        std::find_if(std::begin(kVerbs), std::end(kVerbs), [&word](const VerbInfo& info) { return info.word == word; });
    if (found == std::end(kVerbs)) return fmt::format("\"{}\" is no verb", word);
    line.verb = found->verb;
    found->parse(words, line);
    if (words.complaint().empty() && !words.at_end()) return fmt::format("\"{}\" is a word too many", words.peek());
    return words.complaint();
}

bool is_set_up(Verb verb) {
    return verb == Verb::kSet || verb == Verb::kSeed;
}

/// Settings first, then the cluster, then what happens to it.
std::string misplaced(const Script& script, const ScriptLine& line) {
    const bool has_cluster = std::any_of(script.lines.begin(), script.lines.end(),
                                         [](const ScriptLine& each) { return each.verb == Verb::kCluster; });
    if (is_set_up(line.verb) && has_cluster) return "settings stand before the cluster";
    if (line.verb == Verb::kCluster && has_cluster) return "there is a cluster already";
    if (!is_set_up(line.verb) && line.verb != Verb::kCluster && !has_cluster) return "there is no cluster yet";
    if (line.verb == Verb::kExpectViolation && !script.expected_violation.empty())
        return "a story expects one violation";
    return {};
}

}  // namespace

std::span<const std::string_view> observation_names() {
    return kObservationNames;
}

std::span<const std::string_view> frame_names() {
    return kFrameNames;
}

Result<Script, InputError> parse_script(std::string_view text, std::string_view name, std::string_view file) {
    Script script;
    script.name = std::string(name);
    script.file = std::string(file);
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view content = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        Words words(content);
        if (words.at_end()) continue;
        ScriptLine line;
        line.number = number;
        line.text = std::string(content);
        std::string complaint = parse_line(words, line);
        if (complaint.empty()) complaint = misplaced(script, line);
        if (!complaint.empty()) return Failure<InputError>({fmt::format("{}:{}: {}", file, number, complaint)});
        if (line.verb == Verb::kExpectViolation) script.expected_violation = line.name;
        if (line.verb == Verb::kSeed) script.seed = static_cast<std::uint64_t>(line.amount);
        script.lines.push_back(std::move(line));
    }
    if (script.lines.empty()) return Failure<InputError>({fmt::format("{}: no line in it", file)});
    return script;
}

}  // namespace tidelock::scenarios
