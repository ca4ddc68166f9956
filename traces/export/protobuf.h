#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace schedscope {

/// A protobuf message in its wire format, put together field by field. Fields have numbers, not names; which number means what
/// says the .proto file of the format that is written. Fields that appear again make a list.
class ProtobufMessage {
public:
    /// uint64, int64, uint32, bool and enumerations: seven bits a byte, the lowest first; the top bit says that more follow.
    ProtobufMessage& number(uint32_t field, uint64_t value) {
        varint(field << 3U);
        varint(value);
        return *this;
    }
    ProtobufMessage& fixed64(uint32_t field, uint64_t value) {
        varint(field << 3U | 1U);
        for (int i = 0; i < 8; ++i) {
            bytes_ += static_cast<char>((value >> (8 * i)) & 0xFFU);
        }
        return *this;
    }
    ProtobufMessage& real(uint32_t field, double value) { return fixed64(field, std::bit_cast<uint64_t>(value)); }
    /// Strings, bytes and messages: their length, then what is in them.
    ProtobufMessage& text(uint32_t field, std::string_view value) {
        varint(field << 3U | 2U);
        varint(value.size());
        bytes_ += value;
        return *this;
    }
    ProtobufMessage& message(uint32_t field, const ProtobufMessage& value) { return text(field, value.bytes_); }

    std::string_view bytes() const noexcept { return bytes_; }
    bool empty() const noexcept { return bytes_.empty(); }
    void clear() noexcept { bytes_.clear(); }

private:
    void varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7U) {
            bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
        }
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

} // namespace schedscope
