// NATS JetStream: each record is published by itself, the answer comes to an inbox. Connects to the server that leads
// the stream, as that is the shortest way.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "tools/bench/load/base64.h"
#include "tools/bench/load/system.h"

namespace tidelock::load {
namespace {

using nlohmann::json;

constexpr std::int64_t kStepNs = 2'000'000'000;
constexpr std::int64_t kAskNs = 300'000'000;  // a server without a leader says nothing
constexpr std::uint64_t kReadsAtOnce = 128;

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

/// What came to a subscription. Views live until the next message is taken.
struct NatsMessage {
    std::string subject;
    std::string headers;
    std::string payload;
};

/// One connection, and the inbox that answers come to.
class NatsLink {
  public:
    NatsLink(std::unique_ptr<Channel> channel, std::string inbox)
        : channel_(std::move(channel)), inbox_(std::move(inbox)) {}

    static Result<std::unique_ptr<NatsLink>, std::string> open(const HostPort& address, const std::string& inbox) {
        auto channel = Channel::open(address, kStepNs);
        if (!channel) return Failure<std::string>(channel.error());
        auto link = std::make_unique<NatsLink>(std::move(*channel), inbox);
        std::optional<std::string> line;
        while (!(line = link->take_line()))
            if (std::string error = link->channel_->await(kStepNs); !error.empty()) return Failure<std::string>(error);
        const json info = json::parse(line->substr(std::min<std::size_t>(line->size(), 5)), nullptr, false);
        if (!line->starts_with("INFO ") || !info.is_object()) return Failure<std::string>("this is no NATS server");
        link->server_ = info.value("server_name", "");
        link->channel_->put(std::string_view(
            "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"protocol\":1,"
            "\"lang\":\"c++\",\"version\":\"1\"}\r\n"));
        link->channel_->put(fmt::format("SUB {}.* 1\r\n", inbox));
        return link;
    }

    [[nodiscard]] const std::string& server() const { return server_; }
    [[nodiscard]] Channel& channel() { return *channel_; }

    /// Asks the JetStream API and waits.
    Result<json, std::string> ask(const std::string& subject, const std::string& question) {
        const std::string reply = inbox_ + ".api";
        channel_->put(fmt::format("PUB {} {} {}\r\n{}\r\n", subject, reply, question.size(), question));
        for (;;) {
            auto message = take();
            if (!message) return Failure<std::string>(message.error());
            if (*message && (*message)->subject == reply) {
                json answer = json::parse((*message)->payload, nullptr, false);
                if (answer.is_object()) return answer;
                return Failure<std::string>("JetStream does not answer: " + (*message)->headers);
            }
            if (*message) continue;
            if (std::string error = channel_->await(kAskNs); !error.empty()) return Failure<std::string>(error);
        }
    }

    /// The next whole message, if one came.
    Result<std::optional<NatsMessage>, std::string> take() {
        for (;;) {
            const std::string_view input = channel_->input();
            const std::size_t end = input.find("\r\n");
            if (end == std::string_view::npos) return std::optional<NatsMessage>();
            const std::string_view line = input.substr(0, end);
            if (line.starts_with("MSG ") || line.starts_with("HMSG ")) return take_message(line, end + 2);
            if (line.starts_with("-ERR")) return Failure<std::string>(std::string(line));
            if (line == "PING") channel_->put(std::string_view("PONG\r\n"));
            channel_->consume(end + 2);
        }
    }

  private:
    std::optional<std::string> take_line() {
        const std::size_t end = channel_->input().find("\r\n");
        if (end == std::string_view::npos) return std::nullopt;
        std::string line(channel_->input().substr(0, end));
        channel_->consume(end + 2);
        return line;
    }

    /// MSG subject sid [reply] size; HMSG subject sid [reply] headers size.
    Result<std::optional<NatsMessage>, std::string> take_message(std::string_view line, std::size_t body_at) {
        std::vector<std::string_view> words;
        for (std::size_t at = 0; at <= line.size();) {
            const std::size_t space = std::min(line.find(' ', at), line.size());
            if (space > at) words.push_back(line.substr(at, space - at));
            at = space + 1;
        }
        const bool has_headers = words[0] == "HMSG";
        const std::size_t least = has_headers ? 5 : 4;
        const auto size = words.size() < least ? std::nullopt : number_of(words.back());
        const auto header_size =
            has_headers && size ? number_of(words[words.size() - 2]) : std::optional<std::uint64_t>(0);
        if (!size || !header_size || *header_size > *size) return Failure<std::string>("the server sent no message");
        const std::string_view input = channel_->input();
        if (input.size() < body_at + *size + 2) return std::optional<NatsMessage>();
        NatsMessage message{std::string(words[1]), std::string(input.substr(body_at, *header_size)),
                            std::string(input.substr(body_at + *header_size, *size - *header_size))};
        channel_->consume(body_at + *size + 2);
        return std::optional<NatsMessage>(std::move(message));
    }

    std::unique_ptr<Channel> channel_;
    std::string inbox_;
    std::string server_;
};

class NatsSystem final : public System {
  public:
    NatsSystem(const Options& options, Payload& payload)
        : options_(options), payload_(payload), inbox_(fmt::format("_INBOX.{:016x}", payload.run())) {}

    std::string connect() override {
        link_.reset();
        trouble_.clear();
        std::string why = "no server is there";
        for (std::size_t i = 0; i < options_.brokers.size(); ++i) {
            auto link = NatsLink::open(options_.brokers[i], inbox_);
            why = link ? follow_leader(**link) : link.error();
            if (why.empty()) return {};
        }
        return why;
    }

    void send(RecordRange range, std::int64_t made_ns) override {
        const auto payload = payload_.of(range.first, made_ns);
        std::string headers;
        if (options_.is_idempotent)
            headers = fmt::format("NATS/1.0\r\nNats-Msg-Id: {:016x}-{}\r\n\r\n", payload_.run(), range.first);
        Channel& channel = link_->channel();
        if (headers.empty())
            channel.put(
                fmt::format("PUB {}.records {}.{} {}\r\n", options_.topic, inbox_, range.first, payload.size()));
        else
            channel.put(fmt::format("HPUB {}.records {}.{} {} {}\r\n{}", options_.topic, inbox_, range.first,
                                    headers.size(), headers.size() + payload.size(), headers));
        channel.put(payload);
        channel.put(std::string_view("\r\n"));
    }

    std::string wait(std::int64_t patience_ns, Outcomes& outcomes) override {
        Channel* channel = &link_->channel();
        std::string error = exchange_all(std::span(&channel, 1), patience_ns);
        for (;;) {
            const auto message = link_->take();
            if (!message) return message.error();
            if (!*message) return error;
            if (std::string refused = on_answer(**message, outcomes); !refused.empty()) return refused;
        }
    }

    Result<std::size_t, std::string> leader() override {
        const auto info = link_->ask("$JS.API.STREAM.INFO." + options_.topic, "");
        if (!info) return Failure<std::string>(info.error());
        const std::string name = leader_in(*info);
        for (std::size_t i = 0; i < options_.brokers.size(); ++i) {
            const auto link = NatsLink::open(options_.brokers[i], inbox_ + "x");
            if (link && (*link)->server() == name) return i;
        }
        return Failure<std::string>("none of the servers is " + name);
    }

    std::string read_back(const Reader& reader) override {
        const auto info = link_->ask("$JS.API.STREAM.INFO." + options_.topic, "");
        if (!info) return info.error();
        const json state = info->value("state", json::object());
        const auto first = state.value("first_seq", std::uint64_t{1});
        const auto last = state.value("last_seq", std::uint64_t{0});
        std::uint64_t asked = first;
        for (std::uint64_t answered = first; answered <= last; ++answered) {
            for (; asked <= last && asked < answered + kReadsAtOnce; ++asked) ask_for(asked);
            if (std::string error = take_read(reader); !error.empty()) return error;
        }
        return {};
    }

  private:
    static std::string leader_in(const json& info) {
        const auto cluster = info.find("cluster");
        return cluster != info.end() && cluster->is_object() ? cluster->value("leader", "") : std::string();
    }

    /// Keeps the link if its server leads, else looks for the one that does. Empty: connected to the leader.
    std::string follow_leader(NatsLink& link) {
        auto info = link.ask("$JS.API.STREAM.INFO." + options_.topic, "");
        if (info && info->contains("error")) {
            const json config = {{"name", options_.topic},
                                 {"subjects", {options_.topic + ".>"}},
                                 {"num_replicas", options_.replication},
                                 {"retention", "limits"},
                                 {"storage", "file"},
                                 {"max_msgs", -1},
                                 {"max_bytes", -1},
                                 {"discard", "old"}};
            info = link.ask("$JS.API.STREAM.CREATE." + options_.topic, config.dump());
        }
        if (!info) return info.error();
        if (info->contains("error")) return "JetStream: " + (*info)["error"].dump();
        const std::string name = leader_in(*info);
        if (name.empty()) return "the stream has no leader";
        for (const HostPort& broker : options_.brokers) {
            auto other = NatsLink::open(broker, inbox_);
            if (!other || (*other)->server() != name) continue;
            link_ = std::move(*other);
            return {};
        }
        return "the stream's leader cannot be reached";
    }

    std::string on_answer(const NatsMessage& message, Outcomes& outcomes) {
        const auto record = number_of(std::string_view(message.subject).substr(message.subject.rfind('.') + 1));
        if (!record) return {};  // an answer to something else
        const std::size_t at = message.payload.find("\"seq\":");
        const bool is_refused = at == std::string::npos || message.payload.find("\"error\"") != std::string::npos;
        if (is_refused) return message.payload.empty() ? "nobody takes records now" : message.payload;
        const auto sequence = number_of(std::string_view(message.payload).substr(at + 6));
        outcomes.on_acknowledged({*record, 1}, {0, static_cast<std::int64_t>(sequence.value_or(0))});
        return {};
    }

    void ask_for(std::uint64_t sequence) {
        const std::string question = fmt::format("{{\"seq\":{}}}", sequence);
        link_->channel().put(fmt::format("PUB $JS.API.STREAM.MSG.GET.{} {}.read {}\r\n{}\r\n", options_.topic, inbox_,
                                         question.size(), question));
    }

    std::string take_read(const Reader& reader) {
        for (;;) {
            const auto message = link_->take();
            if (!message) return message.error();
            if (!*message) {
                if (std::string error = link_->channel().await(5 * kStepNs); !error.empty()) return error;
                continue;
            }
            if (!(*message)->subject.ends_with(".read")) continue;
            const json answer = json::parse((*message)->payload, nullptr, false);
            if (!answer.is_object()) return "JetStream does not give a message: " + (*message)->headers;
            if (!answer.contains("message")) return {};  // a sequence without a message
            const auto bytes = from_base64(answer["message"].value("data", ""));
            const auto stamp = bytes ? stamp_of(std::as_bytes(std::span(*bytes))) : std::nullopt;
            if (stamp) reader(*stamp, {0, answer["message"].value("seq", std::int64_t{0})});
            return {};
        }
    }

    const Options& options_;
    Payload& payload_;
    std::string inbox_;
    std::unique_ptr<NatsLink> link_;
    std::string trouble_;
};

}  // namespace

std::unique_ptr<System> make_nats(const Options& options, Payload& payload) {
    return std::make_unique<NatsSystem>(options, payload);
}

}  // namespace tidelock::load
