#pragma once

#include "inspector/tui/terminal/style.h"

#include <string_view>

namespace schedscope::tui {

/// A place on the screen, in cells.
struct Rect {
    int row = 0, col = 0, height = 0, width = 0;

    bool contains(int r, int c) const noexcept { return r >= row && r < row + height && c >= col && c < col + width; }
};

/// A rectangle of a window to draw on. Positions are relative to it; what does not fit is cut. Draws into memory: the terminal
/// shows it at the next update.
class Canvas {
public:
    /// `window`: a curses WINDOW.
    Canvas(void* window, Rect area) noexcept : window_(window), area_(area) {}

    int height() const noexcept { return area_.height; }
    int width() const noexcept { return area_.width; }
    const Rect& area() const noexcept { return area_; }

    /// Draws at most `width` columns (default: to the right edge), longer text with an ellipsis. Returns the column behind it.
    int put(int row, int col, std::string_view text, Style style = {}, int width = -1) const;
    /// The same, pushed to the right end of `width` columns.
    void put_right(int row, int col, std::string_view text, Style style, int width) const;
    /// Blanks from `col` on, `width` of them (default: to the right edge).
    void blank(int row, int col, Style style, int width = -1) const;
    /// A border around the whole, ASCII where need be.
    void frame(Style style = {}) const;
    /// A line from left to right border; `cross`: column where a vertical line meets it, −1 none; up, down: on which side it goes
    /// on.
    void divider(int row, int cross, bool up, bool down, Style style = {}) const;
    void vertical(int col, int first_row, int end_row, Style style = {}) const;

private:
    void put_char(int row, int col, char32_t c, Style style) const;

    void* window_;
    Rect area_;
};

} // namespace schedscope::tui
