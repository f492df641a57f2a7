/// Immutable byte strings that are cheap to copy (one owner count, no atomics: the core is single-threaded), and the
/// reader and writer every codec is made of. Copying Bytes shares storage; two Bytes are equal when their content is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace tidelock {

/// A view into shared immutable storage.
class Bytes {
  public:
    Bytes() = default;
    /// Copies `content` into storage of its own.
    static Bytes copy_of(std::span<const std::byte> content);
    static Bytes copy_of(std::string_view content);
    /// Fresh storage of `size` bytes, filled by the caller through `fill` before anybody else can see it.
    template <typename Fill>
    static Bytes build(std::size_t size, Fill&& fill) {
        Bytes made = allocate(size);
        fill(std::span<std::byte>(made.mutable_data(), size));
        return made;
    }

    /// Content that somebody else keeps, unchanged, until `give_back` is called: once, when the last Bytes that shares
    /// it is gone, at once if `content` is empty.
    static Bytes borrow(std::span<const std::byte> content, std::function<void()> give_back);

    Bytes(const Bytes& other) noexcept : block_(other.block_), data_(other.data_), size_(other.size_) { retain(); }
    Bytes(Bytes&& other) noexcept : block_(other.block_), data_(other.data_), size_(other.size_) { other.forget(); }
    Bytes& operator=(Bytes other) noexcept {
        std::swap(block_, other.block_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Bytes() { release(); }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] const std::byte* data() const { return data_; }
    [[nodiscard]] std::span<const std::byte> span() const { return {data_, size_}; }
    [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
    /// The part [from, from + count) of this, sharing storage. The range must lie inside.
    [[nodiscard]] Bytes slice(std::size_t from, std::size_t count) const;

    bool operator==(const Bytes& other) const {
        return size_ == other.size_ && (size_ == 0 || std::memcmp(data_, other.data_, size_) == 0);
    }

  private:
    struct Block {
        std::size_t owners;  // twice their number, and one more where the content is borrowed
    };
    struct Loan;
    static constexpr std::size_t kOwner = 2;
    static constexpr std::size_t kBorrowed = 1;

    static Bytes allocate(std::size_t size);
    std::byte* mutable_data() { return const_cast<std::byte*>(data_); }
    void retain() noexcept {
        if (block_ != nullptr) block_->owners += kOwner;
    }
    void release() noexcept;
    void forget() noexcept {
        block_ = nullptr;
        data_ = nullptr;
        size_ = 0;
    }

    Block* block_ = nullptr;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Appends fixed-width numbers (little endian unless named `_be`) and length-prefixed strings to a growing buffer.
class ByteWriter {
  public:
    void reserve(std::size_t size) { out_.reserve(size); }
    void u8(std::uint8_t v) { put(v); }
    void u16(std::uint16_t v) { put(v); }
    void u32(std::uint32_t v) { put(v); }
    void u64(std::uint64_t v) { put(v); }
    void i32(std::int32_t v) { put(static_cast<std::uint32_t>(v)); }
    void i64(std::int64_t v) { put(static_cast<std::uint64_t>(v)); }
    void boolean(bool v) { put(static_cast<std::uint8_t>(v ? 1 : 0)); }
    void i16_be(std::int16_t v) { put_be(static_cast<std::uint16_t>(v)); }
    void u32_be(std::uint32_t v) { put_be(v); }
    void i32_be(std::int32_t v) { put_be(static_cast<std::uint32_t>(v)); }
    void i64_be(std::int64_t v) { put_be(static_cast<std::uint64_t>(v)); }
    /// The bytes alone, without a length.
    void raw(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
    /// u32 length, then the bytes.
    void blob(std::span<const std::byte> bytes);
    void string(std::string_view text) { blob(std::as_bytes(std::span(text.data(), text.size()))); }
    /// LEB128 of the zigzag form, as in Kafka records.
    void varint(std::int64_t v);
    /// Overwrites four bytes at `at`, little or big endian.
    void patch_u32(std::size_t at, std::uint32_t v);
    void patch_u32_be(std::size_t at, std::uint32_t v);

    [[nodiscard]] std::size_t size() const { return out_.size(); }
    [[nodiscard]] std::span<const std::byte> span() const { return out_; }
    [[nodiscard]] Bytes take() const { return Bytes::copy_of(out_); }
    void clear() { out_.clear(); }

  private:
    template <typename Int>
    void put(Int v) {
        const std::size_t at = out_.size();
        out_.resize(at + sizeof v);
        std::memcpy(out_.data() + at, &v, sizeof v);
    }
    template <typename Int>
    void put_be(Int v) {
        for (int shift = static_cast<int>(sizeof v) * 8 - 8; shift >= 0; shift -= 8)
            out_.push_back(static_cast<std::byte>((v >> shift) & 0xFFU));
    }

    std::vector<std::byte> out_;
};

/// Reads what ByteWriter wrote, from any bytes: running past the end sets `failed()` and yields zeros, so a decoder
/// reads all its fields and asks once at the end. Counts are checked against what is left before anything is allocated.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    /// Blobs read through this constructor share storage with `source` instead of copying.
    explicit ByteReader(const Bytes& source) : bytes_(source.span()), source_(&source) {}

    std::uint8_t u8() { return get<std::uint8_t>(); }
    std::uint16_t u16() { return get<std::uint16_t>(); }
    std::uint32_t u32() { return get<std::uint32_t>(); }
    std::uint64_t u64() { return get<std::uint64_t>(); }
    std::int32_t i32() { return static_cast<std::int32_t>(get<std::uint32_t>()); }
    std::int64_t i64() { return static_cast<std::int64_t>(get<std::uint64_t>()); }
    /// Anything but 0 or 1 fails.
    bool boolean();
    std::int16_t i16_be() { return static_cast<std::int16_t>(get_be<std::uint16_t>()); }
    std::uint32_t u32_be() { return get_be<std::uint32_t>(); }
    std::int32_t i32_be() { return static_cast<std::int32_t>(get_be<std::uint32_t>()); }
    std::int64_t i64_be() { return static_cast<std::int64_t>(get_be<std::uint64_t>()); }
    std::span<const std::byte> raw(std::size_t count);
    Bytes blob();
    std::string string();
    std::int64_t varint();
    /// A u32 element count; fails if fewer than `count * element_bytes_min` bytes are left.
    std::uint32_t count(std::size_t element_bytes_min);

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool at_end() const { return !failed_ && at_ == bytes_.size(); }
    [[nodiscard]] std::size_t position() const { return at_; }
    [[nodiscard]] std::size_t left() const { return failed_ ? 0 : bytes_.size() - at_; }
    void fail() { failed_ = true; }

  private:
    template <typename Int>
    Int get() {
        Int v{};
        if (failed_ || bytes_.size() - at_ < sizeof v) {
            failed_ = true;
            return Int{};
        }
        std::memcpy(&v, bytes_.data() + at_, sizeof v);
        at_ += sizeof v;
        return v;
    }
    template <typename Int>
    Int get_be() {
        if (failed_ || bytes_.size() - at_ < sizeof(Int)) {
            failed_ = true;
            return Int{};
        }
        Int v = 0;
        for (std::size_t i = 0; i < sizeof(Int); ++i)
            v = static_cast<Int>(static_cast<Int>(v << 8) | static_cast<Int>(bytes_[at_ + i]));
        at_ += sizeof(Int);
        return v;
    }

    std::span<const std::byte> bytes_;
    const Bytes* source_ = nullptr;
    std::size_t at_ = 0;
    bool failed_ = false;
};

}  // namespace tidelock
