#include "inspector/tui/panes/line_wrap.h"

#include "inspector/tui/terminal/text.h"

#include <algorithm>
#include <string>
#include <utility>

namespace schedscope::tui {
namespace {

/// A character of a line, and which of its parts it belongs to.
struct WrapCell {
    char32_t character;
    size_t part;
};

int cells_of(const Line& line) {
    int cells = 0;
    for (const Text& part : line.parts) {
        cells += text_width(part.text);
    }
    return cells;
}

/// How many of the characters from `at` on stand in `room` cells: up to a space if one lies behind `least` cells.
size_t fitting(const std::vector<WrapCell>& text, size_t at, int room, int least) {
    size_t end = at, space = 0;
    int used = 0;
    for (; end < text.size() && used + char_width(text[end].character) <= room; ++end) {
        if (text[end].character == U' ' && used > least) {
            space = end;
        }
        used += char_width(text[end].character);
    }
    if (end == text.size() || text[end].character == U' ') {
        return end - at;
    }
    return (space > at ? space : std::max(end, at + 1)) - at;
}

void append(Line& line, std::span<const WrapCell> cells, const std::vector<Text>& parts) {
    for (size_t i = 0; i < cells.size();) {
        const size_t part = cells[i].part;
        std::u32string text;
        for (; i < cells.size() && cells[i].part == part; ++i) {
            text += cells[i].character;
        }
        line.parts.push_back({to_utf8(text), parts[part].style});
    }
}

} // namespace

void add_line(std::vector<Line>& lines, Line line, int width) {
    if (cells_of(line) <= width) {
        lines.push_back(std::move(line));
        return;
    }
    std::vector<WrapCell> text;
    for (size_t part = 0; part < line.parts.size(); ++part) {
        for (const char32_t c : printable(line.parts[part].text)) {
            text.push_back({c, part});
        }
    }
    const int hang = std::clamp(line.hang, 0, std::max(width - 8, 0)); // a few cells are left to go on in
    bool first = true;
    for (size_t at = 0; at < text.size();) {
        const int indent = first ? 0 : hang;
        size_t n = fitting(text, at, std::max(width - indent, 1), first ? hang : 0);
        Line piece;
        piece.target = line.target;
        piece.hang = line.hang;
        piece.now = line.now && first;
        if (indent > 0) {
            piece.parts.push_back({std::string(indent, ' ')});
        }
        const size_t next = at + n;
        while (n > 0 && text[at + n - 1].character == U' ') {
            --n;
        }
        append(piece, std::span(text).subspan(at, n), line.parts);
        if (n > 0) {
            lines.push_back(std::move(piece));
            first = false;
        }
        for (at = next; at < text.size() && text[at].character == U' ';) {
            ++at;
        }
    }
}

std::vector<Line> wrapped_lines(std::vector<Line> lines, int width) {
    std::vector<Line> all;
    all.reserve(lines.size());
    for (Line& line : lines) {
        add_line(all, std::move(line), width);
    }
    return all;
}

} // namespace schedscope::tui
