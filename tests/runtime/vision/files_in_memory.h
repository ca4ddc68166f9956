#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Image files made in memory, byte by byte by their formats' descriptions.
namespace schedscope::test {

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

inline std::string from_hex(const std::string& hex) {
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

inline std::string big_endian(uint32_t v) {
    return {static_cast<char>(v >> 24U), static_cast<char>(v >> 16U), static_cast<char>(v >> 8U), static_cast<char>(v)};
}
inline std::string little_endian(uint32_t v, int n) {
    std::string s;
    for (int i = 0; i < n; ++i) {
        s += static_cast<char>(v >> (8U * static_cast<unsigned>(i)));
    }
    return s;
}

/// A PNG whose data is stored, not compressed. samples: each row's bytes, `colour` as in the format (0 grey, 2 RGB, 4 grey and
/// alpha, 6 RGBA).
inline std::string png(uint32_t width, uint32_t height, int bits, int colour, const std::vector<std::string>& rows) {
    const auto crc = [](const std::string& s) {
        uint32_t c = 0xFFFFFFFFU;
        for (const char ch : s) {
            c ^= static_cast<uint8_t>(ch);
            for (int k = 0; k < 8; ++k) {
                c = (c & 1U) != 0 ? 0xEDB88320U ^ (c >> 1U) : c >> 1U;
            }
        }
        return c ^ 0xFFFFFFFFU;
    };
    const auto chunk = [&](const std::string& type, const std::string& data) {
        return big_endian(static_cast<uint32_t>(data.size())) + type + data + big_endian(crc(type + data));
    };
    std::string raw;
    for (const std::string& row : rows) {
        raw += '\0' + row; // filter: none
    }
    uint32_t a = 1, b = 0;
    for (const char ch : raw) {
        a = (a + static_cast<uint8_t>(ch)) % 65521;
        b = (b + a) % 65521;
    }
    const auto n = static_cast<uint32_t>(raw.size());
    const std::string zlib = "\x78\x01\x01" + little_endian(n, 2) + little_endian(~n, 2) + raw + big_endian(b << 16U | a);
    const std::string head =
        big_endian(width) + big_endian(height) + static_cast<char>(bits) + static_cast<char>(colour) + std::string(3, '\0');
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("IDAT", zlib) + chunk("IEND", "");
}

/// A BMP of 24 bits: rows from the bottom, blue first, padded to four bytes.
inline std::string bmp(uint32_t width, uint32_t height, const std::vector<std::array<uint8_t, 3>>& rgb) {
    std::string data;
    for (uint32_t y = height; y-- > 0;) {
        for (uint32_t x = 0; x < width; ++x) {
            const auto& p = rgb[y * width + x];
            data += {static_cast<char>(p[2]), static_cast<char>(p[1]), static_cast<char>(p[0])};
        }
        data.resize((data.size() + 3) / 4 * 4);
    }
    return "BM" + little_endian(static_cast<uint32_t>(54 + data.size()), 4) + little_endian(0, 4) + little_endian(54, 4) +
           little_endian(40, 4) + little_endian(width, 4) + little_endian(height, 4) + little_endian(1, 2) +
           little_endian(24, 2) + little_endian(0, 4) + little_endian(static_cast<uint32_t>(data.size()), 4) +
           std::string(16, '\0') + data;
}

} // namespace schedscope::test
