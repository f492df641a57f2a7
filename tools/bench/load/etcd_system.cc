// etcd: each record is a key of its own, put by the JSON gateway over HTTP/1.1; several at once are one transaction.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "tools/bench/load/base64.h"
#include "tools/bench/load/slot_system.h"

namespace tidelock::load {
namespace {

using nlohmann::json;

constexpr std::int64_t kStepNs = 2'000'000'000;
constexpr int kPageRecords = 500;

struct HttpReply {
    int status = 0;
    std::string body;
};

/// A chunked body from `at` on; where it ends, or 0 when not all of it came.
std::size_t take_chunks(std::string_view input, std::size_t at, std::string& body) {
    for (;;) {
        const std::size_t end = input.find("\r\n", at);
        if (end == std::string_view::npos) return 0;
        std::size_t size = 0;
        std::from_chars(input.data() + at, input.data() + end, size, 16);
        if (input.size() < end + 2 + size + 2) return 0;
        body.append(input.substr(end + 2, size));
        at = end + 2 + size + 2;
        if (size == 0) return at;
    }
}

/// The next whole reply, if it came.
std::optional<HttpReply> take_http(Channel& channel) {
    const std::string_view input = channel.input();
    const std::size_t head_end = input.find("\r\n\r\n");
    if (head_end == std::string_view::npos) return std::nullopt;
    const std::string_view head = input.substr(0, head_end);
    HttpReply reply;
    if (head.size() > 12) std::from_chars(head.data() + 9, head.data() + 12, reply.status);
    std::size_t end = head_end + 4;
    if (head.find("\r\nTransfer-Encoding: chunked") != std::string_view::npos) {
        end = take_chunks(input, end, reply.body);
        if (end == 0) return std::nullopt;
    } else if (const std::size_t at = head.find("\r\nContent-Length: "); at != std::string_view::npos) {
        std::size_t size = 0;
        std::from_chars(head.data() + at + 18, head.data() + head.size(), size);
        if (input.size() < end + size) return std::nullopt;
        reply.body = input.substr(end, size);
        end += size;
    }
    channel.consume(end);
    return reply;
}

void post(Channel& channel, std::string_view path, std::string_view body) {
    channel.put(
        fmt::format("POST {} HTTP/1.1\r\nHost: etcd\r\nContent-Type: application/json\r\nContent-Length: {}"
                    "\r\n\r\n",
                    path, body.size()));
    channel.put(body);
}

Result<json, std::string> ask(Channel& channel, std::string_view path, const json& question) {
    post(channel, path, question.dump());
    for (;;) {
        if (auto reply = take_http(channel)) {
            json answer = json::parse(reply->body, nullptr, false);
            if (reply->status == 200 && answer.is_object()) return answer;
            return Failure<std::string>(fmt::format("etcd answers {} {}", reply->status, reply->body));
        }
        if (std::string error = channel.await(kStepNs); !error.empty()) return Failure<std::string>(error);
    }
}

std::string base64_of(std::string_view text) {
    return to_base64(std::as_bytes(std::span(text)));
}

class EtcdSystem final : public SlotSystem {
  public:
    using SlotSystem::SlotSystem;

    [[nodiscard]] std::uint32_t batch_records_max() const override { return 128; }  // etcd's --max-txn-ops

    std::string read_back(const Reader& reader) override {
        std::string from = key_of(0);
        const std::string end = prefix() + "0";  // behind all that begin with the prefix and a slash
        for (;;) {
            const auto answer = ask(idle_channel(), "/v3/kv/range",
                                    {{"key", base64_of(from)}, {"range_end", base64_of(end)}, {"limit", kPageRecords}});
            if (!answer) return answer.error();
            const json pairs = answer->value("kvs", json::array());
            for (const json& pair : pairs) {
                const auto value = from_base64(pair.value("value", ""));
                const auto stamp = value ? stamp_of(std::as_bytes(std::span(*value))) : std::nullopt;
                if (stamp) reader(*stamp, {0, -1});
            }
            if (pairs.empty() || !answer->value("more", false)) return {};
            from = from_base64(pairs.back().value("key", "")).value_or(end) + '\0';
        }
    }

  protected:
    std::string check_leads(Channel& channel) override {
        const auto status = ask(channel, "/v3/maintenance/status", json::object());
        if (!status) return status.error();
        const std::string leader = status->value("leader", "");
        const json header = status->value("header", json::object());
        return !leader.empty() && leader == header.value("member_id", "") ? std::string() : "it does not lead";
    }

    void put_records(Channel& channel, RecordRange range, std::int64_t made_ns) override {
        if (range.count == 1) return post(channel, "/v3/kv/put", put_of(range.first, made_ns));
        std::string body = R"({"success":[)";
        for (std::uint32_t i = 0; i < range.count; ++i)
            body += fmt::format(R"({}{{"requestPut":{}}})", i == 0 ? "" : ",", put_of(range.first + i, made_ns));
        post(channel, "/v3/kv/txn", body + "]}");
    }

    Result<std::optional<Place>, std::string> take_answer(Channel& channel, RecordRange) override {
        const auto reply = take_http(channel);
        if (!reply) return std::optional<Place>();
        if (reply->status == 200) return std::optional<Place>(Place{});
        return Failure<std::string>(fmt::format("etcd answers {} {}", reply->status, reply->body));
    }

  private:
    [[nodiscard]] std::string prefix() { return fmt::format("{}/{:016x}", options().topic, payload().run()); }
    [[nodiscard]] std::string key_of(std::uint64_t record) { return fmt::format("{}/{:012}", prefix(), record); }
    [[nodiscard]] std::string put_of(std::uint64_t record, std::int64_t made_ns) {
        return fmt::format(R"({{"key":"{}","value":"{}"}})", base64_of(key_of(record)),
                           to_base64(payload().of(record, made_ns)));
    }
};

}  // namespace

std::unique_ptr<System> make_etcd(const Options& options, Payload& payload) {
    return std::make_unique<EtcdSystem>(options, payload);
}

}  // namespace tidelock::load
