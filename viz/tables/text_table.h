#pragma once

#include "viz/tables/table.h"

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

/// Plain text in columns, for people: as wide as the widest cell (in characters, UTF-8), numbers to the right.
class TextTable {
public:
    enum class Align { left, right };
    struct TextColumn {
        std::string title;
        Align align = Align::left;
    };
    explicit TextTable(std::vector<TextColumn> columns) : columns_(std::move(columns)) {}
    void row(std::vector<std::string> cells); ///< each as `visible` shows it
    void note(const std::string& text);       ///< below the last row
    bool empty() const noexcept { return rows_.empty(); }
    void print(std::ostream& out) const;

private:
    struct TextRow {
        std::vector<std::string> cells;
        std::vector<std::string> notes;
    };
    std::vector<TextColumn> columns_;
    std::vector<TextRow> rows_;
};

namespace tables {

struct TextHow {
    bool all = false;         ///< also columns and cells that say only that something is not known
    int most_inner = 1 << 20; ///< rows of a row
};
/// What people see of a table: columns in which no row has anything are left out, and those that `told_columns` leaves out are
/// named below it; rows of its own stand below the row that has them. A table without rows says why.
void print_table(const Table& table, std::ostream& out, TextHow how = {});
/// A row in one line: "embd  10.0 KiB  from CPU". Texts behind the first have their column's title.
std::string row_text(const Table& table, int row, bool all = false);
/// The same of these rows in this order, each on one line, with all columns.
void print_rows(const Table& table, std::span<const int> rows, std::ostream& out);

} // namespace tables

} // namespace schedscope
