// Drawing: everything is drawn anew from the state; curses sends the terminal what differs.
#include "inspector/tui/app.h"

#include "inspector/tui/line_wrap.h"
#include "inspector/tui/text.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace schedscope::tui {
namespace {

/// "2a gpu down", but "optimise" once.
std::string pass_text(Pass pass) {
    const std::string name(pass_name(pass)), title(pass_title(pass));
    return name == title ? name : name + " " + title;
}

} // namespace

void App::draw(bool with_details) {
    layout_ = Layout::of(terminal_.rows(), terminal_.cols(), settings_.list_width);
    const Canvas page = terminal_.page();
    if (!layout_.fits) {
        page.put(0, 0, "too small: " + std::to_string(Layout::least_cols) + "×" + std::to_string(Layout::least_rows) + " needed");
        terminal_.show();
        return;
    }
    update();
    Drawing* const drawing = view_->drawing();
    layout_ = Layout::of(terminal_.rows(), terminal_.cols(), settings_.list_width,
                         drawing ? drawing->rows(session_, Layout::body_rows(terminal_.rows()), layout_.strip.width) : 0,
                         view_->n_rows() > 0);
    list_.resize(n_shown(), layout_.list.height);
    if (with_details) {
        update_detail();
    }
    detail_list_.resize(static_cast<int>(detail_.size()), layout_.detail.height);

    page.frame(dim);
    if (layout_.titles != layout_.upper) {
        page.divider(layout_.upper, -1, false, false, dim);
    }
    page.divider(layout_.titles, layout_.middle, false, true, dim);
    page.divider(layout_.lower, layout_.middle, true, false, dim);
    if (layout_.middle >= 0) {
        page.vertical(layout_.middle, layout_.titles + 1, layout_.lower, dim);
    }
    draw_header(page);
    draw_strip(page);
    draw_drawing(page);
    tab_buttons_ = view_tabs(view_number_, layout_.tabs.width);
    for (const Button<int>& tab : tab_buttons_) {
        page.put(layout_.tabs.row, layout_.tabs.col + tab.col, tab.text, tab.current ? bold : dim);
    }
    draw_list(page);
    draw_detail(page);
    draw_status(page);
    draw_keys(page);
    if (!pages_.empty()) {
        draw_page();
    }
    if (prompt_ && pages_.empty()) {
        terminal_.show(layout_.status.row, prompt_column());
    } else {
        terminal_.show();
    }
}

/// Where the cursor of the prompt stands on the screen.
int App::prompt_column() {
    const Rect& area = layout_.status;
    const int begin = std::min(area.col + 1 + text_width(prompt_->label()), area.col + area.width);
    return std::min(begin + prompt_->window(area.col + area.width - begin).cursor, area.col + area.width - 1);
}

void App::draw_header(const Canvas& page) {
    const PlanState& state = session_.state();
    struct Place {
        std::string text;
        std::function<void()> open = {}; ///< what a click does; none: nothing
    };
    std::vector<Place> places;
    constexpr int least_title = 8;
    const auto room = [&] {
        int width = 0;
        for (const Place& place : places) {
            width += text_width(place.text) + 3;
        }
        return page.width() - 3 - width;
    };
    for (const bool brief : {false, true}) { // where there is little room, the step matters most
        places.clear();
        if (state.step == no_step) {
            places.push_back({"no steps yet"});
        } else {
            if (session_.history().n_evaluations() > 0) {
                const std::string_view kind =
                    brief ? "" : graph_kind_name(session_.history().evaluation(state.evaluation).begin.kind);
                places.push_back({joined({"eval ", grouped(state.evaluation), "/",
                                          grouped(session_.history().n_evaluations() - 1), brief ? "" : " ", kind}),
                                  [this] { perform(Action::view_7); }});
            }
            if (state.pass != Pass::none) {
                places.push_back({"pass " + (brief ? std::string(pass_name(state.pass)) : pass_text(state.pass)),
                                  [this] { jump([&] { return session_.go_pass(session_.state().pass); }); }});
            } else if (!brief) {
                places.push_back({"between passes"});
            }
            places.push_back(
                {"step " + grouped(state.step) + "/" + grouped(session_.last_step()), [this] { perform(Action::go_to_step); }});
        }
        if (!state.error.empty()) {
            places.push_back({"PLAN FAILED"});
        }
        if (session_.gate()) {
            places.push_back({session_.ended()     ? "ENDED"
                              : session_.running() ? "RUNNING"
                                                   : "HELD",
                              [this] { perform(session_.running() ? Action::hold : Action::resume); }});
        }
        if (room() >= least_title) {
            break;
        }
    }
    crumbs_.clear();
    int col = page.put(0, 1, " " + title_ + " ", bold, std::max(room(), least_title));
    for (Place& place : places) {
        col = page.put(0, col, "─", dim);
        const int end = page.put(0, col, " " + place.text + " ", {}, page.width() - 1 - col);
        if (place.open) {
            crumbs_.push_back({col, end - col, place.text, std::move(place.open)});
        }
        col = end;
    }
}

void App::draw_strip(const Canvas& page) {
    const Pass now = session_.state().pass;
    strip_buttons_ = pass_strip(now, layout_.strip.width);
    for (const Button<Pass>& button : strip_buttons_) {
        Style style = button.current                                                            ? accent.with_reverse()
                      : session_.state().planned || (now != Pass::none && button.meaning < now) ? Style{}
                                                                                                : dim;
        page.put(layout_.strip.row, layout_.strip.col + button.col, button.text, style);
    }
}

void App::draw_drawing(const Canvas& page) {
    const Rect& area = layout_.drawing;
    if (area.height == 0) {
        return;
    }
    Drawing& drawing = *view_->drawing();
    page.put(layout_.upper, 1, joined({" ", drawing.title(session_), " "}), {}, layout_.strip.width - 2);
    int row = area.row;
    for (const Line& line : drawing.draw(session_, view_row(), area.height, area.width)) {
        int col = area.col;
        for (const Text& part : line.parts) {
            col = page.put(row, col, part.text, part.style, area.col + area.width - col);
        }
        ++row;
    }
}

void App::draw_list(const Canvas& page) {
    const bool focused = pane_ == Pane::list;
    page.put(layout_.titles, 1, joined({" ", view_->title(session_), narrowed_ && !filter_.empty() ? ", filtered " : " "}),
             focused ? accent : Style{}, layout_.list.width - 2);
    const auto columns = view_->columns();
    const std::vector<int> widths = column_widths(columns, layout_.list.width - 2);
    const int growing = [&] {
        for (size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].width == 0 && widths[i] > 0) {
                return widths[i];
            }
        }
        return 0;
    }();
    int col = layout_.list_head.col + 2;
    for (size_t i = 0; i < columns.size(); ++i) {
        if (widths[i] == 0) {
            continue;
        }
        col += column_gap(columns, i, layout_.list.width - 2);
        const std::string title = std::string(columns[i].title) + (static_cast<int>(i) == sort_column_ ? "▾" : "");
        const Style style{Ink::plain, static_cast<int>(i) == sort_column_, true, false, true};
        if (columns[i].right) {
            page.put_right(layout_.list_head.row, col, title, style, widths[i]);
        } else {
            page.put(layout_.list_head.row, col, title, style, widths[i]);
        }
        col += widths[i];
    }
    if (list_.empty()) {
        draw_emptiness(page);
        return;
    }
    const std::vector<Query::Sought> sought = search_.sought();
    const std::vector<Query::Sought> nothing;
    Facts facts;
    for (int line = 0; line < layout_.list.height; ++line) {
        const int shown = list_.row_at(line);
        if (shown < 0) {
            break;
        }
        const int row = narrowed_ ? shown_[static_cast<size_t>(shown)] : shown;
        const bool selected = shown == list_.selected();
        const bool reverse = selected && focused;
        const int y = layout_.list.row + line;
        page.blank(y, layout_.list.col, Style{}.with_reverse(reverse), layout_.list.width);
        page.put(y, layout_.list.col, selected ? "▸" : " ", bold.with_reverse(reverse), 1);
        if (!search_.empty()) {
            view_->facts(session_, row, facts);
        }
        const bool found = !search_.empty() && search_.matches(facts);
        if (view_->changed(session_, row)) {
            page.put(y, layout_.list.col + 1, "•", accent.with_reverse(reverse), 1);
        } else if (found) {
            page.put(y, layout_.list.col + 1, "/", accent.with_reverse(reverse), 1);
        }
        const std::vector<Text> cells = view_->row(session_, row, growing);
        col = layout_.list.col + 2;
        for (size_t i = 0; i < columns.size() && i < cells.size(); ++i) {
            if (widths[i] == 0) {
                continue;
            }
            col += column_gap(columns, i, layout_.list.width - 2);
            const Style style = reverse ? Style{cells[i].style.ink, cells[i].style.bold, false, true, false} : cells[i].style;
            draw_cell(page, y, col, {cells[i].text, style}, widths[i], columns[i].right, found ? sought : nothing);
            col += widths[i];
        }
    }
}

/// With the texts underlined that were searched for.
void App::draw_cell(const Canvas& page, int row, int col, const Text& cell, int width, bool right,
                    const std::vector<Query::Sought>& sought) const {
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

/// Why the list is empty.
void App::draw_emptiness(const Canvas& page) {
    const Rect& area = layout_.list;
    const std::string why =
        narrowed_ && view_->n_rows() > 0 ? "no line matches " + filter_.text() + ": Esc shows all" : view_->empty_text(session_);
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

void App::draw_detail(const Canvas& page) {
    const bool focused = pane_ == Pane::detail;
    if (const int row = view_row(); row >= 0) {
        page.put(layout_.titles, layout_.middle + 1, joined({" ", view_->detail_title(session_, row), " "}),
                 focused ? accent : Style{}, layout_.detail.width - 2);
    }
    for (int line = 0; line < layout_.detail.height; ++line) {
        const int index = detail_list_.row_at(line);
        if (index < 0) {
            break;
        }
        const Line& content = detail_[static_cast<size_t>(index)];
        const bool reverse = focused && index == detail_list_.selected();
        const int y = layout_.detail.row + line;
        if (reverse) {
            page.blank(y, layout_.detail.col, Style{}.with_reverse(), layout_.detail.width);
        }
        page.put(y, layout_.detail.col, content.now ? "▸" : " ", bold.with_reverse(reverse), 1);
        int col = layout_.detail.col + 1;
        const int end = layout_.detail.col + layout_.detail.width;
        for (const Text& part : content.parts) {
            const Style style = reverse ? Style{part.style.ink, part.style.bold, false, true, false} : part.style;
            if (col < end) {
                col = page.put(y, col, part.text, style, end - col);
            }
        }
    }
}

void App::draw_status(const Canvas& page) {
    const Rect& area = layout_.status;
    if (prompt_) {
        const int col = page.put(area.row, area.col + 1, prompt_->label(), bold, area.width - 1);
        const std::string shown = prompt_->window(area.col + area.width - col).text;
        page.put(area.row, col, shown, Style{}.with_reverse(prompt_->replaces()), area.col + area.width - col);
        const int behind = col + text_width(shown) + 2, end = area.col + area.width - 1;
        if (!prompt_note_.empty() && behind + std::min(text_width(prompt_note_), 12) <= end) {
            page.put_right(area.row, behind, prompt_note_, dim, end - behind);
        }
        return;
    }
    std::string marks;
    const auto mark = [&](const std::string& text) { marks += (marks.empty() ? "" : " · ") + text; };
    if (!filter_.empty()) {
        mark("only " + filter_.text());
    }
    if (!breakpoint_.empty()) {
        mark("break " + breakpoint_.text());
    }
    if (!session_.follow) {
        mark("not following");
    }
    if (session_.comparison().running()) {
        mark(session_.comparison().stopping() ? "stopping" : "comparing, Esc stops");
    }
    if (damaged_) {
        mark("the trace is damaged");
    }
    if (picture_.running()) {
        mark("drawing " + picture_.path() + ", Esc stops");
    }
    const int room = marks.empty() ? 0 : std::min(text_width(marks) + 2, area.width / 2);
    if (room > 0) {
        page.put_right(area.row, area.col + area.width - room, marks, dim, room - 1);
    }
    const int width = area.width - 2 - room;
    page.put(area.row, area.col + 1, shortened(status_, width), trouble_ ? warning : Style{}, width);
}

void App::draw_keys(const Canvas& page) {
    const Rect& area = layout_.keys;
    key_buttons_.clear();
    if (prompt_ && !prompt_->candidates().empty()) {
        draw_candidates(page);
        return;
    }
    if (prompt_ || session_.scanning() || letter_for_ != Action::none) {
        page.put(area.row, area.col + 1,
                 prompt_               ? "Enter accept  Tab complete  Esc cancel  ↑/↓ typed before"
                 : session_.scanning() ? "Esc stop"
                                       : "a … z  Esc cancel",
                 dim, area.width - 1);
        return;
    }
    key_buttons_ = footer(settings_.keys, context(), area.width - 2, [this](Action action) { return why_not(action).empty(); });
    for (Button<Action>& button : key_buttons_) {
        ++button.col;
        const std::string label = first_key_text(*settings_.keys.binding_of(button.meaning, context()));
        const int col = page.put(area.row, area.col + button.col, label, bold);
        page.put(area.row, col, std::string_view(button.text).substr(label.size()), dim);
    }
}

/// As many as fit, the chosen one among them.
void App::draw_candidates(const Canvas& page) {
    const Rect& area = layout_.keys;
    const std::vector<std::string>& all = prompt_->candidates();
    const int room = area.width - 4, chosen = std::max(prompt_->chosen(), 0);
    size_t first = static_cast<size_t>(chosen);
    for (int used = text_width(all[first]); first > 0; --first) {
        used += text_width(all[first - 1]) + 2;
        if (used > room) {
            break;
        }
    }
    int col = area.col + 1;
    const int end = area.col + area.width - 2;
    if (first > 0) {
        col = page.put(area.row, col, "… ", dim);
    }
    for (size_t i = first; i < all.size(); ++i) {
        if (i > first && col + text_width(all[i]) > end) {
            page.put(area.row, col, "…", dim);
            break;
        }
        const bool now = static_cast<int>(i) == prompt_->chosen();
        col = page.put(area.row, col, all[i], now ? accent.with_reverse() : dim, end - col);
        col += 2;
    }
}

void App::shape_page() {
    Page& page = pages_.back();
    const int wanted = page.chooses ? 110 : 96, cols = std::max(terminal_.cols(), 4);
    const int width = cols < wanted + 4 ? cols : wanted; // with no room beside it, it takes all: one frame, not two
    if (page.width != width || page.version != session_.version()) {
        page.lines = wrapped_lines(page.make(width - 4), width - 4);
        page.width = width;
        page.version = session_.version();
    }
    const int room = std::max(terminal_.rows() - 4, 3); // status and keys stay to be seen
    const int height = std::min(static_cast<int>(page.lines.size()) + 2, room);
    page_area_ = {(room - height) / 2, std::max(terminal_.cols() - width, 0) / 2, height, width};
    page.list.resize(static_cast<int>(page.lines.size()), height - 2);
}

void App::draw_page() {
    shape_page();
    const Page& page = pages_.back();
    const Canvas canvas = terminal_.popup(page_area_);
    const int height = canvas.height(), width = canvas.width();
    canvas.frame(accent);
    canvas.put(0, 2, " " + page.title + " ", accent, width - 4);
    const bool more = page.list.top() + height - 2 < page.list.n_rows();
    canvas.put(height - 1, 2, joined({more ? " ↓ more " : "", page.chooses ? " Enter opens " : "", " Esc closes "}), dim,
               width - 4);
    for (int i = 0; i < height - 2; ++i) {
        const int index = page.list.row_at(i);
        if (index < 0) {
            break;
        }
        const Line& content = page.lines[static_cast<size_t>(index)];
        const bool reverse = page.chooses && index == page.list.selected();
        if (reverse) {
            canvas.blank(1 + i, 1, Style{}.with_reverse(), width - 2);
        }
        canvas.put(1 + i, 1, content.now ? "▸" : " ", bold.with_reverse(reverse), 1);
        int col = 2;
        for (const Text& part : content.parts) {
            const Style style = reverse ? Style{part.style.ink, part.style.bold, false, true, false} : part.style;
            if (col < width - 2) {
                col = canvas.put(1 + i, col, part.text, style, width - 2 - col);
            }
        }
    }
}

} // namespace schedscope::tui
