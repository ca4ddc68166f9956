// A sound trace with some of its cells changed, rows taken away or doubled, and its schema altered: as somebody with an SQL tool
// would. An input is one byte for who looks at it, then a list of edits:
//
//     operation, table, column, row (2 bytes), what the value is, the value (up to 8 bytes, as the kind wants it)

#include "tests/fuzz/small_trace.h"
#include "tests/fuzz/trace_look.h"
#include "traces/format/schema.h"
#include "traces/store/sqlite.h"

#include <fuzzer/FuzzedDataProvider.h>
#include <map>
#include <memory>
#include <sqlite3.h>

namespace schedscope::fuzz {

namespace {

struct CellTable {
    std::string name, key; ///< key: the columns that tell its rows apart
    std::vector<std::string> columns;
    int64_t n_rows = 0;
};

/// The sound trace in memory, which every input begins with.
class Base {
public:
    Base() : database_(":memory:", sqlite::Database::Mode::memory) {
        const std::string path = scratch_folder() + "/base";
        write_bytes(path, small_trace());
        sqlite::Database file(path, sqlite::Database::Mode::read);
        database_.execute("PRAGMA page_size = 512");
        sqlite3_backup* const copy = sqlite3_backup_init(database_.handle(), "main", file.handle(), "main");
        sqlite3_backup_step(copy, -1);
        sqlite3_backup_finish(copy);
        for (const schema::Entity& entity : schema::tables()) {
            CellTable table{entity.name, "", {}, 0};
            sqlite::Statement info(database_, "SELECT name, pk FROM pragma_table_info('" + entity.name + "')");
            while (info.step()) {
                table.columns.emplace_back(info.bytes(0));
                if (info.integer(1) > 0) {
                    table.key += (table.key.empty() ? "" : ", ") + table.columns.back();
                }
            }
            sqlite::Statement count(database_, "SELECT count(*) FROM " + entity.name);
            count.step();
            table.n_rows = count.integer(0);
            if (table.n_rows > 0) {
                tables_.push_back(std::move(table));
            }
        }
    }

    /// The file's bytes after the edits of an input.
    std::string edited(FuzzedDataProvider& input) {
        database_.execute("BEGIN");
        constexpr int most_edits = 8;
        for (int i = 0; i < most_edits && input.remaining_bytes() > 0; ++i) {
            try {
                edit(input);
            } catch (const sqlite::Failure&) { // the schema itself refuses
            }
        }
        sqlite3_int64 n = 0;
        unsigned char* const bytes = sqlite3_serialize(database_.handle(), "main", &n, 0);
        std::string file(reinterpret_cast<const char*>(bytes), bytes == nullptr ? 0 : static_cast<size_t>(n));
        sqlite3_free(bytes);
        database_.execute("ROLLBACK");
        return file;
    }

private:
    enum class Operation : uint8_t { set, set_again, take_away, copy, exchange, alter, kMaxValue = alter };

    void edit(FuzzedDataProvider& input) {
        const auto operation = input.ConsumeEnum<Operation>();
        const CellTable& table = tables_[input.ConsumeIntegral<uint8_t>() % tables_.size()];
        const std::string& column = table.columns[input.ConsumeIntegral<uint8_t>() % table.columns.size()];
        const int64_t row = input.ConsumeIntegral<uint16_t>() % table.n_rows;
        const std::string at =
            "(" + table.key + ") = (SELECT " + table.key + " FROM " + table.name + " LIMIT 1 OFFSET " + std::to_string(row) + ")";
        switch (operation) {
        case Operation::set:
        case Operation::set_again: {
            sqlite::Statement update(database_, "UPDATE " + table.name + " SET " + column + " = ? WHERE " + at);
            bind(update, input);
            update.run();
            break;
        }
        case Operation::take_away: database_.execute("DELETE FROM " + table.name + " WHERE " + at); break;
        case Operation::copy: {
            std::string list;
            for (const std::string& c : table.columns) {
                list += (list.empty() ? "" : ", ") + (c == column ? std::string("?") : c);
            }
            sqlite::Statement insert(database_,
                                     "INSERT INTO " + table.name + " SELECT " + list + " FROM " + table.name + " WHERE " + at);
            bind(insert, input);
            insert.run();
            break;
        }
        case Operation::exchange:
            database_.execute("UPDATE " + table.name + " SET " + column + " = (SELECT " + column + " FROM " + table.name +
                              " LIMIT 1 OFFSET " + std::to_string(input.ConsumeIntegral<uint16_t>() % table.n_rows) + ") WHERE " +
                              at);
            break;
        case Operation::alter: alter(table.name, column, input); break;
        }
    }

    /// What a row's value becomes: numbers near what decides, and what is no number.
    void bind(sqlite::Statement& statement, FuzzedDataProvider& input) {
        switch (input.ConsumeIntegralInRange<int>(0, 7)) {
        case 0: statement.bind(0, input.ConsumeIntegralInRange<int64_t>(-2, 16)); break;
        case 1: statement.bind(0, int64_t{input.ConsumeIntegral<uint8_t>()}); break;
        case 2: { // around a power of two
            const uint64_t power = uint64_t{1} << (input.ConsumeIntegral<uint8_t>() % 64);
            statement.bind(0, static_cast<int64_t>(power - 1 + input.ConsumeIntegralInRange<uint64_t>(0, 2)));
            break;
        }
        case 3: statement.bind(0, input.ConsumeIntegral<int64_t>()); break;
        case 4: statement.bind(0, input.ConsumeFloatingPoint<double>()); break;
        case 5: statement.bind_null(0); break;
        case 6: statement.bind_text(0, text_ = input.ConsumeRandomLengthString(40)); break;
        case 7: statement.bind_blob(0, std::as_bytes(std::span(text_ = input.ConsumeRandomLengthString(200)))); break;
        }
    }

    void alter(const std::string& table, const std::string& column, FuzzedDataProvider& input) {
        switch (input.ConsumeIntegralInRange<int>(0, 9)) {
        case 0: database_.execute("PRAGMA user_version = " + std::to_string(schema::user_version + 1)); break;
        case 1: database_.execute("PRAGMA user_version = " + std::to_string(input.ConsumeIntegralInRange<int>(0, 6000))); break;
        case 2: database_.execute("ALTER TABLE " + table + " ADD COLUMN more INTEGER"); break;
        case 3:
            database_.execute("PRAGMA user_version = 4999; ALTER TABLE " + table +
                              " ADD COLUMN more AS (zeroblob(60000000)) STORED");
            break;
        case 4:
            database_.execute("PRAGMA user_version = 4999; ALTER TABLE " + table + " ADD COLUMN more AS (zeroblob(60000000))");
            break;
        case 5: database_.execute("CREATE INDEX more ON " + table + " (" + column + ")"); break;
        case 6: database_.execute("CREATE INDEX more ON " + table + " (length(zeroblob(60000000)))"); break;
        case 7: database_.execute("DROP TABLE " + table); break;
        case 8: database_.execute("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO other"); break;
        case 9: database_.execute("DROP TABLE " + table + "; CREATE VIEW " + table + " AS SELECT 1 AS step"); break;
        }
    }

    sqlite::Database database_;
    std::vector<CellTable> tables_;
    std::string text_;
};

} // namespace

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    schedscope::fuzz::give_sqlite_plain_memory();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace schedscope::fuzz;
    static Base base;
    static const NamedMemoryFile file;
    FuzzedDataProvider input(data, size);
    input.ConsumeIntegral<uint8_t>(); // who looks at it
    file.put(base.edited(input));
    look_at_trace(file.path(), {reinterpret_cast<const char*>(data), size});
    return 0;
}
