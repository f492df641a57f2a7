// RabbitMQ: a quorum queue, one record a message, publisher confirms. Nothing in AMQP tells who leads a queue; the
// broker that it is declared at does, as long as nobody moves it, so that is the first one that can be reached.
#include <fmt/format.h>

#include <map>

#include "tools/bench/load/amqp_frames.h"
#include "tools/bench/load/system.h"

namespace tidelock::load {
namespace {

constexpr std::int64_t kStepNs = 2'000'000'000;
constexpr std::uint32_t kFrameBytesMax = 131'072;
constexpr std::uint16_t kPersistentFlag = 0x1000;
constexpr std::uint8_t kPersistent = 2;
constexpr std::uint8_t kDurable = 2;
constexpr std::uint8_t kNoAck = 2;
constexpr std::uint16_t kBasicClass = 60;
constexpr std::size_t kFrameOverhead = 8;

class AmqpSystem final : public System {
  public:
    AmqpSystem(const Options& options, Payload& payload) : options_(options), payload_(payload) {}

    std::string connect() override {
        channel_.reset();
        by_tag_.clear();
        next_tag_ = 1;
        std::string why = "no broker is there";
        for (std::size_t i = 0; i < options_.brokers.size(); ++i) {
            auto channel = Channel::open(options_.brokers[i], kStepNs);
            why = channel ? shake_hands(**channel) : channel.error();
            if (!why.empty()) continue;
            channel_ = std::move(*channel);
            at_ = i;
            return {};
        }
        return why;
    }

    void send(RecordRange range, std::int64_t made_ns) override {
        const auto payload = payload_.of(range.first, made_ns);
        AmqpArguments publish(AmqpMethod::kBasicPublish);
        publish.u16(0).short_text("").short_text(options_.topic).u8(0);
        put_amqp(*channel_, AmqpFrameKind::kMethod, 1, publish.span());
        ByteWriter header;
        header.i16_be(kBasicClass);
        header.i16_be(0);
        header.i64_be(static_cast<std::int64_t>(payload.size()));
        header.i16_be(kPersistentFlag);
        header.u8(kPersistent);
        put_amqp(*channel_, AmqpFrameKind::kHeader, 1, header.span());
        for (std::size_t at = 0; at < payload.size(); at += kFrameBytesMax - kFrameOverhead)
            put_amqp(*channel_, AmqpFrameKind::kBody, 1,
                     payload.subspan(at, std::min<std::size_t>(payload.size() - at, kFrameBytesMax - kFrameOverhead)));
        by_tag_.emplace(next_tag_++, range);
    }

    std::string wait(std::int64_t patience_ns, Outcomes& outcomes) override {
        Channel* channel = channel_.get();
        std::string error = exchange_all(std::span(&channel, 1), patience_ns);
        for (;;) {
            const auto frame = take_amqp(*channel_);
            if (!frame) return frame.error();
            if (!*frame) return error;
            if (std::string refused = on_frame(**frame, outcomes); !refused.empty()) return refused;
        }
    }

    Result<std::size_t, std::string> leader() override { return at_; }

    std::string read_back(const Reader& reader) override {
        const auto declared = declare(*channel_);
        if (!declared) return declared.error();
        AmqpArguments consume(AmqpMethod::kBasicConsume);
        consume.u16(0).short_text(options_.topic).short_text("").u8(kNoAck).table();
        put_amqp(*channel_, AmqpFrameKind::kMethod, 1, consume.span());
        std::uint64_t left = *declared;
        std::string body;
        std::uint64_t size = 0;
        while (left > 0) {
            const auto frame = await_frame(*channel_);
            if (!frame) return frame.error();
            if (frame->kind == AmqpFrameKind::kHeader) {
                ByteReader in(frame->payload);
                in.u32_be();
                size = static_cast<std::uint64_t>(in.i64_be());
                body.clear();
            }
            if (frame->kind != AmqpFrameKind::kBody) continue;
            body += frame->payload.text();
            if (body.size() < size) continue;
            if (const auto stamp = stamp_of(std::as_bytes(std::span(body)))) reader(*stamp, {0, -1});
            --left;
        }
        return {};
    }

  private:
    static Result<AmqpFrame, std::string> await_frame(Channel& channel) {
        for (;;) {
            auto frame = take_amqp(channel);
            if (!frame) return Failure<std::string>(frame.error());
            if (*frame && (*frame)->kind != AmqpFrameKind::kHeartbeat) {
                const bool is_method = (*frame)->kind == AmqpFrameKind::kMethod;
                const AmqpMethod method = is_method ? method_of(**frame) : AmqpMethod{};
                if (method == AmqpMethod::kConnectionClose || method == AmqpMethod::kChannelClose)
                    return Failure<std::string>(closing_text(**frame));
                return std::move(**frame);
            }
            if (*frame) continue;
            if (std::string error = channel.await(kStepNs); !error.empty()) return Failure<std::string>(error);
        }
    }

    /// The arguments of the answer.
    static Result<Bytes, std::string> call(Channel& channel, std::uint16_t number, const AmqpArguments& question,
                                           AmqpMethod answer) {
        put_amqp(channel, AmqpFrameKind::kMethod, number, question.span());
        return await_method(channel, answer);
    }
    static Result<Bytes, std::string> await_method(Channel& channel, AmqpMethod wanted) {
        const auto frame = await_frame(channel);
        if (!frame) return Failure<std::string>(frame.error());
        if (frame->kind != AmqpFrameKind::kMethod || method_of(*frame) != wanted)
            return Failure<std::string>("the broker answers something else");
        return frame->payload.slice(4, frame->payload.size() - 4);
    }

    std::string shake_hands(Channel& channel) {
        channel.put(std::string_view("AMQP\x00\x00\x09\x01", 8));
        auto answer = await_method(channel, AmqpMethod::kConnectionStart);
        if (!answer) return answer.error();
        AmqpArguments start(AmqpMethod::kConnectionStartOk);
        start.table().short_text("PLAIN").long_text(std::string_view("\0guest\0guest", 12)).short_text("en_US");
        answer = call(channel, 0, start, AmqpMethod::kConnectionTune);
        if (!answer) return answer.error();
        AmqpArguments tune(AmqpMethod::kConnectionTuneOk);
        tune.u16(16).u32(kFrameBytesMax).u16(0);  // no heartbeats
        put_amqp(channel, AmqpFrameKind::kMethod, 0, tune.span());
        AmqpArguments open(AmqpMethod::kConnectionOpen);
        open.short_text("/").short_text("").u8(0);
        answer = call(channel, 0, open, AmqpMethod::kConnectionOpenOk);
        if (answer)
            answer =
                call(channel, 1, AmqpArguments(AmqpMethod::kChannelOpen).short_text(""), AmqpMethod::kChannelOpenOk);
        if (!answer) return answer.error();
        const auto declared = declare(channel);
        if (!declared) return declared.error();
        answer = call(channel, 1, AmqpArguments(AmqpMethod::kConfirmSelect).u8(0), AmqpMethod::kConfirmSelectOk);
        return answer ? std::string() : answer.error();
    }

    /// How many messages the queue has.
    Result<std::uint64_t, std::string> declare(Channel& channel) const {
        AmqpArguments question(AmqpMethod::kQueueDeclare);
        question.u16(0).short_text(options_.topic).u8(kDurable).table("x-queue-type", "quorum");
        const auto answer = call(channel, 1, question, AmqpMethod::kQueueDeclareOk);
        if (!answer) return Failure<std::string>(answer.error());
        ByteReader in(*answer);
        in.raw(in.u8());
        return in.u32_be();
    }

    std::string on_frame(const AmqpFrame& frame, Outcomes& outcomes) {
        if (frame.kind != AmqpFrameKind::kMethod) return {};
        const AmqpMethod method = method_of(frame);
        if (method == AmqpMethod::kConnectionClose || method == AmqpMethod::kChannelClose) return closing_text(frame);
        if (method == AmqpMethod::kBasicNack) return "the broker refuses a record";
        if (method != AmqpMethod::kBasicAck) return {};
        ByteReader in(frame.payload);
        in.u32_be();
        const auto tag = static_cast<std::uint64_t>(in.i64_be());
        const bool covers_earlier = in.u8() != 0;
        auto at = covers_earlier ? by_tag_.begin() : by_tag_.find(tag);
        while (at != by_tag_.end() && at->first <= tag) {
            outcomes.on_acknowledged(at->second, {});
            at = by_tag_.erase(at);
        }
        return {};
    }

    const Options& options_;
    Payload& payload_;
    std::unique_ptr<Channel> channel_;
    std::map<std::uint64_t, RecordRange> by_tag_;  // unconfirmed
    std::uint64_t next_tag_ = 1;
    std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<System> make_amqp(const Options& options, Payload& payload) {
    return std::make_unique<AmqpSystem>(options, payload);
}

}  // namespace tidelock::load
