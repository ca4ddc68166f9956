#include "inspector/tui/views/drawings/drawing.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope::tui {

int DrawnRows::at(int line, int column) const noexcept {
    if (!is_index(line, cells_)) {
        return -1;
    }
    const std::vector<int>& cells = cells_[line];
    return is_index(column, cells) ? cells[column] : -1;
}

Cells::Cells(int height, int width) : height_(std::max(height, 0)), width_(std::max(width, 0)) {
    cells_.resize(height_ * static_cast<size_t>(width_));
}

/// Blanks a cell, and the other half of what it was a half of.
void Cells::clear(int row, int column) {
    const bool right_half = at(row, column).character == 0;
    const int first = right_half && column > 0 ? column - 1 : column;
    const bool wide = right_half || (column + 1 < width_ && at(row, column + 1).character == 0);
    for (int c = first; c < std::min(first + (wide ? 2 : 1), width_); ++c) {
        at(row, c).character = U' ';
        at(row, c).marks.clear();
    }
}

void Cells::put(int row, int column, char32_t character, Style style) {
    if (row < 0 || row >= height_ || column < 0 || column >= width_) {
        return;
    }
    const bool wide = char_width(character) > 1;
    clear(row, column);
    if (wide && column + 1 == width_) {
        character = U' ';
    } else if (wide) {
        clear(row, column + 1);
        at(row, column + 1) = {0, style, {}};
    }
    at(row, column) = {character, style, {}};
}

void Cells::text(int row, int column, std::string_view utf8, Style style, int end) {
    const int edge = end < 0 ? width_ : std::min(end, width_);
    if (column >= edge) {
        return;
    }
    int base = -1; // the cell that marks are drawn over
    for (const char32_t c : fitted(utf8, edge - column)) {
        if (const int width = char_width(c); width > 0) {
            put(row, column, c, style);
            base = column;
            column += width;
        } else if (row >= 0 && row < height_ && base >= 0 && base < width_) {
            at(row, base).marks += c;
        }
    }
}

std::vector<Line> Cells::lines() const {
    std::vector<Line> lines(height_);
    for (int row = 0; row < height_; ++row) {
        std::u32string run;
        Style style;
        const auto end_run = [&] {
            if (!run.empty()) {
                lines[row].parts.push_back({to_utf8(run), style});
            }
            run.clear();
        };
        for (int column = 0; column < width_; ++column) {
            const Cell& cell = cells_[row * static_cast<size_t>(width_) + column];
            if (cell.character == 0) {
                continue;
            }
            if (!(cell.style == style)) {
                end_run();
                style = cell.style;
            }
            run += cell.character;
            run += cell.marks;
        }
        end_run();
    }
    return lines;
}

} // namespace schedscope::tui
