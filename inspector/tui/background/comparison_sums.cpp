#include "inspector/tui/background/comparison_sums.h"

#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace schedscope::tui {
namespace {

const Comparison::ComparedPlan* plan_of(const InspectorSession& session, const Comparison& c) {
    if (c.plans.empty()) {
        return nullptr;
    }
    const auto here = std::find_if(c.plans.begin(), c.plans.end(), [&](const Comparison::ComparedPlan& plan) {
        return plan.evaluation == session.state().planned_in;
    });
    if (here != c.plans.end()) {
        return &*here;
    }
    return session.state().planned_in == c.left_out ? &c.plans.back() : &c.plans.front(); // the newest one in its place
}

int columns_in(int width) { return std::clamp(width / 76, 1, 3); }

/// What is bad and what differs first: there may not be room for all.
std::vector<const Comparison::Figure*> shown(const Comparison& c, const Comparison::ComparedPlan& plan) {
    std::vector<const Comparison::Figure*> figures;
    for (const Comparison::Figure& setting : c.settings) {
        figures.push_back(&setting);
    }
    for (const Comparison::Figure& figure : plan.figures) {
        figures.push_back(&figure);
    }
    std::stable_sort(figures.begin(), figures.end(), [](const Comparison::Figure* a, const Comparison::Figure* b) {
        return std::tuple(!a->bad, !a->differs(), !a->verdict) < std::tuple(!b->bad, !b->differs(), !b->verdict);
    });
    return figures;
}

} // namespace

int ComparisonSums::rows(InspectorSession& session, int body_rows, int width) const {
    const auto& result = session.comparison().result();
    const Comparison::ComparedPlan* const plan = result ? plan_of(session, *result) : nullptr;
    if (!plan) {
        return 0;
    }
    const int columns = columns_in(width);
    const int lines = int_of((shown(*result, *plan).size() + columns - 1) / columns) + 1;
    return std::min(lines, std::max(body_rows - 9, 4));
}

std::string ComparisonSums::title(const InspectorSession& session) const {
    const auto& result = session.comparison().result();
    const Comparison::ComparedPlan* const plan = result ? plan_of(session, *result) : nullptr;
    return plan ? joined({plan->title, ": ", result->title}) : "";
}

std::vector<Line> ComparisonSums::draw(InspectorSession& session, int, int height, int width) {
    Cells cells(height, width);
    const Comparison& c = *session.comparison().result();
    const std::vector<const Comparison::Figure*> figures = shown(c, *plan_of(session, c));
    const int columns = columns_in(width), each = width / columns;
    const size_t room = std::max(height - 1, 0);
    // Name, then both sides: what differs has a mark, and is bold.
    const int name_width = std::min(26, each * 2 / 7), value_width = (each - name_width - 3) / 2;
    for (int column = 0; column < columns; ++column) {
        const int left = column * each + 2;
        cells.text(0, left + name_width, shortened_name(c.left, value_width - 1), dim);
        cells.text(0, left + name_width + value_width, shortened_name(c.right, value_width - 1), dim);
    }
    const size_t places = room * columns;
    const size_t n = figures.size() <= places ? figures.size() : std::max<size_t>(places, 1) - 1; // the last place says the rest
    const auto left_of = [&](size_t i) { return int_of(i / std::max<size_t>(room, 1)) * each + 2; };
    const auto row_of = [&](size_t i) { return 1 + int_of(i % std::max<size_t>(room, 1)); };
    for (size_t i = 0; i < n; ++i) {
        const Comparison::Figure& figure = *figures[i];
        const int left = left_of(i), row = row_of(i);
        const Style style = figure.differs() ? bold : dim;
        cells.text(row, left - 2, figure.differs() ? "•" : " ", accent, left);
        cells.text(row, left, shortened_name(figure.name, name_width - 1), figure.differs() ? plain : dim);
        const std::string before_all = figure.left.empty() ? "-" : figure.left,
                          after_all = figure.right.empty() ? "-" : figure.right;
        const auto [before, after] =
            figure.verdict ? std::pair(before_all, after_all) : shortened_pair(before_all, after_all, value_width - 1);
        const auto fitting = [&](const std::string& text, const std::string& brief) {
            return text_width(text) >= value_width && !brief.empty() ? brief : text;
        };
        cells.text(row, left + name_width, fitting(before, figure.left_brief), figure.differs() ? plain : dim,
                   left + name_width + value_width - 1);
        cells.text(row, left + name_width + value_width, fitting(after, figure.brief), figure.bad ? bad : style,
                   left + name_width + 2 * value_width);
    }
    if (n < figures.size() && places > 0) {
        const auto name = [](const Comparison::Figure* figure) { return figure->name; };
        cells.text(row_of(n), left_of(n),
                   shortened(joined({words::and_more(n_of(figures) - int_of(n)), ": in the details (",
                                     joined(std::span(figures).subspan(n), ", ", name), ")"}),
                             each - 2),
                   dim);
    }
    return cells.lines();
}

} // namespace schedscope::tui
