#include "inspector/tui/panes/line_draw.h"

namespace schedscope::tui {

void put_parts(const Canvas& page, int row, int col, int end, const Line& line, bool reverse) {
    for (const Text& part : line.parts) {
        if (col < end) {
            col = page.put(row, col, part.text, reverse ? in_reverse(part.style) : part.style, end - col);
        }
    }
}

void put_line(const Canvas& page, int row, int col, int width, int end, const Line& line, bool reverse) {
    if (reverse) {
        page.blank(row, col, Style{}.with_reverse(), width);
    }
    page.put(row, col, line.now ? "▸" : " ", bold.with_reverse(reverse), 1);
    put_parts(page, row, col + 1, end, line, reverse);
}

} // namespace schedscope::tui
