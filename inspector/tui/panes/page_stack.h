#pragma once

#include "inspector/tui/panes/list.h"
#include "inspector/tui/terminal/terminal.h"
#include "inspector/tui/views/view.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// A page above the others: to read, or to choose a line of.
struct Page {
    std::string title;
    std::function<std::vector<Line>(int width)> make; ///< its lines, when it is drawn in another width or the session has changed
    bool chooses = false;                             ///< one line is selected, and Enter opens what it leads to
    /// Of a page that grows: another number when there is more. Its end is shown, for as long as nothing was scrolled back.
    std::function<uint64_t()> grown = {};
    const char* enter = "Enter opens"; ///< what that does with a selected line

    std::vector<Line> lines = {};
    int width = -1; ///< that `lines` were made for
    uint64_t version = 0, growth = 0;
    List list = {};
};

/// The pages that lie above the panes, each above the one before. The last one is drawn and has the keys.
class PageStack {
public:
    /// Both are borrowed.
    PageStack(const InspectorSession& session, Terminal& terminal) : session_(session), terminal_(terminal) {}

    bool empty() const noexcept { return pages_.empty(); }
    size_t size() const noexcept { return pages_.size(); }
    const Page& top() const { return pages_.back(); } ///< only when there is one, as all below
    void open(Page page);                             ///< at the line about the present step, where there is one
    void close() { pages_.pop_back(); }
    void close_all() { pages_.clear(); }

    /// The lines of the one on top fit the screen and the session.
    void shape();
    Target target() const; ///< of its selected line
    void select(int line) { pages_.back().list.select(line); }
    void stand_at(const List& lines) { pages_.back().list = lines; }
    void scroll(int lines) { pages_.back().list.scroll(lines); }
    /// Beside it closes it. True: the line that was selected was hit again.
    bool click(int row, int col);
    void draw(int rows_below = 0); ///< that stay to be seen above the status

private:
    const InspectorSession& session_;
    Terminal& terminal_;
    std::vector<Page> pages_;
    Rect area_; ///< of the one on top
    int rows_below_ = 0;
};

} // namespace schedscope::tui
