#pragma once

#include "traces/format/row_hash.h"
#include "traces/store/sqlite.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The hashes of a trace's rows: kept by who writes it, compared by who reads it.
namespace schedscope {

/// INSERT INTO one table, all columns, that adds what it writes to the table's hash. Each column is bound for each row.
class HashedInsert {
public:
    HashedInsert() = default;
    /// hash: outlives it.
    HashedInsert(sqlite::Database& database, const std::string& table, TableHash& hash);

    /// Of a std::optional or a Known.
    template <typename T>
    requires requires(const T& value) { value.has_value(); }
    void bind(int column, const T& value) { value ? bind(column, static_cast<int64_t>(*value)) : bind_null(column); }
    void bind(int column, int64_t value) {
        row_.add(column, value);
        insert_.bind(column, value);
    }
    void bind(int column, double value) {
        row_.add(column, value);
        insert_.bind(column, value);
    }
    void bind_null(int column) { insert_.bind_null(column); }
    void bind_text(int column, std::string_view value) {
        row_.add(column, value);
        insert_.bind_text(column, value);
    }
    void bind_blob(int column, std::span<const std::byte> value) {
        row_.add(column, {reinterpret_cast<const char*>(value.data()), value.size()});
        insert_.bind_blob(column, value);
    }
    void run() {
        insert_.run();
        hash_->add(std::exchange(row_, {}));
    }

private:
    sqlite::Statement insert_;
    TableHash* hash_ = nullptr;
    RowHash row_;
};

/// Reads a table through.
TableHash hash_of_table(sqlite::Database& database, const std::string& table, const char* where = "");

/// Fills the table `row_hash`: the trace ends here. `hashes`: of every table that has rows, by name.
void write_hashes(sqlite::Database& database, const std::map<std::string, TableHash>& hashes);

/// Reads the whole file through: the tables whose rows are not those that were written. None of a trace that was not closed,
/// for it has no hashes.
std::vector<std::string> changed_tables(sqlite::Database& database);

} // namespace schedscope
