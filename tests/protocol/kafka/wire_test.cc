// The primitives: what each looks like, and that no length is believed.
#include <catch2/catch.hpp>

#include <limits>

#include "protocol/kafka/api.h"
#include "protocol/kafka/error_code.h"
#include "tests/law.h"
#include "tests/protocol/kafka/hex.h"

namespace tidelock::kafka {
namespace {

constexpr LengthForm kForms[] = {LengthForm::kClassic, LengthForm::kCompact};

/// What the writer makes of it, without the frame size.
template <typename Write>
std::string written(const Write& write) {
    WireWriter out;
    write(out);
    return hex_of(out.to_frame().content());
}

/// The fault that reading `hex` ends in.
template <typename Read>
WireFault fault_of(const std::string& hex, const Read& read) {
    const Bytes source = bytes_of(hex);
    WireReader in(source);
    static_cast<void>(read(in));
    return in.fault();
}

}  // namespace

TEST_CASE("numbers are big-endian") {
    REQUIRE(written([](WireWriter& out) {
                out.i8(-2);
                out.i16(0x0102);
                out.i32(-2);
                out.i64(0x0102030405060708);
                out.u32(0xFFFFFFFE);
                out.boolean(true);
            }) == "fe 0102 fffffffe 0102030405060708 fffffffe 01"_hex);
}

TEST_CASE("numbers are read as they were written") {
    check_law([](std::int8_t a, std::int16_t b, std::int32_t c, std::int64_t d, std::uint32_t e, bool f) {
        WireWriter out;
        out.i8(a);
        out.i16(b);
        out.i32(c);
        out.i64(d);
        out.u32(e);
        out.boolean(f);
        out.uvarint(e);
        const Bytes content = out.to_frame().content();
        WireReader in(content);
        RC_ASSERT(in.i8() == a);
        RC_ASSERT(in.i16() == b);
        RC_ASSERT(in.i32() == c);
        RC_ASSERT(in.i64() == d);
        RC_ASSERT(in.u32() == e);
        RC_ASSERT(in.boolean() == f);
        RC_ASSERT(in.uvarint() == e);
        RC_ASSERT(in.left() == 0U);
        RC_ASSERT_FALSE(in.failed());
    });
}

TEST_CASE("a varint has at most 32 bits") {
    const auto read = [](WireReader& in) { return in.uvarint(); };
    REQUIRE(written([](WireWriter& out) {
                out.uvarint(0);
                out.uvarint(127);
                out.uvarint(128);
                out.uvarint(300);
                out.uvarint(std::numeric_limits<std::uint32_t>::max());
            }) == "00 7f 8001 ac02 ffffffff0f"_hex);
    REQUIRE(fault_of("ffffffff0f", read) == WireFault::kNone);
    REQUIRE(fault_of("ffffffff1f", read) == WireFault::kVarintTooLong);
    REQUIRE(fault_of("808080808001", read) == WireFault::kVarintTooLong);
    REQUIRE(fault_of("8080", read) == WireFault::kTruncated);
}

TEST_CASE("strings, bytes and arrays have a classic and a compact form, each with its null") {
    const Bytes word = Bytes::copy_of("ab");
    const auto all = [&](LengthForm form) {
        return written([&](WireWriter& out) {
            out.string(form, "ab");
            out.null_string(form);
            out.bytes(form, word);
            out.count(form, 3);
            out.null(form);
        });
    };
    REQUIRE(all(LengthForm::kClassic) == "0002 6162 ffff 00000002 6162 00000003 ffffffff"_hex);
    REQUIRE(all(LengthForm::kCompact) == "03 6162 00 03 6162 04 00"_hex);
}

TEST_CASE("a length beyond the bytes left is refused before anything is allocated") {
    for (const LengthForm form : kForms) {
        const bool is_classic = form == LengthForm::kClassic;
        const auto string = [=](WireReader& in) { return in.string(form); };
        const auto bytes = [=](WireReader& in) { return in.bytes(form); };
        const auto array = [=](WireReader& in) { return in.count(form, 2); };
        REQUIRE(fault_of(is_classic ? "7fff" : "808002", string) == WireFault::kTruncated);
        REQUIRE(fault_of(is_classic ? "7fffffff" : "ffffffff0f", bytes) == WireFault::kTruncated);
        REQUIRE(fault_of(is_classic ? "7fffffff" : "ffffffff0f", array) == WireFault::kCountTooLarge);
        REQUIRE(fault_of(is_classic ? "00000002 00000000" : "03 00000000", array) == WireFault::kNone);
        REQUIRE(fault_of(is_classic ? "00000003 0000000000" : "04 0000000000", array) == WireFault::kCountTooLarge);
    }
}

TEST_CASE("lengths that no writer makes are refused") {
    REQUIRE(fault_of("fffe", [](WireReader& in) { return in.string(LengthForm::kClassic); }) ==
            WireFault::kLengthBelowNull);
    REQUIRE(fault_of("80000000", [](WireReader& in) { return in.bytes(LengthForm::kClassic); }) ==
            WireFault::kLengthBelowNull);
    REQUIRE(fault_of("fffffffe", [](WireReader& in) { return in.count(LengthForm::kClassic, 1); }) ==
            WireFault::kLengthBelowNull);
    // One more than the longest string, with all its bytes there.
    REQUIRE(fault_of("818002" + std::string(2 * (kStringBytesMax + 1), '0'),
                     [](WireReader& in) { return in.string(LengthForm::kCompact); }) == WireFault::kStringTooLong);
}

TEST_CASE("the first fault sticks and all that follows is nothing") {
    const Bytes source = bytes_of("ffff 0001 61");
    WireReader in(source);
    REQUIRE_FALSE(in.string(LengthForm::kClassic).has_value());
    REQUIRE_FALSE(in.failed());  // null is a value
    in.fail(WireFault::kNullForbidden);
    REQUIRE_FALSE(in.string(LengthForm::kClassic).has_value());
    REQUIRE(in.i64() == 0);
    REQUIRE(in.left() == 0);
    REQUIRE(in.fault() == WireFault::kNullForbidden);
}

TEST_CASE("large bytes are shared with the frame, in both directions") {
    const Bytes records = Bytes::copy_of(std::string(5000, 'r'));
    WireWriter out;
    out.i32(1);
    out.bytes(LengthForm::kClassic, records);
    out.bytes(LengthForm::kClassic, Bytes::copy_of("small"));
    const Frame frame = out.to_frame();
    REQUIRE(frame.parts.size() == 3);
    REQUIRE(frame.parts[1].data() == records.data());
    REQUIRE(frame.size() == 4 + 4 + 4 + 5000 + 4 + 5);

    const Bytes content = frame.content();
    WireReader in(content);
    REQUIRE(in.i32() == 1);
    const std::optional<Bytes> read = in.bytes(LengthForm::kClassic);
    REQUIRE(*read == records);
    REQUIRE(read->data() == content.data() + 8);
}

TEST_CASE("a frame begins with the size of the rest") {
    WireWriter out;
    out.i32(7);
    REQUIRE(hex_of(out.to_frame().flat()) == "00000004 00000007"_hex);
    const auto size = [](const std::string& hex, std::size_t bytes_max) {
        return frame_size(bytes_of(hex).span().first<kFrameSizeBytes>(), bytes_max);
    };
    REQUIRE(size("00000064", 100) == 100);
    REQUIRE_FALSE(size("00000065", 100).has_value());
    REQUIRE_FALSE(size("ffffffff", 100).has_value());
    // What a browser or a TLS client sends first.
    REQUIRE_FALSE(size("47455420", 100 << 20).has_value());
}

TEST_CASE("a topic life has one id for clients, and other ids name none") {
    check_law([](std::uint64_t life) {
        const std::optional<TopicId> again = topic_id_of(uuid_of(TopicId(life)));
        RC_ASSERT(again == (life == 0 ? std::nullopt : std::optional(TopicId(life))));
    });
    REQUIRE(uuid_of(TopicId()) == Uuid());
    Uuid foreign = uuid_of(TopicId(1));
    foreign.bytes[0] = 0;
    REQUIRE_FALSE(topic_id_of(foreign).has_value());
}

TEST_CASE("the table of APIs is in order and its versions make sense") {
    for (std::size_t i = 0; i < kApis.size(); ++i) {
        const Api& api = kApis[i];
        INFO(api.name);
        if (i > 0) REQUIRE(kApis[i - 1].key < api.key);
        REQUIRE(find_api(static_cast<std::int16_t>(api.key)) == &api);
        REQUIRE(0 <= api.advertised_first);
        REQUIRE(api.advertised_first <= api.first);
        REQUIRE(api.first <= api.last);
        REQUIRE(api.flexible_from <= api.last);
        REQUIRE(response_header_version(api, api.last) == (api.key == ApiKey::kApiVersions ? 0 : 1));
        REQUIRE(request_header_version(api, api.last) == 2);
    }
    REQUIRE(find_api(4) == nullptr);
    REQUIRE(find_api(-1) == nullptr);
}

TEST_CASE("error codes have the numbers and names of the protocol") {
    REQUIRE(name_of(ErrorCode::kNone) == "NONE");
    REQUIRE(name_of(static_cast<ErrorCode>(6)) == "NOT_LEADER_OR_FOLLOWER");
    REQUIRE(name_of(static_cast<ErrorCode>(45)) == "OUT_OF_ORDER_SEQUENCE_NUMBER");
    REQUIRE(name_of(static_cast<ErrorCode>(79)) == "MEMBER_ID_REQUIRED");
    REQUIRE(name_of(static_cast<ErrorCode>(-1)) == "UNKNOWN_SERVER_ERROR");
    REQUIRE(name_of(static_cast<ErrorCode>(999)) == "ERROR_999");
    REQUIRE(is_retriable(ErrorCode::kNotLeaderOrFollower));
    REQUIRE_FALSE(is_retriable(ErrorCode::kInvalidRequiredAcks));
    REQUIRE_FALSE(is_retriable(static_cast<ErrorCode>(999)));
}

}  // namespace tidelock::kafka
