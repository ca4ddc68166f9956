#include "viz/tables/table.h"

#include <algorithm>
#include <cassert>

namespace schedscope::tables {

void Table::add_facts(int row, query::Facts& facts) const {
    if (const std::string_view said = kind(row); !said.empty()) {
        facts.set(query::Field::kind, said);
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
        const query::Field field = columns_[i].field;
        if (field == query::Field::count || !facts.wants(field)) {
            continue;
        }
        const Cell said = cell(row, i);
        if (!query::is_text(field)) {
            if (const std::optional<double> number = order_of(said)) {
                facts.set(field, *number);
            }
        } else if (said.kind != Cell::Kind::none) {
            facts.keep(field, text_of(said, columns_[i].unit));
        }
    }
}

ToldColumns told_columns(const Table& table, bool all) {
    ToldColumns told;
    for (size_t column = 0; column < table.columns().size(); ++column) {
        if (!table.columns()[column].is_shown()) {
            continue;
        }
        int row = 0;
        while (!all && row < table.n_rows() && !(table.is_told(row) && is_told(table.cell(row, column)))) {
            ++row;
        }
        (row > 0 && row == table.n_rows() ? told.unknown : told.shown).push_back(column);
    }
    return told;
}

size_t column_of(const Table& table, std::string_view key) {
    const auto& columns = table.columns();
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.key == key; });
    assert(found != columns.end());
    return found - columns.begin();
}

} // namespace schedscope::tables
