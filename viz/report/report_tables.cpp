#include "viz/report/report_parts.h"
#include "viz/tables/text_table.h"

#include <array>
#include <cmath>

namespace schedscope {

using nlohmann::json;
using tables::Cell;
using tables::Column;
using tables::Unit;

namespace {

/// In the order of Unit.
constexpr std::array unit_names = {"text",   "names", "words", "shape", "bars",    "reals", "backend", "rows", "range",
                                   "number", "count", "bytes", "time",  "percent", "real",  "rough",   "exact"};
static_assert(unit_names.size() == ordinal(Unit::exact) + 1);

json columns_of(const tables::Table& table) {
    json columns = json::array();
    for (const Column& column : table.columns()) {
        columns.push_back({{"key", column.key},
                           {"title", column.title},
                           {"help", column.help},
                           {"unit", unit_names[ordinal(column.unit)]},
                           {"field", column.field == query::Field::count ? "" : query::field_name(column.field)}});
    }
    return columns;
}

} // namespace

void ReportTables::add(const tables::Table& table, json& to) {
    const std::string key(table.key());
    if (!columns_.contains(key)) {
        columns_[key] = columns_of(table);
    }
    json rows = json::array();
    for (int row = 0; row < table.n_rows(); ++row) {
        if (!table.is_told(row)) {
            continue;
        }
        json cells{table.tensor(row), table.first_tensor(row), texts_.number(table.kind(row))};
        for (size_t i = 0; i < table.columns().size(); ++i) {
            cells.push_back(cell(table.cell(row, i), table.columns()[i]));
        }
        rows.push_back(std::move(cells));
    }
    if (rows.empty() && !table.when_empty().empty()) {
        to[key + " when empty"] = texts_.number(table.when_empty());
    }
    to[key] = std::move(rows);
}

json ReportTables::cell(const Cell& cell, const Column& column) {
    if (column.unit == Unit::rows && column.title.empty()) {
        return nullptr; // for people it is in another table
    }
    if (column.unit == Unit::backend && cell.kind == Cell::Kind::text) {
        return cell.backend;
    }
    // What is said otherwise than as its number keeps that to be ordered by: "≥ 10.0 KiB", "3 – 9".
    const bool is_said = !cell.text.empty() && (cell.kind != Cell::Kind::text || cell.place);
    if (const std::optional<double> order = order_of(cell); is_said && order && std::isfinite(*order)) {
        return {{"said", cell.text}, {"by", *order}};
    }
    switch (cell.kind) {
    case Cell::Kind::none: return cell.text.empty() ? json(nullptr) : json(cell.text);
    case Cell::Kind::unknown:
    case Cell::Kind::open: return text_of(cell, column.unit);
    case Cell::Kind::text: return texts_.number(cell.text);
    case Cell::Kind::number: return cell.number;
    case Cell::Kind::real: return cell.real;
    case Cell::Kind::flag: return cell.number != 0;
    case Cell::Kind::list: {
        json list = json::array();
        for (const Cell& element : cell.list) {
            list.push_back(this->cell(element, {}));
        }
        return list;
    }
    case Cell::Kind::rows: {
        json list = json::array();
        for (int row = 0; row < cell.rows->n_rows(); ++row) {
            list.push_back(texts_.number(tables::row_text(*cell.rows, row)));
        }
        return list;
    }
    }
    return nullptr;
}

} // namespace schedscope
