#include "inspector/cli/output/table.h"

#include "runtime/system/utf8.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <ostream>

namespace schedscope {

void Table::row(std::vector<std::string> cells) {
    for (std::string& cell : cells) {
        cell = visible(cell);
    }
    rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out) const {
    std::vector<size_t> widths;
    for (const TableColumn& c : columns_) {
        widths.push_back(count_characters(c.title));
    }
    for (const auto& row : rows_) {
        for (size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], count_characters(row[i]));
        }
    }
    const auto line = [&](auto cell) {
        std::string text;
        for (size_t i = 0; i < columns_.size(); ++i) {
            const std::string& content = cell(i);
            const std::string space(widths[i] - count_characters(content), ' ');
            text += columns_[i].align == Align::right ? space + content : content + space;
            text += "  ";
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out << text << '\n';
    };
    line([&](size_t i) -> const std::string& { return columns_[i].title; });
    for (const auto& row : rows_) {
        line([&](size_t i) -> const std::string& { return row[i]; });
    }
}

} // namespace schedscope
