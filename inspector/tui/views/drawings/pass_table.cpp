#include "inspector/tui/views/drawings/pass_table.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "traces/history/accounts/passes.h"
#include "traces/history/words/words.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

constexpr int pass_label_width = 11, column_width = 11;

} // namespace

void PassTable::update(InspectorSession& session) {
    const PlanState& state = session.state();
    if (state.step == no_step || state.graph < 0) {
        return;
    }
    planned_ = state.planned_in;
    if (const auto known = kept_.find(planned_); known != kept_.end()) {
        passes_ = known->second;
        return;
    }
    passes_ = accounts::passes(session.history(), planned_);
    if (session.history().evaluation(planned_).complete) {
        constexpr size_t most_kept = 256;
        if (kept_.size() >= most_kept) {
            kept_.clear();
        }
        kept_.emplace(planned_, passes_);
    }
}

int PassTable::rows(InspectorSession& session, int body_rows, int) const {
    return session.graph() && !passes_.empty() && body_rows >= 30 ? 4 : 0;
}

std::string PassTable::title(const InspectorSession&) const { return "passes of evaluation " + std::to_string(planned_); }

std::vector<Line> PassTable::draw(InspectorSession& session, int, int height, int width) {
    Cells cells(height, width);
    cells.text(1, 1, "with", dim, pass_label_width);
    cells.text(2, 1, "changed", dim, pass_label_width);
    cells.text(3, 1, session.program() ? "took, held" : "took", dim, pass_label_width); // a step that is looked at takes its time
    const int column = std::clamp((width - pass_label_width) / std::max(n_of(passes_), 1), 9, column_width + 7);
    for (size_t i = 0; i < passes_.size(); ++i) {
        const accounts::PassRow& row = passes_[i];
        const int left = pass_label_width + int_of(i) * column, end = left + column - 1;
        const bool now = row.pass == session.state().pass && planned_ == session.state().evaluation;
        const bool over = row.end != no_step && row.end <= session.step();
        cells.text(0, left, column < 14 ? std::string(pass_name(row.pass)) : words::pass_and_title(row.pass),
                   now ? accent.with_reverse() : bold, end);
        const auto put = [&](int line, const std::string& text, Style style) {
            cells.text(line, left, over ? text : "·", style, end);
        };
        const bool assigns = row.pass < Pass::optimise;
        put(1, assigns ? std::to_string(row.assigned) + "/" + std::to_string(row.assigned + row.unassigned) : "", {});
        std::string changed = assigns || row.changed > 0 ? words::count(row.changed) : "";
        if (row.copies > 0 && text_width(changed) + text_width(words::counted(row.copies, "copy")) + 3 < column) {
            changed += " (" + words::counted(row.copies, "copy") + ")";
        }
        put(2, changed, row.changed > 0 ? Style{} : dim);
        put(3, row.time_ns ? time_text(*row.time_ns) : "?", dim);
    }
    return cells.lines();
}

} // namespace schedscope::tui
