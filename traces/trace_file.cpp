#include "traces/trace_file.h"

#include "runtime/error.h"
#include "traces/private_copy.h"
#include "traces/schema.h"
#include "traces/writer.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <set>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {

void refuse(const std::string& path, const std::string& why) { throw Error(ErrorKind::input, path + ": " + why); }

void refuse(const std::string& path, const sqlite::Failure& failure) {
    switch (failure.code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: refuse(path, "is damaged");
    case SQLITE_TOOBIG: refuse(path, "is damaged: something in it is larger than traces have");
    case SQLITE_NOMEM: refuse(path, "can't be read: out of memory");
    default: refuse(path, std::string("can't be read: ") + failure.what());
    }
}

namespace {

constexpr size_t header_bytes = 100;

struct Header {
    std::array<unsigned char, header_bytes> bytes{};
    int64_t file_size = 0;
    std::array<int64_t, 5> identity{};

    uint32_t number(size_t at) const {
        return static_cast<uint32_t>(bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]);
    }
    /// Written through a journal beside it (the format's read version).
    bool journaled() const { return bytes[19] == 2; }
    int64_t page_size() const {
        const int64_t size = bytes[16] << 8 | bytes[17];
        return size == 1 ? 65536 : size;
    }
    /// As the header says it; 0 where it says nothing.
    int64_t expected_size() const { return number(24) == number(92) ? page_size() * number(28) : 0; }
};

Header read_header(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) {
        refuse(path, errno == ENOENT ? "there is no such file" : std::strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        refuse(path, "is a directory, not a trace");
    }
    if (!S_ISREG(status.st_mode)) {
        refuse(path, "is not a regular file");
    }
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        refuse(path, std::strerror(errno));
    }
    fstat(file, &status);
    Header header;
    header.file_size = status.st_size;
    header.identity = {static_cast<int64_t>(status.st_dev), static_cast<int64_t>(status.st_ino), status.st_size,
                       status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    const ssize_t n = read(file, header.bytes.data(), header_bytes);
    const int error = errno;
    close(file);
    if (n < 0) {
        refuse(path, std::strerror(error));
    }
    if (n == 0) {
        refuse(path, "is empty");
    }
    constexpr char magic[] = "SQLite format 3";
    if (std::memcmp(header.bytes.data(), magic, std::min(static_cast<size_t>(n), sizeof magic)) != 0) {
        refuse(path, "is not a trace");
    }
    if (static_cast<size_t>(n) < header_bytes) {
        refuse(path, "is truncated: only " + std::to_string(n) + " bytes are there");
    }
    if (header.number(68) != static_cast<uint32_t>(schema::application_id)) {
        refuse(path, "is an SQLite file, but not a trace");
    }
    return header;
}

bool has_content(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && status.st_size > 0;
}

void defend(sqlite::Database& database) {
    sqlite3* handle = database.handle();
    const auto set = [&](int option, int value) { sqlite3_db_config(handle, option, value, nullptr); };
    set(SQLITE_DBCONFIG_DEFENSIVE, 1);
    set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
    set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
    set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20);
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 64 << 10);
    sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 64);
    sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 32);
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    database.execute("PRAGMA query_only = ON");
    database.execute("PRAGMA trusted_schema = OFF");
    database.execute("PRAGMA cell_size_check = ON");
    database.execute("PRAGMA mmap_size = 0"); // a file that shrinks would be a fault, not an error
    database.execute("PRAGMA cache_size = -6144");
}

int64_t pragma(sqlite::Database& database, const std::string& name) {
    sqlite::Statement statement(database, "PRAGMA " + name);
    return statement.step() ? statement.integer(0) : 0;
}

std::string version_text(int64_t version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000); }

/// The tables must be those of its version. A newer minor version may have more columns; its tables need only have ours.
void check_schema(const std::string& path, sqlite::Database& database, int minor, bool newer) {
    std::map<std::string, std::string> found;
    sqlite::Statement list(database, "SELECT name, sql FROM sqlite_schema WHERE type = 'table'");
    while (list.step()) {
        found.emplace(list.bytes(0), list.bytes(1));
    }
    for (const schema::Entity& table : schema::tables(minor)) {
        const auto at = found.find(table.name);
        if (at == found.end()) {
            refuse(path, "is damaged: the table '" + table.name + "' is missing");
        }
        if (at->second == table.sql) {
            continue;
        }
        // One line of columns begins like ours; what is behind was added.
        const std::string ours = table.sql.substr(0, table.sql.rfind(')'));
        const bool is_longer = newer && at->second.starts_with(ours.substr(0, ours.find(", PRIMARY KEY")));
        if (!is_longer) {
            refuse(path, "is damaged: the table '" + table.name + "' is not a trace's");
        }
    }
}

/// An older file gets the tables that came later, empty and in memory: whoever reads finds all of them.
void upgrade(sqlite::Database& database, int minor) {
    const std::vector<schema::Entity> lacking = schema::tables_lacking(minor);
    if (lacking.empty()) {
        return;
    }
    database.execute("PRAGMA temp_store = MEMORY; PRAGMA query_only = OFF");
    for (const schema::Entity& table : lacking) {
        constexpr std::string_view create = "CREATE ";
        database.execute("CREATE TEMP " + table.sql.substr(create.size()));
    }
    database.execute("PRAGMA query_only = ON");
}

} // namespace

int64_t TraceFile::size() { return pragma(database, "page_count") * pragma(database, "page_size"); }

TraceFile open_trace_file(const std::string& path) {
    const Header header = read_header(path);
    try {
        std::vector<std::string> notes;
        const bool recovers = (header.journaled() && has_content(path + "-wal")) || has_content(path + "-journal");
        if (!recovers && header.expected_size() > header.file_size) {
            refuse(path, "is truncated: " + std::to_string(header.file_size) + " of " + std::to_string(header.expected_size()) +
                             " bytes are there");
        }
        TraceFile trace{recovers ? open_private_copy(path) : sqlite::Database(path, sqlite::Database::Mode::read_immutable),
                        {},
                        0,
                        recovers,
                        header.identity};
        sqlite::Database& database = trace.database;
        defend(database);
        if (pragma(database, "application_id") != schema::application_id) {
            refuse(path, "is an SQLite file, but not a trace");
        }
        const int64_t version = pragma(database, "user_version");
        if (version / 1000 != schema::major_version) {
            refuse(path, "has format " + version_text(version) + "; this program reads " + version_text(schema::user_version));
        }
        const bool newer = version > schema::user_version;
        if (newer) {
            trace.notes.push_back("was written by a newer program (format " + version_text(version) + "); what it has beyond " +
                                  version_text(schema::user_version) + " is not shown");
        }
        trace.minor = static_cast<int>(version % 1000);
        check_schema(path, database, trace.minor, newer);
        upgrade(database, trace.minor);
        if (recovers) {
            trace.notes.push_back("was not closed; what had been committed is shown");
        }
        return trace;
    } catch (const sqlite::Failure& failure) {
        refuse(path, failure);
    }
}

} // namespace schedscope
