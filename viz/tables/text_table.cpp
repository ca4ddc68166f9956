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

void add_inner(TextTable& text, const Column& column, const Table& inner, TextHow how) {
    const int n = std::min(inner.n_rows(), how.most_inner);
    for (int row = 0; row < n; ++row) {
        text.note(std::string(column.title) + "  " + row_text(inner, row, how.all));
    }
    if (inner.n_rows() > n) {
        std::string_view noun = inner.key(); // "inputs", "holders"
        noun.remove_suffix(noun.ends_with('s') ? 1 : 0);
        text.note(words::and_more(inner.n_rows() - n, noun));
    }
}

} // namespace

std::string row_text(const Table& table, int row, bool all) {
    std::vector<std::string> cells;
    for (const size_t i : told_columns(table, true).shown) {
        const Cell cell = table.cell(row, i);
        const Column& column = table.columns()[i];
        std::string said = is_told(cell, all) ? text_of(cell, column.unit) : "";
        if (!said.empty()) { // a text behind the first could be of any column, as some have none
            cells.push_back(cells.empty() || is_number(column.unit) ? std::move(said) : joined({column.title, " ", said}));
        }
    }
    return joined(cells, "  ");
}

void print_table(const Table& table, std::ostream& out, TextHow how) {
    if (table.n_rows() == 0) {
        out << table.when_empty() << '\n';
        return;
    }
    const ToldColumns told = told_columns(table, how.all);
    std::vector<size_t> columns = told.shown;
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
        if (!how.all && !table.is_told(row)) {
            continue;
        }
        add_row(text, table, row, columns);
        for (size_t i = 0; i < table.columns().size(); ++i) {
            if (const Column& column = table.columns()[i]; column.unit == Unit::rows && !column.title.empty()) {
                add_inner(text, column, *table.cell(row, i).rows, how);
            }
        }
    }
    text.print(out);
    if (!told.unknown.empty()) {
        out << "not known: " << joined(told.unknown, ", ", [&](size_t i) { return table.columns()[i].title; }) << " (--all)\n";
    }
}

void print_rows(const Table& table, std::span<const int> rows, std::ostream& out) {
    const std::vector<size_t> columns = told_columns(table, true).shown;
    TextTable text = text_table(table, columns);
    for (const int row : rows) {
        add_row(text, table, row, columns);
    }
    text.print(out);
}

} // namespace tables
} // namespace schedscope
