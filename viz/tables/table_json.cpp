#include "viz/tables/table_json.h"

#include <nlohmann/json.hpp>

namespace schedscope::tables {

using nlohmann::json;

json json_of(const Cell& cell) {
    switch (cell.kind) {
    case Cell::Kind::text: return cell.text;
    case Cell::Kind::number: return cell.number;
    case Cell::Kind::real: return cell.real;
    case Cell::Kind::flag: return cell.number != 0;
    case Cell::Kind::list: {
        json list = json::array();
        for (const Cell& element : cell.list) {
            list.push_back(json_of(element));
        }
        return list;
    }
    case Cell::Kind::rows: return json_of(*cell.rows);
    default: return nullptr;
    }
}

json json_of(const Table& table, int row) {
    json object = json::object();
    for (size_t i = 0; i < table.columns().size(); ++i) {
        if (!table.columns()[i].key.empty()) {
            object[std::string(table.columns()[i].key)] = json_of(table.cell(row, i));
        }
    }
    return object;
}

json json_of(const Table& table) {
    json rows = json::array();
    for (int row = 0; row < table.n_rows(); ++row) {
        if (table.is_told(row)) {
            rows.push_back(json_of(table, row));
        }
    }
    return rows;
}

} // namespace schedscope::tables
