#include "inspector/tui/terminal/text.h"

#include "runtime/numbers.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/layer_in_name.h"

#include <algorithm>
#include <cwchar>
#include <numeric>
#include <optional>

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
    // NOLINTBEGIN(bugprone-branch-clone): a table
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
    // NOLINTEND(bugprone-branch-clone)
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

namespace {

/// A name without what says only of which sort it is: ".weight", " (view)".
std::string_view without_sort(std::string_view name) {
    const std::string_view whole = name;
    for (size_t open = 0; name.ends_with(')') && (open = name.rfind(" (")) != std::string_view::npos;) {
        name = name.substr(0, open);
    }
    for (const std::string_view end : {".weight", ".bias"}) {
        if (name.size() == whole.size() && name.ends_with(end)) {
            name.remove_suffix(end.size());
        }
    }
    return name.empty() ? whole : name;
}

} // namespace

namespace {

/// "norm-0 … ffn_out-3": what is cut goes around the mark that is there.
std::string shortened_range(std::string_view first, std::string_view last, int width) {
    std::u32string head = printable(first), tail = printable(last);
    const auto size = [](const std::u32string& text) { return text_width(to_utf8(text)); };
    while (size(head) + 1 + size(tail) > std::max(width, 1)) {
        if (head.size() > tail.size()) {
            head.pop_back();
        } else {
            tail.erase(tail.begin());
        }
    }
    return width > 0 ? to_utf8(head + (unicode_ ? U"…" : U"~") + tail) : std::string();
}

} // namespace

std::string shortened_name(std::string_view utf8, int width) {
    constexpr int least_end = 4; // cells of the end that stay
    if (text_width(utf8) <= width) {
        return std::string(utf8);
    }
    constexpr std::string_view range = " … ";
    if (const size_t at = utf8.find(range); at != std::string_view::npos) {
        return shortened_range(utf8.substr(0, at), utf8.substr(at + range.size()), width);
    }
    if (const std::string_view stem = without_sort(utf8); stem.size() < utf8.size() && is_plain(utf8) && width > least_end) {
        const bool differs_at_end = utf8.ends_with(')') && n_of(stem) + 1 + least_end <= width; // of several views of one
        if (!differs_at_end) {
            return n_of(stem) == width  ? std::string(stem) // the mark would take its last letter
                   : n_of(stem) < width ? to_utf8(fitted(utf8, width))
                                        : shortened_name(stem, width);
        }
    }
    const std::u32string text = printable(utf8);
    const int room = std::max(width - 1, 0); // one is the mark's
    const std::optional<LayerInName> layer = is_plain(utf8) ? layer_in_name(utf8) : std::nullopt;
    int begin = layer && int_of(layer->behind) + least_end <= room ? int_of(layer->behind) : (room + 1) / 2;
    std::u32string head, tail;
    for (const char32_t c : text) {
        if ((begin -= char_width(c)) < 0) {
            break;
        }
        head += c;
    }
    int left = room - text_width(to_utf8(head));
    for (size_t i = text.size(); i-- > head.size() && (left -= char_width(text[i])) >= 0;) {
        tail.insert(tail.begin(), text[i]);
    }
    return width > 0 ? to_utf8(head + (unicode_ ? U"…" : U"~") + tail) : std::string();
}

std::string shortened_names(std::string_view utf8, int width) {
    constexpr std::string_view joint = " + ";
    constexpr int least = 5; // cells that say something of a name
    if (text_width(utf8) <= width || utf8.find(joint) == std::string_view::npos) {
        return shortened_name(utf8, width);
    }
    std::vector<std::string_view> names;
    for (size_t at = 0; at != std::string_view::npos;) {
        const size_t end = utf8.find(joint, at);
        const std::string_view name = utf8.substr(at, end - at);
        const size_t id = name.rfind('@'); // the first to go: "norm-3@187"
        names.push_back(
            name.substr(0, name.find_first_not_of("0123456789", id + 1) == std::string_view::npos ? id : name.size()));
        at = end == std::string_view::npos ? end : end + joint.size();
    }
    size_t n = names.size(); // that are shown; what others there are is counted
    const auto rest = [&] { return n < names.size() ? " +" + std::to_string(names.size() - n) : std::string(); };
    const auto room = [&] { return width - n_of(joint) * (int_of(n) - 1) - text_width(rest()); };
    while (n > 1 && room() < least * int_of(n)) {
        --n;
    }
    if (room() < 1) {
        return shortened_name(utf8, width);
    }
    std::vector<int> wanted;
    for (size_t i = 0; i < n; ++i) {
        wanted.push_back(text_width(names[i]));
    }
    // The longest give way until all have room.
    for (int left = room(); std::accumulate(wanted.begin(), wanted.end(), 0) > left;) {
        --*std::max_element(wanted.begin(), wanted.end());
    }
    std::string text;
    for (size_t i = 0; i < n; ++i) {
        text += std::string(i > 0 ? joint : "") + shortened_name(names[i], wanted[i]);
    }
    return text + rest();
}

std::pair<std::string, std::string> shortened_pair(std::string_view a, std::string_view b, int width) {
    const std::string mark = unicode_ ? "…" : "~";
    const auto fits = [&](size_t from) {
        const int room = width - (from > 0 ? text_width(mark) : 0);
        return text_width(a.substr(from)) <= room && text_width(b.substr(from)) <= room;
    };
    const size_t same = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    const auto begins_character = [&](size_t at) { return at >= a.size() || (a[at] & 0xC0) != 0x80; };
    size_t from = 0;
    for (size_t next = 1; !fits(from) && next <= same; ++next) {
        from = begins_character(next) ? next : from;
    }
    const auto shown = [&](std::string_view text) {
        return from == 0 ? std::string(text) : mark + std::string(text.substr(from));
    };
    return {shortened_name(shown(a), width), shortened_name(shown(b), width)};
}

std::string shortened(std::string_view utf8, int width) {
    for (size_t end = utf8.size(); end != std::string_view::npos; end = utf8.substr(0, end).rfind(" · ")) {
        if (text_width(utf8.substr(0, end)) <= width) {
            return std::string(utf8.substr(0, end));
        }
    }
    return wrapped(utf8, std::max(width - text_width("…"), 1)).front() + "…";
}

size_t line_end(std::u32string_view text, int room, int least) {
    constexpr std::u32string_view seams = U"._-#";
    size_t end = 0, space = 0, seam = 0;
    for (int used = 0; end < text.size() && used + char_width(text[end]) <= room; ++end) {
        if (used > least && text[end] == U' ') {
            space = end;
        } else if (used > least && seams.find(text[end]) != seams.npos) {
            seam = end + 1;
        }
        used += char_width(text[end]);
    }
    return end == text.size() || text[end] == U' ' ? end : space > 0 ? space : seam > 0 ? seam : std::max<size_t>(end, 1);
}

std::vector<std::string> wrapped(std::string_view utf8, int width) {
    std::vector<std::string> lines;
    std::u32string rest = printable(utf8);
    while (true) {
        const size_t end = line_end(rest, std::max(width, 8));
        lines.push_back(to_utf8(std::u32string_view(rest).substr(0, end)));
        if (end == rest.size()) {
            return lines;
        }
        rest.erase(0, end + (rest[end] == U' ' ? 1 : 0));
    }
}

std::string padded(std::string text, int width) {
    text.resize(text.size() + std::max(width - text_width(text), 1), ' ');
    return text;
}

std::string time_text(int64_t nanoseconds) { return nanoseconds < 0 ? "-" : words::duration(nanoseconds); }

} // namespace schedscope::tui
