#include "inspector/tui/drawing.h"

#include "inspector/tui/text.h"
#include "inspector/tui/view.h"

#include <algorithm>

namespace schedscope::tui {

Cells::Cells(int height, int width) : height_(std::max(height, 0)), width_(std::max(width, 0)) {
    cells_.resize(static_cast<size_t>(height_) * static_cast<size_t>(width_));
}

void Cells::put(int row, int column, char32_t character, Style style) noexcept {
    if (row < 0 || row >= height_ || column < 0 || column >= width_) {
        return;
    }
    cells_[static_cast<size_t>(row) * static_cast<size_t>(width_) + static_cast<size_t>(column)] = {character, style};
}

void Cells::text(int row, int column, std::string_view utf8, Style style, int end) {
    const int edge = end < 0 ? width_ : std::min(end, width_);
    if (column >= edge) {
        return;
    }
    for (const char32_t c : fitted(utf8, edge - column)) {
        put(row, column, c, style);
        for (int i = 1; i < char_width(c); ++i) { // the second cell of a wide character holds nothing
            put(row, column + i, 0, style);
        }
        column += char_width(c);
    }
}

std::vector<Line> Cells::lines() const {
    std::vector<Line> lines(static_cast<size_t>(height_));
    for (int row = 0; row < height_; ++row) {
        std::u32string run;
        Style style;
        const auto end_run = [&] {
            if (!run.empty()) {
                lines[static_cast<size_t>(row)].parts.push_back({to_utf8(run), style});
            }
            run.clear();
        };
        for (int column = 0; column < width_; ++column) {
            const Cell& cell = cells_[static_cast<size_t>(row) * static_cast<size_t>(width_) + static_cast<size_t>(column)];
            if (cell.character == 0) {
                continue;
            }
            if (!(cell.style == style)) {
                end_run();
                style = cell.style;
            }
            run += cell.character;
        }
        end_run();
    }
    return lines;
}

} // namespace schedscope::tui
