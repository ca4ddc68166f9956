#include "traces/store/connection.h"

#include <sqlite3.h>
#include <utility>

namespace schedscope::sqlite {

namespace {

/// Until the schema was looked at. SQLite reads it with its first statement, and then all of the tables that ANALYZE makes: their
/// columns may be computed, too. Each look at a text so long takes some milliseconds at most; a trace's schema takes some hundred
/// operations.
constexpr int largest_of_schema = 32 << 10;
constexpr int64_t most_of_schema = 2048;
constexpr int largest_of_trace = 64 << 20;

void defend(Database& database) {
    sqlite3* handle = database.handle();
    const auto set = [&](int option, int value) { sqlite3_db_config(handle, option, value, nullptr); };
    set(SQLITE_DBCONFIG_DEFENSIVE, 1);
    set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
    set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
    set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, largest_of_schema);
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 64 << 10);
    sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 64);
    sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 32);
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1); // nothing of ours looks for patterns
    sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1);
    database.execute("PRAGMA locking_mode = EXCLUSIVE"); // before anything is read: the index of a journal then lies in memory
    database.execute("PRAGMA query_only = ON");
    database.execute("PRAGMA trusted_schema = OFF");
    database.execute("PRAGMA cell_size_check = ON");
    database.execute("PRAGMA mmap_size = 0"); // a file that shrinks would be a fault, not an error
    database.execute("PRAGMA cache_size = -6144");
}

} // namespace

Database connect_reader(const std::string& address, const char* file_system, bool rolls_back, std::function<bool()> stop) {
    Database database(address, rolls_back ? Database::Mode::edit : Database::Mode::read, file_system);
    database.watch(std::move(stop), most_of_schema);
    defend(database);
    return database;
}

void expect_rows(Database& reader, std::function<bool()> stop, int64_t file_bytes) {
    sqlite3_limit(reader.handle(), SQLITE_LIMIT_LENGTH, largest_of_trace);
    // No statement of ours looks at a row for more than some dozen operations, and a row has some bytes at least.
    constexpr int64_t most_of_any = 20'000'000, most_of_a_byte = 16;
    reader.watch(std::move(stop), most_of_any + most_of_a_byte * file_bytes);
}

void set_up_writer(Database& writer) {
    writer.execute("PRAGMA cache_size = -4096");
    writer.execute("PRAGMA temp_store = MEMORY");
    writer.execute("PRAGMA synchronous = NORMAL");
    sqlite3_busy_timeout(writer.handle(), 2000); // it may be open in an SQLite shell
}

void begin_journal(Database& writer) {
    writer.execute("PRAGMA journal_mode = WAL");
    writer.execute("PRAGMA wal_autocheckpoint = 4096");
    writer.execute("BEGIN IMMEDIATE; COMMIT"); // which opens the journal
}

} // namespace schedscope::sqlite
