// Redis: records go into a stream with XADD; a WAIT behind them says how many replicas have them. A connection that
// waits takes no further command, so each request under way has a connection of its own.
#include <fmt/format.h>

#include <charconv>

#include "tools/bench/load/slot_system.h"

namespace tidelock::load {
namespace {

constexpr std::int64_t kStepNs = 2'000'000'000;
constexpr int kPageRecords = 1'000;

/// Reads one reply at the front of `in`; texts and numbers are appended to `words`, errors with their sign. 0: not all
/// of it came yet.
std::size_t take_reply(std::string_view in, std::vector<std::string_view>& words) {
    const std::size_t end = in.find("\r\n");
    if (end == std::string_view::npos) return 0;
    const std::string_view line = in.substr(0, end);
    std::int64_t number = 0;
    if (line.size() > 1) std::from_chars(line.data() + 1, line.data() + line.size(), number);
    if (line.starts_with('$')) {
        if (number < 0) return words.emplace_back(), end + 2;
        const auto size = static_cast<std::size_t>(number);
        if (in.size() < end + 2 + size + 2) return 0;
        words.push_back(in.substr(end + 2, size));
        return end + 2 + size + 2;
    }
    if (!line.starts_with('*')) {
        words.push_back(line.starts_with('-') ? line : line.substr(std::min<std::size_t>(line.size(), 1)));
        return end + 2;
    }
    std::size_t taken = end + 2;
    for (std::int64_t i = 0; i < number; ++i) {
        const std::size_t part = take_reply(in.substr(taken), words);
        if (part == 0) return 0;
        taken += part;
    }
    return taken;
}

class RedisSystem final : public SlotSystem {
  public:
    using SlotSystem::SlotSystem;

    [[nodiscard]] std::uint32_t batch_records_max() const override { return 1'000; }

    std::string read_back(const Reader& reader) override {
        Channel& channel = idle_channel();
        std::string from = "-";
        for (;;) {
            std::vector<std::string_view> words;
            std::string error =
                ask(channel, {"XRANGE", options().topic, from, "+", "COUNT", std::to_string(kPageRecords)}, words);
            if (!error.empty() || words.empty()) return error;
            for (std::size_t i = 0; i + 2 < words.size(); i += 3)  // id, field, value
                if (const auto stamp = stamp_of(std::as_bytes(std::span(words[i + 2])))) reader(*stamp, {0, -1});
            from = fmt::format("({}", words[words.size() - words.size() % 3 - 3]);
            channel.consume(reply_bytes_);
        }
    }

  protected:
    std::string check_leads(Channel& channel) override {
        std::vector<std::string_view> words;
        if (std::string error = ask(channel, {"ROLE"}, words); !error.empty()) return error;
        const bool is_master = !words.empty() && words[0] == "master";
        channel.consume(reply_bytes_);
        return is_master ? std::string() : "it is no master";
    }

    void put_records(Channel& channel, RecordRange range, std::int64_t made_ns) override {
        for (std::uint32_t i = 0; i < range.count; ++i) {
            const auto value = payload().of(range.first + i, made_ns);
            channel.put(fmt::format("*5\r\n$4\r\nXADD\r\n${}\r\n{}\r\n$1\r\n*\r\n$1\r\nv\r\n${}\r\n",
                                    options().topic.size(), options().topic, value.size()));
            channel.put(value);
            channel.put(std::string_view("\r\n"));
        }
        const std::string replicas = std::to_string(options().replication / 2);  // with the master: a majority
        const std::string patience_ms = std::to_string(options().ack_timeout_ns / 1'000'000);
        put(channel, {"WAIT", replicas, patience_ms});
    }

    Result<std::optional<Place>, std::string> take_answer(Channel& channel, RecordRange range) override {
        std::size_t taken = 0;
        std::vector<std::string_view> words;
        for (std::uint32_t i = 0; i <= range.count; ++i) {
            const std::size_t part = take_reply(channel.input().substr(taken), words);
            if (part == 0) return std::optional<Place>();
            taken += part;
            if (words.back().starts_with('-')) return Failure<std::string>(std::string(words.back()));
        }
        std::int32_t replicas = 0;
        std::from_chars(words.back().data(), words.back().data() + words.back().size(), replicas);
        channel.consume(taken);
        if (replicas < options().replication / 2) return Failure<std::string>("too few replicas have it");
        return std::optional<Place>(Place{});
    }

  private:
    static void put(Channel& channel, const std::vector<std::string>& words) {
        channel.put(fmt::format("*{}\r\n", words.size()));
        for (const std::string& word : words) channel.put(fmt::format("${}\r\n{}\r\n", word.size(), word));
    }

    /// The words stay valid until `reply_bytes_` are consumed.
    std::string ask(Channel& channel, const std::vector<std::string>& question, std::vector<std::string_view>& words) {
        put(channel, question);
        for (;;) {
            words.clear();
            reply_bytes_ = take_reply(channel.input(), words);
            if (reply_bytes_ > 0) break;
            if (std::string error = channel.await(kStepNs); !error.empty()) return error;
        }
        return !words.empty() && words[0].starts_with('-') ? std::string(words[0]) : std::string();
    }

    std::size_t reply_bytes_ = 0;
};

}  // namespace

std::unique_ptr<System> make_redis(const Options& options, Payload& payload) {
    return std::make_unique<RedisSystem>(options, payload);
}

}  // namespace tidelock::load
