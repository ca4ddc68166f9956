#pragma once

#include "inspector/tui/state/inspector_session.h"
#include "inspector/tui/terminal/style.h"

#include <string>
#include <vector>

namespace schedscope::tui {

struct Line;

/// How a drawing's window moves over what there is.
enum class Zoom : uint8_t { in, out, whole, left, right };

/// What a list can't show, drawn above it over the whole width: a map, lanes, a table of sums. It belongs to a view and draws
/// what that holds. Rows and columns are cells from its upper left corner.
class Drawing {
public:
    virtual ~Drawing() = default;

    /// Rows that it takes where list and drawing share `body_rows`; 0: there is nothing to draw.
    virtual int rows(InspectorSession& session, int body_rows, int width) const = 0;
    virtual std::string title(const InspectorSession& session) const = 0;
    /// `selected`: row of the view's list, −1: none. At most `height` lines.
    virtual std::vector<Line> draw(InspectorSession& session, int selected, int height, int width) = 0;
    /// The row of the view's list that was drawn at a place the last time; −1: none.
    virtual int row_at(int line, int column) const = 0;
    /// Moves the window; `column`: around which one, −1: the selected row. False: it has only one size.
    virtual bool zoom(Zoom, int /*column*/) { return false; }
};

/// Which row of the list each cell of a drawing shows.
class DrawnRows {
public:
    void clear(int height, int width) { cells_.assign(height, std::vector<int>(width, -1)); }
    void put(int line, int column, int row) { cells_[line][column] = row; }
    int at(int line, int column) const noexcept; ///< −1: none, or outside

private:
    std::vector<std::vector<int>> cells_; ///< [line][cell]
};

/// Cells of a drawing, put down one by one and read as lines of pieces in one style.
class Cells {
public:
    Cells(int height, int width);

    int height() const noexcept { return height_; }
    int width() const noexcept { return width_; }
    /// Outside: nothing. A wide character takes two cells, and none where only one is left; of one that is drawn over in part, a
    /// blank stays.
    void put(int row, int column, char32_t character, Style style);
    /// Text from a column on, cut at `end` (−1: the right edge).
    void text(int row, int column, std::string_view utf8, Style style, int end = -1);
    std::vector<Line> lines() const;

private:
    struct Cell {
        char32_t character = U' '; ///< 0: the right half of a wide one
        Style style = {};
        std::u32string marks = {}; ///< that are drawn over it
    };
    Cell& at(int row, int column) { return cells_[row * static_cast<size_t>(width_) + column]; }
    void clear(int row, int column);
    int height_, width_;
    std::vector<Cell> cells_; ///< [height][width]
};

} // namespace schedscope::tui
