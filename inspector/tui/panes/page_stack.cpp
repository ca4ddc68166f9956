#include "inspector/tui/panes/page_stack.h"

#include "inspector/tui/panes/line_draw.h"
#include "inspector/tui/panes/line_wrap.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>
#include <utility>

namespace schedscope::tui {

void PageStack::open(Page page) {
    pages_.push_back(std::move(page));
    shape();
    const Page& shown = top();
    for (size_t i = 0; shown.chooses && i < shown.lines.size(); ++i) {
        if (shown.lines[i].now) {
            select(int_of(i));
        }
    }
}

void PageStack::shape() {
    Page& page = pages_.back();
    const int cols = std::max(terminal_.cols(), 4), wanted = page.grown ? cols : page.chooses ? 110 : 96;
    const int width = cols < wanted + 4 ? cols : wanted; // with no room beside it, it takes all: one frame, not two
    const uint64_t growth = page.grown ? page.grown() : 0;
    const bool at_end = page.grown && (page.width < 0 || page.list.top() + page.list.height() >= page.list.n_rows());
    if (page.width != width || page.version != session_.version() || page.growth != growth) {
        page.lines = wrapped_lines(page.make(width - 4), width - 4);
        page.width = width;
        page.version = session_.version();
        page.growth = growth;
    }
    const int room = std::max(terminal_.rows() - 4 - rows_below_, 3); // status and keys stay to be seen
    const int height = std::min(n_of(page.lines) + 2, room);
    area_ = {(room - height) / 2, std::max(terminal_.cols() - width, 0) / 2, height, width};
    page.list.resize(n_of(page.lines), height - 2);
    if (at_end) {
        page.list.scroll(n_of(page.lines));
    }
}

Target PageStack::target() const { return top().lines.empty() ? Target{} : top().lines[top().list.selected()].target; }

bool PageStack::click(int row, int col) {
    if (!area_.contains(row, col)) {
        close();
        return false;
    }
    Page& page = pages_.back();
    const int line = page.list.row_at(row - area_.row - 1);
    return page.chooses && line >= 0 && !page.list.select(line);
}

void PageStack::draw(int rows_below) {
    rows_below_ = rows_below;
    shape();
    const Page& page = top();
    const Canvas canvas = terminal_.popup(area_);
    const int height = canvas.height(), width = canvas.width();
    canvas.frame(accent);
    canvas.put(0, 2, " " + page.title + " ", accent, width - 4);
    const bool more = page.list.top() + height - 2 < page.list.n_rows();
    canvas.put(height - 1, 2,
               joined({more ? more_below : "", page.chooses ? joined({" ", page.enter, " "}) : "", " Esc closes "}), dim,
               width - 4);
    for (int y = 0; y < height - 2; ++y) {
        const int line = page.list.row_at(y);
        if (line < 0) {
            break;
        }
        put_line(canvas, 1 + y, 1, width - 2, width - 2, page.lines[line], page.chooses && line == page.list.selected());
    }
}

} // namespace schedscope::tui
