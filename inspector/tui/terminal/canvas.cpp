#include "inspector/tui/terminal/canvas.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <string>

#include <curses.h>

namespace schedscope::tui {
namespace {

struct BoxLines {
    char32_t horizontal, vertical, top_left, top_right, bottom_left, bottom_right, left, right, down, up, cross;
};
constexpr BoxLines drawn{U'─', U'│', U'┌', U'┐', U'└', U'┘', U'├', U'┤', U'┬', U'┴', U'┼'};
constexpr BoxLines typed{U'-', U'|', U'+', U'+', U'+', U'+', U'+', U'+', U'+', U'+', U'+'};

const BoxLines& lines() noexcept { return unicode() ? drawn : typed; }

} // namespace

int Canvas::put(int row, int col, std::string_view text, Style style, int width) const {
    if (row < 0 || row >= area_.height || col < 0 || col >= area_.width) {
        return col;
    }
    const int room = width < 0 ? area_.width - col : std::min(width, area_.width - col);
    if (room <= 0) {
        return col;
    }
    auto* const window = static_cast<WINDOW*>(window_);
    const std::u32string shown = fitted(text, room);
    std::wstring wide(shown.begin(), shown.end());
    int used = 0;
    for (const char32_t c : shown) {
        used += char_width(c);
    }
    set_style(window, style);
    mvwaddnwstr(window, area_.row + row, area_.col + col, wide.c_str(), n_of(wide));
    return col + used;
}

void Canvas::put_right(int row, int col, std::string_view text, Style style, int width) const {
    const int used = text_width(text);
    put(row, col + std::max(width - used, 0), text, style, std::min(width, used));
}

void Canvas::blank(int row, int col, Style style, int width) const {
    if (row < 0 || row >= area_.height || col < 0 || col >= area_.width) {
        return;
    }
    const int room = width < 0 ? area_.width - col : std::min(width, area_.width - col);
    if (room > 0) {
        put(row, col, std::string(room, ' '), style);
    }
}

void Canvas::put_char(int row, int col, char32_t c, Style style) const {
    if (row < 0 || row >= area_.height || col < 0 || col >= area_.width) {
        return;
    }
    auto* const window = static_cast<WINDOW*>(window_);
    const wchar_t text[2]{static_cast<wchar_t>(c), 0};
    set_style(window, style);
    // Writing the last cell of a window reports an error although it is written.
    mvwaddnwstr(window, area_.row + row, area_.col + col, text, 1);
}

void Canvas::frame(Style style) const {
    const int bottom = area_.height - 1, right = area_.width - 1;
    for (int col = 1; col < right; ++col) {
        put_char(0, col, lines().horizontal, style);
        put_char(bottom, col, lines().horizontal, style);
    }
    vertical(0, 1, bottom, style);
    vertical(right, 1, bottom, style);
    put_char(0, 0, lines().top_left, style);
    put_char(0, right, lines().top_right, style);
    put_char(bottom, 0, lines().bottom_left, style);
    put_char(bottom, right, lines().bottom_right, style);
}

void Canvas::divider(int row, int cross, bool up, bool down, Style style) const {
    put_char(row, 0, lines().left, style);
    for (int col = 1; col < area_.width - 1; ++col) {
        put_char(row, col, lines().horizontal, style);
    }
    put_char(row, area_.width - 1, lines().right, style);
    if (cross >= 0) {
        put_char(row, cross, up && down ? lines().cross : up ? lines().up : lines().down, style);
    }
}

void Canvas::vertical(int col, int first_row, int end_row, Style style) const {
    for (int row = first_row; row < end_row; ++row) {
        put_char(row, col, lines().vertical, style);
    }
}

} // namespace schedscope::tui
