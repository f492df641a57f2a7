#include "protocol/base/bytes.h"

#include <new>
#include <utility>

#include "protocol/base/check.h"

namespace tidelock {

struct Bytes::Loan : Block {
    std::function<void()> give_back;
};

Bytes Bytes::allocate(std::size_t size) {
    Bytes made;
    if (size == 0) return made;
    void* memory = ::operator new(sizeof(Block) + size);
    made.block_ = new (memory) Block{kOwner};
    made.data_ = static_cast<std::byte*>(memory) + sizeof(Block);
    made.size_ = size;
    return made;
}

void Bytes::release() noexcept {
    if (block_ == nullptr) return;
    block_->owners -= kOwner;
    if (block_->owners == kBorrowed) {
        auto* loan = static_cast<Loan*>(block_);
        loan->give_back();
        delete loan;
    } else if (block_->owners == 0) {
        ::operator delete(block_);
    }
    forget();
}

Bytes Bytes::borrow(std::span<const std::byte> content, std::function<void()> give_back) {
    Bytes borrowed;
    borrowed.block_ = new Loan{{kOwner | kBorrowed}, std::move(give_back)};
    borrowed.data_ = content.data();
    borrowed.size_ = content.size();
    return content.empty() ? Bytes() : borrowed;
}

Bytes Bytes::copy_of(std::span<const std::byte> content) {
    return build(content.size(), [&](std::span<std::byte> into) {
        if (!content.empty()) std::memcpy(into.data(), content.data(), content.size());
    });
}

Bytes Bytes::copy_of(std::string_view content) {
    return copy_of(std::as_bytes(std::span(content.data(), content.size())));
}

Bytes Bytes::slice(std::size_t from, std::size_t count) const {
    CHECK(from <= size_);
    CHECK(count <= size_ - from);
    Bytes part(*this);
    part.data_ += from;
    part.size_ = count;
    return part;
}

void ByteWriter::blob(std::span<const std::byte> bytes) {
    u32(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
}

void ByteWriter::varint(std::int64_t v) {
    std::uint64_t zigzag = (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
    while (zigzag >= 0x80) {
        u8(static_cast<std::uint8_t>(zigzag | 0x80));
        zigzag >>= 7;
    }
    u8(static_cast<std::uint8_t>(zigzag));
}

void ByteWriter::patch_u32(std::size_t at, std::uint32_t v) {
    CHECK(at + sizeof v <= out_.size());
    std::memcpy(out_.data() + at, &v, sizeof v);
}

void ByteWriter::patch_u32_be(std::size_t at, std::uint32_t v) {
    CHECK(at + sizeof v <= out_.size());
    for (std::size_t i = 0; i < sizeof v; ++i) out_[at + i] = static_cast<std::byte>((v >> (24 - 8 * i)) & 0xFFU);
}

bool ByteReader::boolean() {
    const std::uint8_t v = u8();
    if (v > 1) failed_ = true;
    return v == 1 && !failed_;
}

std::span<const std::byte> ByteReader::raw(std::size_t count) {
    if (failed_ || bytes_.size() - at_ < count) {
        failed_ = true;
        return {};
    }
    const std::span<const std::byte> part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
}

Bytes ByteReader::blob() {
    const std::uint32_t size = u32();
    const std::size_t from = at_;
    const std::span<const std::byte> part = raw(size);
    if (failed_) return {};
    return source_ != nullptr ? source_->slice(from, size) : Bytes::copy_of(part);
}

std::string ByteReader::string() {
    const std::span<const std::byte> part = raw(u32());
    return {reinterpret_cast<const char*>(part.data()), part.size()};
}

std::int64_t ByteReader::varint() {
    std::uint64_t zigzag = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t part = u8();
        if (failed_) return 0;
        if (shift == 63 && part > 1) break;
        zigzag |= static_cast<std::uint64_t>(part & 0x7FU) << shift;
        if ((part & 0x80U) == 0) return static_cast<std::int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
    }
    failed_ = true;
    return 0;
}

std::uint32_t ByteReader::count(std::size_t element_bytes_min) {
    const std::uint32_t n = u32();
    if (failed_ || n > left() / (element_bytes_min == 0 ? 1 : element_bytes_min)) {
        failed_ = true;
        return 0;
    }
    return n;
}

}  // namespace tidelock
