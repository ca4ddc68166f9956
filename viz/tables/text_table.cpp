#include "viz/tables/text_table.h"

#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"
#include "runtime/system/utf8.h"
#include "runtime/system/visible_text.h"

#include <algorithm>
#include <ostream>

namespace schedscope {

void TextTable::row(std::vector<std::string> cells) {
    for (std::string& cell : cells) {
        cell = visible(cell);
    }
    rows_.push_back({std::move(cells), {}});
}

void TextTable::note(const std::string& text) { rows_.back().notes.push_back(visible(text)); }

void TextTable::print(std::ostream& out) const {
    std::vector<size_t> widths;
    for (const TextColumn& c : columns_) {
        widths.push_back(count_characters(c.title));
    }
    for (const TextRow& row : rows_) {
        for (size_t i = 0; i < row.cells.size(); ++i) {
            widths[i] = std::max(widths[i], count_characters(row.cells[i]));
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
    for (const TextRow& row : rows_) {
        line([&](size_t i) -> const std::string& { return row.cells[i]; });
        for (const std::string& note : row.notes) {
            out << "    " << note << '\n';
        }
    }
}

namespace tables {
namespace {

std::vector<size_t> shown_columns(const Table& table) {
    std::vector<size_t> shown;
    for (size_t i = 0; i < table.columns().size(); ++i) {
        if (table.columns()[i].is_shown()) {
            shown.push_back(i);
        }
    }
    return shown;
}

TextTable text_table(const Table& table, const std::vector<size_t>& columns) {
    std::vector<TextTable::TextColumn> heads;
    heads.reserve(columns.size());
    for (const size_t i : columns) {
        const Column& column = table.columns()[i];
        heads.push_back({std::string(column.title), is_number(column.unit) ? TextTable::Align::right : TextTable::Align::left});
    }
    return TextTable(std::move(heads));
}

void add_row(TextTable& text, const Table& table, int row, const std::vector<size_t>& columns) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const size_t i : columns) {
        cells.push_back(text_of(table.cell(row, i), table.columns()[i].unit));
    }
    text.row(std::move(cells));
}

void add_inner(TextTable& text, const Column& column, const Table& inner, int most) {
    const int n = std::min(inner.n_rows(), most);
    for (int row = 0; row < n; ++row) {
        text.note(std::string(column.title) + "  " + row_text(inner, row));
    }
    if (inner.n_rows() > n) {
        text.note(words::and_more(inner.n_rows() - n));
    }
}

} // namespace

std::string row_text(const Table& table, int row) {
    std::vector<std::string> cells;
    for (const size_t i : shown_columns(table)) {
        if (std::string said = text_of(table.cell(row, i), table.columns()[i].unit); !said.empty()) {
            cells.push_back(std::move(said));
        }
    }
    return joined(cells, "  ");
}

void print_table(const Table& table, std::ostream& out, int most_inner) {
    if (table.n_rows() == 0) {
        out << table.when_empty() << '\n';
        return;
    }
    std::vector<size_t> columns = shown_columns(table);
    std::erase_if(columns, [&](size_t column) {
        for (int row = 0; row < table.n_rows(); ++row) {
            if (const Cell cell = table.cell(row, column); cell.kind != Cell::Kind::none || cell.text.size() > 1) {
                return false;
            }
        }
        return true;
    });
    TextTable text = text_table(table, columns);
    for (int row = 0; row < table.n_rows(); ++row) {
        add_row(text, table, row, columns);
        for (size_t i = 0; i < table.columns().size(); ++i) {
            if (const Column& column = table.columns()[i]; column.unit == Unit::rows && !column.title.empty()) {
                add_inner(text, column, *table.cell(row, i).rows, most_inner);
            }
        }
    }
    text.print(out);
}

void print_rows(const Table& table, std::span<const int> rows, std::ostream& out) {
    const std::vector<size_t> columns = shown_columns(table);
    TextTable text = text_table(table, columns);
    for (const int row : rows) {
        add_row(text, table, row, columns);
    }
    text.print(out);
}

} // namespace tables
} // namespace schedscope
