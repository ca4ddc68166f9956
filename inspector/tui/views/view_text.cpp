#include "inspector/tui/views/view_text.h"

#include "inspector/tui/terminal/text.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

void append_line(std::string& text, std::string line) {
    while (line.ends_with(' ')) {
        line.pop_back();
    }
    text += line + "\n";
}

} // namespace

std::string list_text(InspectorSession& session, const View& view, std::span<const int> rows) {
    constexpr int wide = 60; // for those that draw in the width they get
    const std::span<const Column> columns = view.columns();
    std::vector<std::vector<std::string>> table(1);
    for (const Column& column : columns) {
        table.front().emplace_back(column.title);
    }
    for (const int row : rows) {
        std::vector<std::string>& cells = table.emplace_back();
        for (const Text& cell : view.row(session, row, wide)) {
            cells.push_back(to_utf8(printable(cell.text)));
        }
        cells.resize(columns.size());
    }
    std::vector<int> widths(columns.size());
    for (const auto& cells : table) {
        for (size_t i = 0; i < cells.size(); ++i) {
            widths[i] = std::max(widths[i], text_width(cells[i]));
        }
    }
    std::string text;
    for (const auto& cells : table) {
        std::string line;
        for (size_t i = 0; i < cells.size(); ++i) {
            const std::string space(widths[i] - text_width(cells[i]), ' ');
            line += (i == 0 ? "" : "  ") + (columns[i].right ? space + cells[i] : cells[i] + space);
        }
        append_line(text, std::move(line));
    }
    return text;
}

std::string lines_text(std::span<const Line> lines) {
    std::string text;
    for (const Line& line : lines) {
        std::string whole;
        for (const Text& part : line.parts) {
            whole += to_utf8(printable(part.text));
        }
        append_line(text, std::move(whole));
    }
    return text;
}

} // namespace schedscope::tui
