#include "inspector/tui/terminal/clipboard.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace schedscope::tui {
namespace {

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t at = 0; at < bytes.size(); at += 3) {
        const size_t n = std::min<size_t>(bytes.size() - at, 3);
        uint32_t three = 0;
        for (size_t i = 0; i < 3; ++i) {
            three = three << 8 | (i < n ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        }
        for (size_t i = 0; i < 4; ++i) {
            text += i <= n ? digits[three >> (18 - 6 * i) & 63] : '=';
        }
    }
    return text;
}

} // namespace

Wrapping wrapping_of_environment() {
    const auto set = [](const char* name) {
        const char* const value = std::getenv(name);
        return value && *value;
    };
    return set("TMUX") ? Wrapping::tmux : set("STY") ? Wrapping::screen : Wrapping::none;
}

std::string clipboard_sequence(std::string_view text, Wrapping wrapping) {
    const std::string plain = "\x1b]52;c;" + base64(text) + "\x07";
    switch (wrapping) {
    case Wrapping::none: return plain;
    case Wrapping::tmux: {
        // To tmux itself (set-clipboard on), and through it (allow-passthrough on): whichever it is told to do.
        std::string doubled;
        for (const char c : plain) {
            doubled.append(c == '\x1b' ? 2 : 1, c);
        }
        return plain + "\x1bPtmux;" + doubled + "\x1b\\";
    }
    case Wrapping::screen: { // which passes on short pieces
        constexpr size_t piece = 240;
        std::string wrapped;
        for (size_t at = 0; at < plain.size(); at += piece) {
            wrapped += "\x1bP" + plain.substr(at, piece) + "\x1b\\";
        }
        return wrapped;
    }
    }
    return plain;
}

} // namespace schedscope::tui
