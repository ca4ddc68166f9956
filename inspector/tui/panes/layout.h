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
    Rect strip, drawing, list_head, list, detail, tabs, guide, status, keys;
    int middle = 0; ///< column of the line between the panes; −1: the list has the whole width
    int upper = 0, titles = 0,
        lower = 0; ///< rows of the dividing lines; `titles` is `upper` where nothing is drawn above the list

    static constexpr int least_rows = 10, least_cols = 40;
    /// Below these the strip of passes is left out, and one pane is shown at a time.
    static constexpr int rows_for_strip = 12, cols_for_both = 64;
    static constexpr int narrowest_pane = 20;
    struct Wishes {
        std::optional<int> list_percent = {}; ///< of the screen, for the list; nothing: what suits it
        int drawing_rows = 0;                 ///< of what is drawn above the list
        bool details = true;                  ///< there are some
        bool in_details = false;              ///< they have the keys
        int list_width = 0;                   ///< in which no name of the list is cut
        int guide_rows = 0;                   ///< of the guide, above the status
    };
    static Layout of(int rows, int cols, const Wishes& wishes) noexcept;
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
/// `shown`: the columns are those of a list that wide; −1: of this one.
std::vector<int> column_widths(std::span<const tables::Column> columns, int width, int shown = -1);
/// The same where the growing one, a name, needs so many cells: columns that lists of a usual screen can do without give way
/// before it is cut, and then the others, as if the pane were narrower. Returns the width that says which are shown.
int width_without_cut_names(std::span<const tables::Column> columns, int width, int name);
/// What a list needs so that a name of so many cells is not cut, beside the columns that it always shows.
int width_with_names(std::span<const tables::Column> columns, int name);
/// Cells between a column that is shown and the one before it: two, if there is room, where heads of several words would
/// read as one: that of numbers ends where that of a text begins.
int column_gap(std::span<const tables::Column> columns, size_t column, int width);

} // namespace schedscope::tui
