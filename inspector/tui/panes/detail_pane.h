#pragma once

#include "inspector/tui/panes/list_pane.h"
#include "runtime/numbers.h"

#include <vector>

namespace schedscope::tui {

/// The pane on the right: what the view says about the row that is selected in the list, as lines of which one can be opened.
class DetailPane {
public:
    /// Follows the list and the session, if anything changed there; the place that is being read stays. `to_now`: stands at the
    /// line about the present step, if there is one.
    void update(InspectorSession& session, const ListPane& list, const Rect& area, bool to_now);
    /// It has so much room from now on.
    void resize(int height) { lines_.resize(n_of(content_), height); }

    const List& lines() const noexcept { return lines_; }
    void select_line(int line) { lines_.select(line); }
    void stand_at(const List& lines) { lines_ = lines; }
    void scroll(int lines) { lines_.scroll(lines); }
    Target target() const; ///< of the selected line

    void draw(const Canvas& page, InspectorSession& session, const ListPane& list, const Layout& layout, bool focused) const;

private:
    /// What the lines were made of.
    struct Of {
        uint64_t version = 0; ///< of the session
        const View* view = nullptr;
        int row = -1, width = -1;

        bool same_text(const Of& other) const noexcept { return view == other.view && row == other.row && width == other.width; }
    };
    Of of_;
    std::vector<Line> content_;
    List lines_;
};

} // namespace schedscope::tui
