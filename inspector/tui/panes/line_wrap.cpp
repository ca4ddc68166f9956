#include "inspector/tui/panes/line_wrap.h"

#include "inspector/tui/terminal/text.h"

#include <algorithm>
#include <string>
#include <utility>

namespace schedscope::tui {
namespace {

int cells_of(const Line& line) {
    int cells = 0;
    for (const Text& part : line.parts) {
        cells += text_width(part.text);
    }
    return cells;
}

/// `part_of`: of each character, the part that it belongs to.
void append(Line& line, std::u32string_view text, std::span<const size_t> part_of, const std::vector<Text>& parts) {
    for (size_t i = 0; i < text.size();) {
        const size_t part = part_of[i], begin = i;
        while (i < text.size() && part_of[i] == part) {
            ++i;
        }
        line.parts.push_back({to_utf8(text.substr(begin, i - begin)), parts[part].style});
    }
}

} // namespace

void add_line(std::vector<Line>& lines, Line line, int width) {
    if (cells_of(line) <= width) {
        lines.push_back(std::move(line));
        return;
    }
    std::u32string text;
    std::vector<size_t> part_of;
    for (size_t part = 0; part < line.parts.size(); ++part) {
        text += printable(line.parts[part].text);
        part_of.resize(text.size(), part);
    }
    const int hang = std::clamp(line.hang, 0, std::max(width - 8, 0)); // a few cells are left to go on in
    bool first = true;
    for (size_t at = 0; at < text.size();) {
        const int indent = first ? 0 : hang;
        size_t n = line_end(std::u32string_view(text).substr(at), std::max(width - indent, 1), first ? hang : 0);
        Line piece;
        piece.target = line.target;
        piece.hang = line.hang;
        piece.now = line.now && first;
        if (indent > 0) {
            piece.parts.push_back({std::string(indent, ' ')});
        }
        const size_t next = at + n;
        while (n > 0 && text[at + n - 1] == U' ') {
            --n;
        }
        append(piece, std::u32string_view(text).substr(at, n), std::span(part_of).subspan(at, n), line.parts);
        if (n > 0) {
            lines.push_back(std::move(piece));
            first = false;
        }
        for (at = next; at < text.size() && text[at] == U' ';) {
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
