// The list on the screen.
#include "inspector/tui/panes/list_pane.h"

#include "inspector/tui/panes/line_draw.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

/// A cell, with the texts underlined that were searched for.
void draw_cell(const Canvas& page, int row, int col, const Text& cell, int width, bool right,
               const std::vector<Query::Sought>& sought) {
    const std::u32string shown = fitted(cell.text, width);
    std::vector<int> column{0}; // of each character, and behind the last one
    std::string lower;          // a byte for each
    for (const char32_t c : shown) {
        column.push_back(column.back() + char_width(c));
        lower += c >= U'A' && c <= U'Z' ? static_cast<char>(c - U'A' + U'a') : c < 0x80 ? static_cast<char>(c) : '\x7f';
    }
    const int left = col + (right ? std::max(width - column.back(), 0) : 0);
    page.put(row, left, cell.text, cell.style, std::min(width, column.back()));
    Style mark = cell.style;
    mark.bold = mark.underline = true;
    mark.dim = false;
    for (const auto& [text, whole] : sought) {
        if (text.empty() || (whole && lower != text)) {
            continue;
        }
        for (size_t at = lower.find(text); at != std::string::npos; at = lower.find(text, at + text.size())) {
            page.put(row, left + column[at], to_utf8(std::u32string_view(shown).substr(at, text.size())), mark);
        }
    }
}

/// Of a tensor: the column that takes what others leave, and those that queries call so.
bool is_name(const tables::Column& column) {
    return !is_number(column.unit) && (column.width == 0 || column.field == Field::name || column.field == Field::by);
}

constexpr int margin = 2; ///< cells for the marks of a line

} // namespace

struct ListPane::Look {
    std::vector<int> widths;           ///< of the columns; 0: not shown
    std::vector<Query::Sought> sought; ///< texts to be marked
    bool focused = false;
    int room = 0; ///< the width that says which columns are shown
};

void ListPane::set_room(const Layout& layout) noexcept {
    height_ = layout.list.height;
    width_ = layout.list.width;
}

int ListPane::wanted_width() const { return width_with_names(columns_, longest_name_) + margin; }

int ListPane::shown_width() const { return width_without_cut_names(columns_, width_ - margin, longest_name_); }

std::vector<int> ListPane::widths() const { return column_widths(columns_, width_ - margin, shown_width()); }

int ListPane::column_at(int col) const {
    const std::vector<int> shown = widths();
    const int room = shown_width();
    int at = margin;
    for (size_t i = 0; i < shown.size(); ++i) {
        if (shown[i] == 0) {
            continue;
        }
        at += column_gap(columns_, i, room);
        if (col >= at && col < at + shown[i]) {
            return int_of(i);
        }
        at += shown[i];
    }
    return -1;
}

void ListPane::draw(const Canvas& page, const Layout& layout, bool focused) const {
    draw_drawing(page, layout);
    const Rect& area = layout.list;
    page.put(layout.titles, 1, joined({" ", view_->title(session_), filtered() ? ", filtered " : " "}),
             focused ? accent : Style{}, area.width - 2);
    const Look look{widths(), search_.sought(), focused, shown_width()};
    draw_head(page, layout.list_head, look);
    if (empty()) {
        draw_emptiness(page, area);
        return;
    }
    for (int y = 0; y < area.height && lines_.row_at(y) >= 0; ++y) {
        draw_line(page, area, y, look);
    }
}

void ListPane::draw_drawing(const Canvas& page, const Layout& layout) const {
    const Rect& area = layout.drawing;
    if (area.height == 0) {
        return;
    }
    Drawing& drawing = *view_->drawing();
    page.put(layout.upper, 1, joined({" ", drawing.title(session_), " "}), {}, layout.strip.width - 2);
    int row = area.row;
    for (const Line& line : drawing.draw(session_, selected_row(), area.height, area.width)) {
        put_parts(page, row++, area.col, area.col + area.width, line, false);
    }
}

void ListPane::draw_head(const Canvas& page, const Rect& area, const Look& look) const {
    int col = area.col + margin;
    for (size_t i = 0; i < columns_.size(); ++i) {
        if (look.widths[i] == 0) {
            continue;
        }
        col += column_gap(columns_, i, look.room);
        const bool ordered = int_of(i) == sort_column_;
        const std::string title = std::string(columns_[i].title) + (ordered ? "▾" : "");
        const Style style{Ink::plain, ordered, true, false, true};
        if (is_number(columns_[i].unit)) {
            page.put_right(area.row, col, title, style, look.widths[i]);
        } else {
            page.put(area.row, col, title, style, look.widths[i]);
        }
        col += look.widths[i];
    }
}

void ListPane::draw_line(const Canvas& page, const Rect& area, int y, const Look& look) const {
    const int line = lines_.row_at(y), row = row_of_line(line), screen_row = area.row + y;
    const bool selected = line == lines_.selected();
    const bool reverse = selected && look.focused;
    page.blank(screen_row, area.col, Style{}.with_reverse(reverse), area.width);
    page.put(screen_row, area.col, selected ? "▸" : " ", bold.with_reverse(reverse), 1);
    Facts facts(search_);
    if (!search_.empty()) {
        view_->facts(session_, row, facts);
    }
    const bool found = !search_.empty() && search_.matches(facts);
    if (view_->changed(session_, row)) {
        page.put(screen_row, area.col + 1, "•", accent.with_reverse(reverse), 1);
    } else if (found) {
        page.put(screen_row, area.col + 1, "/", accent.with_reverse(reverse), 1);
    }
    int col = area.col + margin;
    for (size_t i = 0; i < columns_.size(); ++i) {
        if (look.widths[i] == 0) {
            continue;
        }
        col += column_gap(columns_, i, look.room);
        Text shown = View::text(session_, columns_[i], cell(row, i));
        if (is_name(columns_[i])) {
            shown.text = columns_[i].unit == tables::Unit::names ? shortened_names(shown.text, look.widths[i])
                                                                 : shortened_name(shown.text, look.widths[i]);
        }
        draw_cell(page, screen_row, col, {shown.text, reverse ? in_reverse(shown.style) : shown.style}, look.widths[i],
                  is_number(columns_[i].unit), found ? look.sought : std::vector<Query::Sought>());
        col += look.widths[i];
    }
}

/// Why the list is empty.
void ListPane::draw_emptiness(const Canvas& page, const Rect& area) const {
    const std::string why =
        narrowed_ && n_rows() > 0 ? "no line matches " + filter_.text() + ": Esc shows all" : view_->empty_text(session_);
    int row = area.row;
    for (size_t at = 0; at <= why.size();) {
        const size_t end = std::min(why.find('\n', at), why.size());
        for (const std::string& piece : wrapped(std::string_view(why).substr(at, end - at), area.width - 4)) {
            if (row < area.row + area.height) {
                page.put(row++, area.col + 2, piece, dim, area.width - 3);
            }
        }
        at = end + 1;
    }
}

} // namespace schedscope::tui
