#include "inspector/tui/views/view.h"

#include "inspector/tui/panes/line_wrap.h"
#include "inspector/tui/terminal/text.h"

#include <algorithm>
#include <cmath>

namespace schedscope::tui {

TensorId View::tensor_of(const InspectorSession& session, int row) const {
    return row_of(session, session.selected()) == row ? session.selected() : own_tensor(session, row);
}

std::optional<double> View::sort_key(InspectorSession& session, int row, size_t column) const {
    const Field field = columns()[column].field;
    if (field == Field::count) {
        return std::nullopt;
    }
    Facts of_row(field);
    facts(session, row, of_row);
    const double number = of_row.number(field);
    return std::isnan(number) ? std::nullopt : std::optional(number);
}

Line line(std::string text, Style style, Target target) {
    Line l;
    l.parts.push_back({std::move(text), style});
    l.target = target;
    return l;
}

std::string bytes_or_unknown(int64_t bytes) { return bytes < 0 ? "?" : words::bytes(bytes); }

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
