#include "traces/store/hashed_rows.h"

#include "traces/format/schema.h"

namespace schedscope {

namespace {

constexpr const char* own_table = "row_hash";
constexpr const char* all_others = " WHERE table_name != 'row_hash'"; ///< its own row is about these

std::string insert_sql(sqlite::Database& database, const std::string& table) {
    const int n_columns = sqlite::Statement(database, "SELECT * FROM " + table).n_columns();
    std::string sql = "INSERT INTO " + table + " VALUES (?";
    for (int i = 1; i < n_columns; ++i) {
        sql += ", ?";
    }
    return sql + ")";
}

} // namespace

HashedInsert::HashedInsert(sqlite::Database& database, const std::string& table, TableHash& hash)
    : insert_(database, insert_sql(database, table)), hash_(&hash) {}

TableHash hash_of_table(sqlite::Database& database, const std::string& table, const char* where) {
    TableHash hash;
    sqlite::Statement rows(database, "SELECT * FROM main." + table + where);
    const int n = rows.n_columns();
    while (rows.step()) {
        RowHash row;
        for (int i = 0; i < n; ++i) {
            if (const auto integer = rows.as_integer(i)) {
                row.add(i, *integer);
            } else if (rows.has_bytes(i)) {
                row.add(i, rows.bytes(i));
            } else {
                row.add(i, rows.real(i)); // NULL is NaN
            }
        }
        hash.add(row);
    }
    return hash;
}

void write_hashes(sqlite::Database& database, const std::map<std::string, TableHash>& hashes) {
    sqlite::Statement insert(database, insert_sql(database, own_table));
    const auto write = [&](const std::string& table, const TableHash& hash) {
        insert.bind_text(0, table);
        insert.bind(1, hash.n_rows);
        insert.bind(2, static_cast<int64_t>(hash.sum));
        insert.run();
    };
    for (const schema::Entity& table : schema::tables()) {
        const auto written = hashes.find(table.name);
        if (table.name != own_table) {
            write(table.name, written == hashes.end() ? TableHash() : written->second); // it may be empty: an import has no model
        }
    }
    write(own_table, hash_of_table(database, own_table, all_others));
}

std::vector<std::string> changed_tables(sqlite::Database& database) {
    std::map<std::string, TableHash, std::less<>> written;
    sqlite::Statement rows(database, std::string("SELECT table_name, n_rows, hash FROM ") + own_table);
    while (rows.step()) {
        written.emplace(rows.bytes(0), TableHash{rows.integer(1), static_cast<uint64_t>(rows.integer(2))});
    }
    if (sqlite::Statement closed(database, "SELECT 1 FROM about WHERE key = 'closed' AND value = 1");
        written.empty() && !closed.step()) {
        return {};
    }
    const auto is_as_written = [&](const std::string& table, const char* where = "") {
        const auto found = written.find(table);
        return found != written.end() && found->second == hash_of_table(database, table, where);
    };
    if (!is_as_written(own_table, all_others)) {
        return {own_table};
    }
    std::vector<std::string> changed;
    for (const schema::Entity& table : schema::tables()) {
        const bool is_older = table.since_minor > 0 && !written.contains(table.name); // than the table is
        if (table.name != own_table && !is_older && !is_as_written(table.name)) {
            changed.push_back(table.name);
        }
    }
    return changed;
}

} // namespace schedscope
