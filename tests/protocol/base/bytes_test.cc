// Bytes, reader and writer: what is written is read back, and any bytes at all give a value or a failure.
#include <catch2/catch.hpp>

#include "protocol/base/bytes.h"
#include "protocol/base/crc32c.h"
#include "tests/law.h"

namespace tidelock {

TEST_CASE("crc32c matches the published check value, by instruction and by table") {
    const Bytes digits = Bytes::copy_of("123456789");
    CHECK(crc32c(digits.span()) == 0xE3069283U);
    CHECK(crc32c_extend_portable(0, digits.span()) == 0xE3069283U);
}

TEST_CASE("crc32c by instruction equals crc32c by table, in one piece and in two") {
    check_law([](const std::vector<std::uint8_t>& content) {
        const auto all = std::as_bytes(std::span(content));
        const std::size_t half = content.size() / 2;
        RC_ASSERT(crc32c(all) == crc32c_extend_portable(0, all));
        RC_ASSERT(crc32c_extend(crc32c(all.first(half)), all.subspan(half)) == crc32c(all));
    });
}

TEST_CASE("a varint survives the round trip") {
    check_law([](std::int64_t number) {
        ByteWriter out;
        out.varint(number);
        ByteReader in(out.span());
        RC_ASSERT(in.varint() == number);
        RC_ASSERT(in.at_end());
    });
}

TEST_CASE("reading past the end fails and yields zeros") {
    const Bytes three = Bytes::copy_of("abc");
    ByteReader in(three);
    CHECK(in.u32() == 0);
    CHECK(in.failed());
    CHECK(in.u8() == 0);
    CHECK_FALSE(in.at_end());
}

TEST_CASE("a count is refused before anything is allocated for it") {
    ByteWriter out;
    out.u32(0xFFFFFFFFU);
    ByteReader in(out.span());
    CHECK(in.count(1) == 0);
    CHECK(in.failed());
}

TEST_CASE("a slice shares storage and outlives the whole") {
    Bytes part;
    {
        const Bytes whole = Bytes::copy_of("hello world");
        part = whole.slice(6, 5);
        CHECK(part.data() == whole.data() + 6);
    }
    CHECK(part.text() == "world");
}

TEST_CASE("what is borrowed is given back once, when the last part of it is gone") {
    const std::string lender = "hello world";
    int given_back = 0;
    Bytes part;
    {
        const Bytes whole = Bytes::borrow(std::as_bytes(std::span(lender)), [&] { ++given_back; });
        CHECK(static_cast<const void*>(whole.data()) == lender.data());
        part = whole.slice(6, 5);
        const Bytes copy = part;
    }
    CHECK(given_back == 0);
    CHECK(part.text() == "world");
    part = Bytes();
    CHECK(given_back == 1);
    CHECK(Bytes::borrow({}, [&] { ++given_back; }).empty());
    CHECK(given_back == 2);
}

}  // namespace tidelock
