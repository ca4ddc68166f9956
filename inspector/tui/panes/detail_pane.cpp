#include "inspector/tui/panes/detail_pane.h"

#include "inspector/tui/panes/line_draw.h"
#include "inspector/tui/panes/line_wrap.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>

namespace schedscope::tui {

void DetailPane::update(InspectorSession& session, const ListPane& list, const Rect& area, bool to_now) {
    const Of now{session.version(), &list.view(), list.selected_row(), area.width};
    const bool same_text = now.same_text(of_);
    if (same_text && now.version == of_.version) {
        return;
    }
    of_ = now;
    const int stood = lines_.selected(), top = lines_.top();
    const int width = area.width - 1; // one for the mark
    content_ = now.row < 0 ? std::vector<Line>() : wrapped_lines(list.view().detail(session, now.row, width), width);
    lines_ = List();
    resize(area.height);
    if (same_text) {
        lines_.select(std::min(top + area.height - 1, lines_.n_rows() - 1));
        lines_.select(stood);
    }
    const auto present = std::find_if(content_.begin(), content_.end(), [](const Line& l) { return l.now; });
    if (to_now && present != content_.end()) {
        lines_.select(int_of(present - content_.begin()));
    }
}

Target DetailPane::target() const { return content_.empty() ? Target{} : content_[lines_.selected()].target; }

void DetailPane::draw(const Canvas& page, InspectorSession& session, const ListPane& list, const Layout& layout,
                      bool focused) const {
    const Rect& area = layout.detail;
    const bool more = lines_.top() + area.height < lines_.n_rows();
    const int row = list.selected_row();
    const std::string title = row >= 0 ? list.view().detail_title(session, row) : std::string();
    const std::string mark = !more ? "" : text_width(title) + 4 + text_width(more_below) <= area.width ? more_below : "↓";
    const int room = area.width - text_width(mark);
    if (row >= 0) {
        page.put(layout.titles, area.col, joined({" ", shortened_name(title, room - 4), " "}), focused ? accent : Style{},
                 room - 2);
    }
    page.put(layout.titles, area.col + room, mark, dim, area.width - room);
    for (int y = 0; y < area.height; ++y) {
        const int line = lines_.row_at(y);
        if (line < 0) {
            break;
        }
        put_line(page, area.row + y, area.col, area.width, area.col + area.width, content_[line],
                 focused && line == lines_.selected());
    }
}

} // namespace schedscope::tui
