#pragma once

#include "inspector/tui/input/keys.h"
#include "inspector/tui/terminal/canvas.h"
#include "inspector/tui/views/view.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// Where things stand on a screen of some size. Everything lies within a border; the header is written on its upper edge.
struct Layout {
    bool fits = false; ///< false: too small to show anything but that
    Rect strip, drawing, list_head, list, detail, tabs, status, keys;
    int middle = 0; ///< column of the line between the panes; −1: the list has the whole width
    int upper = 0, titles = 0,
        lower = 0; ///< rows of the dividing lines; `titles` is `upper` where nothing is drawn above the list

    static constexpr int least_rows = 12, least_cols = 50;
    static constexpr int narrowest_pane = 20;
    /// `list_percent`: of the screen, for the list; nothing: what suits it. `drawing_rows`: of what is drawn above the list, 0
    /// for nothing. `details`: there are some.
    static Layout of(int rows, int cols, std::optional<int> list_percent, int drawing_rows = 0, bool details = true) noexcept;
    /// What the list has of the screen, in percent.
    int list_percent() const noexcept { return strip.width > 0 ? (list.width * 100 + strip.width / 2) / strip.width : 0; }
    /// Rows that drawing and list share on a screen of so many rows.
    static int body_rows(int rows) noexcept { return rows - 7; }
};

/// A piece of a line that a click can hit.
template <class Meaning> struct Button {
    int col = 0, width = 0;
    std::string text;
    Meaning meaning{};
    bool current = false;
};

/// A pass to go to. unit pass: pass 2 as a whole, which is over with its last sweep.
struct PassPlace {
    Pass pass = Pass::none;
    History::Unit unit = History::Unit::sweep;
};

/// The strip of passes, as long as fits: "1 place   2 expand ▸gpu↓ gpu↑ rest↓ rest↑   3 refine …". The current one has a mark
/// before it.
std::vector<Button<PassPlace>> pass_strip(Pass current, int width);

/// The footer: keys that do something here, most important ones first to get room, in the table's order.
std::vector<Button<Action>> footer(const KeyMap& keys, KeyContext context, int width, const std::function<bool(Action)>& works);

/// All views: "1 nodes  2 splits  …", the current one with a mark before it. Where there is no room for all names, those farthest
/// from the current one are only numbers.
std::vector<Button<ViewId>> view_tabs(ViewId current, int width);

/// Widths of the list's columns in a pane; 0: not shown. The growing one gets what is left, but where there is plenty others get
/// their `most` first.
std::vector<int> column_widths(std::span<const tables::Column> columns, int width);
/// Cells between a column that is shown and the one before it: two, if there is room, where heads of several words would
/// read as one: that of numbers ends where that of a text begins.
int column_gap(std::span<const tables::Column> columns, size_t column, int width);

} // namespace schedscope::tui
