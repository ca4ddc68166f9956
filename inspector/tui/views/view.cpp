#include "inspector/tui/views/view.h"

#include "inspector/tui/panes/line_wrap.h"
#include "inspector/tui/terminal/text.h"

#include <algorithm>
#include <cmath>

namespace schedscope::tui {

TensorId View::tensor_of(const InspectorSession& session, int row) const {
    return row_of(session, session.selected()) == row ? session.selected() : own_tensor(session, row);
}

Text View::text(const InspectorSession& session, const tables::Column& column, const tables::Cell& cell) {
    const bool in_colour = cell.backend != no_backend || column.unit == tables::Unit::backend;
    constexpr Style styles[] = {plain, dim, bold, warning, bad};
    const tables::Tone tone = cell.tone == tables::Tone::plain ? column.tone : cell.tone;
    return {tables::text_of(cell, column.unit),
            in_colour ? backend_style(cell.backend, session.n_backends()) : styles[ordinal(tone)]};
}

void View::facts(InspectorSession& session, int row, Facts& facts) const {
    if (const TensorId id = own_tensor(session, row); id != no_tensor) {
        session.describer().tensor(session.state(), id, facts);
    } else {
        facts.clear();
        facts.set(Field::evaluation, session.state().evaluation);
        if (const TensorId first = table().first_tensor(row); first != no_tensor) {
            session.describer().about(session.state().evaluation, session.step(), first, facts);
            facts.keep(Field::name, session.name(first));
        }
    }
    table().add_facts(row, facts);
}

Line line(std::string text, Style style, Target target) {
    Line l;
    l.parts.push_back({std::move(text), style});
    l.target = target;
    return l;
}

Text backend_text(const InspectorSession& session, BackendId id) {
    return {session.backend_name(id), backend_style(id, session.n_backends())};
}

int backend_width(const InspectorSession& session) {
    int width = 7;
    for (BackendId id = 0; id < session.n_backends(); ++id) {
        width = std::max(width, text_width(session.backend_name(id)));
    }
    return std::min(width, 12);
}

std::string lines_text(std::span<const Line> lines) {
    std::string text;
    for (const Line& line : lines) {
        std::string whole;
        for (const Text& part : line.parts) {
            whole += to_utf8(printable(part.text));
        }
        whole.erase(whole.find_last_not_of(' ') + 1);
        text += whole + "\n";
    }
    return text;
}

void add_heading(std::vector<Line>& lines, std::string text) {
    if (!lines.empty()) {
        lines.push_back({});
    }
    lines.push_back(line(std::move(text), bold));
}

void add_wrapped(std::vector<Line>& lines, int width, std::string_view label, int label_width, std::string_view text, Style style,
                 Target target, bool now) {
    Line l;
    l.target = target;
    l.now = now;
    l.hang = label_width;
    l.parts.push_back({label_width > 0 ? padded(std::string(label), label_width) : std::string(label), now ? bold : dim});
    l.parts.push_back({std::string(text), style});
    add_line(lines, std::move(l), width);
}

} // namespace schedscope::tui
