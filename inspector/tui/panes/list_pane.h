#pragma once

#include "inspector/tui/panes/layout.h"
#include "inspector/tui/panes/list.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// The pane on the left: the view that is shown, and the list between its rows and the screen, which is filtered, ordered and has
/// one line selected. A row is one as the view counts, a line one as the list does.
class ListPane {
public:
    /// `session` is borrowed. A view is shown before anything else.
    explicit ListPane(InspectorSession& session) : session_(session), made_(views().size()) {}

    // The view
    /// Made when it is first shown. Another one than before begins at its top, in the order that it comes in.
    void show(ViewId id);
    View& view() const noexcept { return *view_; }
    ViewId id() const noexcept { return id_; }

    // Its rows
    /// Rows and lines follow the session, if anything changed there. The selected line is the selected tensor's then, or what the
    /// step is about.
    void update();
    /// What the lines are made of is another one now: the next update makes them again.
    void outdate() noexcept { updated_ = 0; }
    int n_rows() const { return view_->n_rows(); }
    /// Those of the view's columns that lists show, with the width of backends' names.
    std::span<const tables::Column> columns() const noexcept { return columns_; }
    /// A cell of a row, in one of those columns.
    tables::Cell cell(int row, size_t column) const { return view_->table().cell(row, in_table_[column]); }
    int n_lines() const { return narrowed_ ? n_of(rows_) : n_rows(); }
    bool empty() const noexcept { return lines_.empty(); }
    int row_of_line(int line) const { return narrowed_ ? rows_[line] : line; }
    int line_of_row(int row) const; ///< −1: filtered out
    std::vector<int> rows() const;  ///< of all lines, in their order
    /// Of a tensor for which the view has a row that the list leaves out: why, and what shows it. Empty: there is none.
    std::string why_hidden(TensorId id) const;

    // The selected one
    const List& lines() const noexcept { return lines_; }
    int selected_row() const { return empty() ? -1 : row_of_line(lines_.selected()); }
    void select_line(int line); ///< and its tensor in the session
    void select_row(int row);   ///< filtered out: nothing happens
    void scroll(int lines);

    // Filter, order and search
    const Query& filter() const noexcept { return filter_; }
    void set_filter(Query filter);
    bool filtered() const noexcept { return narrowed_ && !filter_.empty(); }
    int sorted_by() const noexcept { return sort_column_; } ///< −1: as they come
    void sort_by(int column);
    int next_column() const;      ///< that it can be ordered by, after the present one; −1: as they come
    int column_at(int col) const; ///< at a cell of the head; −1: none
    const Query& search() const noexcept { return search_; }
    void set_search(Query search) { search_ = std::move(search); }
    /// The first line that the search finds, from `line` on and once around; −1: none.
    int find(int line, bool forward) const;

    /// What a preview changes.
    struct Kept {
        Query filter, search;
        List lines;
    };
    Kept kept() const { return {filter_, search_, lines_}; }
    void restore(const Kept& kept);
    /// Stands as before, without the session's selection following.
    void stand_at(const List& lines);
    void stand_at(int line) { lines_.select(line); }

    // On the screen (list_pane_draw.cpp)
    /// In which no name is cut.
    int wanted_width() const;
    /// From now on it has so much room.
    void set_room(const Layout& layout) noexcept;
    /// The list fits the room.
    void fit() { lines_.resize(n_lines(), height_); }
    void draw(const Canvas& page, const Layout& layout, bool focused) const;

private:
    void narrow();
    void order();
    void find_columns();
    void select_row_of_tensor();
    void follow_record();
    std::vector<int> widths() const;
    int shown_width() const;                                      ///< that says which columns are shown
    int longest_cell(size_t column, int longest, int most) const; ///< in cells of the screen
    void measure_names();
    void measure_columns();
    void draw_drawing(const Canvas& page, const Layout& layout) const;
    struct Look; ///< what the lines of a frame have in common
    void draw_head(const Canvas& page, const Rect& area, const Look& look) const;
    void draw_line(const Canvas& page, const Rect& area, int y, const Look& look) const;
    void draw_emptiness(const Canvas& page, const Rect& area) const;

    InspectorSession& session_;
    std::vector<std::unique_ptr<View>> made_; ///< by index in views()
    View* view_ = nullptr;
    std::vector<tables::Column> columns_; ///< that are shown
    std::vector<size_t> in_table_;        ///< of each, its number in the view's table
    ViewId id_ = ViewId::count;
    uint64_t updated_ = 0;    ///< session version that the rows are of
    Step followed_ = no_step; ///< whose row was selected
    std::vector<int> rows_; ///< of the view, filtered and ordered: the lines, while `narrowed_`; else all rows are, as they come
    bool narrowed_ = false;
    List lines_;
    int sort_column_ = -1;
    Query filter_, search_;
    int longest_name_ = 0;       ///< in cells, since the view is shown: the panes keep still while it is stepped through
    std::vector<int> longest_;   ///< [column of the table] the same of its cells
    int height_ = 0, width_ = 0; ///< of the list on the screen
};

} // namespace schedscope::tui
