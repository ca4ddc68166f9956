#include "inspector/tui/terminal/text.h"

#include "runtime/numbers.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <cwchar>

namespace schedscope::tui {
namespace {

bool unicode_ = true;

/// Joiners and selectors change how wide their neighbours are drawn, each terminal in its own way: without them all agree.
bool is_invisible(char32_t c) noexcept {
    return (c >= 0x200b && c <= 0x200d) || c == 0x2060 || c == 0xfeff || (c >= 0xfe00 && c <= 0xfe0f);
}

/// Most texts: each byte is a character that is drawn as it is, in one cell.
bool is_plain(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

/// How a character beyond ASCII is spelled without it.
std::u32string_view spelled(char32_t c) noexcept {
    switch (c) {
    case U'→': return U"->";
    case U'←': return U"<-";
    case U'…': return U"...";
    case U'▸': return U">";
    case U'◂': return U"<";
    case U'↓': return U"v";
    case U'↑': return U"^";
    case U'▾': return U"v";
    case U'•': return U"*";
    case U'·': return U"-";
    case U'×': return U"x";
    case U'−': return U"-";
    case U'–': return U"-";
    case U'─': return U"-";
    case U'│': return U"|";
    case U'█': return U"#";
    case U'░': return U".";
    case U'■': return U"#";
    case U'▓': return U"%";
    case U'▒': return U":";
    case U'═': return U"=";
    case U'┄': return U"-";
    case U'▲': return U"^";
    case U'▏': return U"|";
    case U'▕': return U"|";
    case U'▁': return U"_";
    case U'▂': return U"_";
    case U'▃': return U"-";
    case U'▄': return U"-";
    case U'▅': return U"=";
    case U'▆': return U"=";
    case U'▇': return U"#";
    case U'├': return U"|";
    case U'┤': return U"|";
    case U'└': return U"`";
    case U'≥': return U">=";
    case U'≤': return U"<=";
    case U'µ': return U"u";
    default: return U"?";
    }
}

} // namespace

void set_unicode(bool yes) noexcept { unicode_ = yes; }
bool unicode() noexcept { return unicode_; }

int char_width(char32_t c) noexcept {
    if (c < 0x7f) {
        return c >= 0x20 ? 1 : 0;
    }
    const int width = wcwidth(static_cast<wchar_t>(c));
    return width < 0 ? 1 : width;
}

std::u32string printable(std::string_view utf8) {
    if (is_plain(utf8)) {
        return {utf8.begin(), utf8.end()};
    }
    std::u32string out;
    out.reserve(utf8.size());
    while (!utf8.empty()) {
        const char32_t c = take_character(utf8).value_or(U'\xfffd');
        if (is_invisible(c)) {
            continue;
        }
        if (c == '\n') {
            out += unicode_ ? U"↵" : U" ";
        } else if (c == '\t') {
            out += U' ';
        } else if (is_control(c)) {
            out += unicode_ ? U'·' : U'?';
        } else if (c < 0x80) {
            out += c;
        } else if (!unicode_) {
            out += spelled(c);
        } else {
            const int width = wcwidth(static_cast<wchar_t>(c));
            if (width == 0 && out.empty()) {
                out += U'◌'; // a mark that stands alone must not join what is drawn before the text
            }
            out += width < 0 ? U'\xfffd' : c;
        }
    }
    return out;
}

int text_width(std::string_view utf8) {
    if (is_plain(utf8)) {
        return n_of(utf8);
    }
    int width = 0;
    for (const char32_t c : printable(utf8)) {
        width += char_width(c);
    }
    return width;
}

std::u32string fitted(std::string_view utf8, int width) {
    std::u32string text = printable(utf8);
    int used = 0;
    for (const char32_t c : text) {
        used += char_width(c);
    }
    if (used <= width) {
        return text;
    }
    const std::u32string_view mark = unicode_ ? U"…" : U"~";
    while (!text.empty() && used > width - 1) {
        used -= char_width(text.back());
        text.pop_back();
    }
    return width > 0 ? text.append(mark) : text;
}

std::string shortened(std::string_view utf8, int width) {
    for (size_t end = utf8.size(); end != std::string_view::npos; end = utf8.substr(0, end).rfind(" · ")) {
        if (text_width(utf8.substr(0, end)) <= width) {
            return std::string(utf8.substr(0, end));
        }
    }
    return wrapped(utf8, std::max(width - text_width("…"), 1)).front() + "…";
}

std::vector<std::string> wrapped(std::string_view utf8, int width) {
    width = width < 8 ? 8 : width;
    std::vector<std::string> lines;
    std::u32string rest = printable(utf8);
    while (true) {
        int used = 0;
        size_t end = 0, space = std::u32string::npos;
        while (end < rest.size() && used + char_width(rest[end]) <= width) {
            used += char_width(rest[end]);
            if (rest[end] == U' ' && end > 0) {
                space = end;
            }
            ++end;
        }
        if (end == rest.size()) {
            lines.push_back(to_utf8(rest));
            return lines;
        }
        if (rest[end] == U' ') {
            space = end;
        }
        const size_t cut = space == std::u32string::npos ? end : space;
        lines.push_back(to_utf8(std::u32string_view(rest).substr(0, cut)));
        rest.erase(0, cut);
        if (!rest.empty() && rest.front() == U' ') {
            rest.erase(0, 1);
        }
    }
}

std::string padded(std::string text, int width) {
    text.resize(text.size() + std::max(width - text_width(text), 1), ' ');
    return text;
}

std::string time_text(int64_t nanoseconds) { return nanoseconds < 0 ? "-" : words::duration(nanoseconds); }

} // namespace schedscope::tui
