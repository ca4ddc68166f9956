#include "traces/store/reading/trace_file.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"
#include "traces/format/schema.h"
#include "traces/store/connection.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <sqlite3.h>
#include <string_view>

namespace schedscope {

void refuse(const std::string& path, const std::string& why) { throw Error(ErrorKind::input, path + ": " + why); }

void refuse_broken(const std::string& path, const std::string& why) { refuse(path, why + "; copy or record it again"); }

void refuse(const TraceFiles& files, const sqlite::Failure& failure) {
    const std::string& path = files.path();
    if (files.stopped()) {
        throw Interrupted();
    }
    if (const std::string trouble = files.trouble(); !trouble.empty()) {
        refuse(path, trouble);
    }
    switch (failure.code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: refuse_broken(path, "is damaged");
    case SQLITE_TOOBIG: refuse_broken(path, "is damaged: something in it is larger than traces have");
    case SQLITE_NOMEM: refuse(path, "can't be read: out of memory");
    case SQLITE_FULL: refuse(path, "takes more than " + words::limit(budget::trace_scratch_bytes) + " to sort");
    case SQLITE_INTERRUPT: refuse_broken(path, "is damaged: reading it would not end");
    default: refuse(path, "can't be read: " + visible(failure.what(), 200)); // SQLite names what it found
    }
}

namespace {

/// The first page's beginning, as SQLite's file format has it.
class SqliteHeader {
public:
    explicit SqliteHeader(const TraceFiles& files) : bytes_(files.header()), file_bytes_(files.version().bytes) {}

    void check(const std::string& path) const {
        if (file_bytes_ == 0) {
            refuse(path, "is empty");
        }
        constexpr char magic[] = "SQLite format 3";
        const size_t n = std::min<int64_t>(file_bytes_, sizeof magic);
        if (std::memcmp(bytes_.data(), magic, n) != 0) {
            refuse(path, "is not a trace");
        }
        if (file_bytes_ < std::ssize(bytes_)) {
            refuse_broken(path, "is truncated: only " + std::to_string(file_bytes_) + " bytes are there");
        }
        if (number(68) != schema::application_id) {
            refuse(path, "is an SQLite file, but not a trace");
        }
    }
    void check_size(const std::string& path) const {
        if (expected_size() > file_bytes_) {
            refuse_broken(path, "is truncated: " + std::to_string(file_bytes_) + " of " + std::to_string(expected_size()) +
                                    " bytes are there");
        }
    }

private:
    uint32_t number(size_t at) const {
        return bytes_[at] << 24 | static_cast<uint32_t>(bytes_[at + 1] << 16 | bytes_[at + 2] << 8 | bytes_[at + 3]);
    }
    int64_t page_size() const {
        const int64_t size = bytes_[16] << 8 | bytes_[17];
        return size == 1 ? 65536 : size;
    }
    /// As the header says it; 0 where it says nothing.
    int64_t expected_size() const { return number(24) == number(92) ? page_size() * number(28) : 0; }

    const std::array<unsigned char, 100>& bytes_;
    int64_t file_bytes_;
};

int64_t pragma(sqlite::Database& database, const std::string& name) {
    sqlite::Statement statement(database, "PRAGMA " + name);
    return statement.step() ? statement.integer(0) : 0;
}

std::string version_text(int64_t version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000); }

/// Columns in plain words: names, types, constraints without a formula. A column that is computed when it is read costs what the
/// formula wants.
bool is_plain(std::string_view columns) {
    return std::all_of(columns.begin(), columns.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ' ' || c == ',';
    });
}

/// Is this what our table begins with, and behind it other columns in plain words? One line of columns begins like ours; what is
/// behind was added.
bool is_longer(std::string_view found, std::string_view ours) {
    constexpr std::string_view key = ", PRIMARY KEY (";
    const size_t our_end = std::min(ours.find(key), ours.rfind(')')), its_end = std::min(found.find(key), found.rfind(')'));
    return its_end != std::string_view::npos && its_end >= our_end && found.substr(0, our_end) == ours.substr(0, our_end) &&
           is_plain(found.substr(our_end, its_end - our_end)) && (found.substr(its_end) == ours.substr(our_end));
}

bool is_plain_index(std::string_view sql) {
    const size_t open = sql.find('('), close = sql.rfind(')');
    return open < close && close + 1 == sql.size() && is_plain(sql.substr(open + 1, close - open - 1));
}

/// The tables must be ours. A newer minor version may have more columns; its tables need only have ours. Whatever else there is,
/// is not read, and must be nothing that SQLite computes when it looks at a table of ours.
/// What came later than an older file stands beside it: empty tables, and views of its own with columns that are 0.
void check_schema(const std::string& path, sqlite::Database& database, int64_t version) {
    const bool newer = version > schema::user_version;
    const int64_t minor = version % 1000;
    std::map<std::string, std::string> found;
    sqlite::Statement list(database, "SELECT type, name, sql FROM sqlite_schema");
    while (list.step()) {
        // SQLite goes by what a row's text creates, whatever type the row claims.
        const std::string_view sql = list.bytes(2);
        const auto creates = [sql](std::string_view what) { return sql.starts_with(what); };
        const bool is_index = creates("CREATE INDEX ") || creates("CREATE UNIQUE INDEX ");
        if (list.bytes(0) == "table" && creates("CREATE TABLE ")) {
            found.emplace(list.bytes(1), sql);
        } else if (is_index && !is_plain_index(sql)) {
            refuse_broken(path, "is damaged: the index '" + visible_name(list.bytes(1)) + "' is computed, which no trace's is");
        } else if (!is_index && !sql.empty() && !creates("CREATE VIEW ") && !creates("CREATE TRIGGER ")) { // a key's has no text
            refuse_broken(path, "is damaged: its schema has '" + visible_name(list.bytes(1)) + "', which no trace's has");
        }
    }
    std::string later;
    for (const schema::Entity& table : schema::tables()) {
        const auto at = found.find(table.name);
        if (at == found.end() && minor < table.since_minor) {
            later += "CREATE TEMP TABLE" + table.sql.substr(std::string_view("CREATE TABLE").size()) + ";";
            continue;
        }
        if (at == found.end()) {
            refuse_broken(path, "is damaged: the table '" + table.name + "' is missing");
        }
        const std::string expected = newer ? table.sql : table.sql_of(minor);
        if (at->second != expected && !(newer && is_longer(at->second, expected))) {
            refuse_broken(path, "is damaged: the table '" + table.name + "' is not a trace's");
        }
        std::string lacks;
        for (const schema::Entity::Column& column : table.later) {
            lacks += !newer && minor < column.since_minor ? ", 0 AS " + column.name : "";
        }
        if (!lacks.empty()) {
            later += "CREATE TEMP VIEW " + table.name + " AS SELECT *" + lacks + " FROM main." + table.name + ";";
        }
    }
    if (!later.empty()) {
        database.execute("PRAGMA temp_store = MEMORY; PRAGMA query_only = OFF; " + later + "PRAGMA query_only = ON");
    }
}

/// Its format's version, which must be one that can be read. True: of a newer minor version.
bool check_version(const std::string& path, int64_t version) {
    const int64_t major = version / 1000;
    if (major < schema::major_version) {
        refuse(path, "has format " + version_text(version) + ", and this program reads " + version_text(schema::user_version) +
                         ": record it again (schedscope record, or import for a log)");
    }
    if (major > schema::major_version) {
        refuse(path, "has format " + version_text(version) + ", and this program reads " + version_text(schema::user_version) +
                         ": a newer schedscope reads it");
    }
    return version > schema::user_version;
}

} // namespace

TraceFile open_trace_file(const std::string& path, TraceFiles::Stop stop) {
    return open_trace_file(TraceFiles::open(path, std::move(stop)));
}

TraceFile open_trace_file(std::shared_ptr<TraceFiles> given) {
    const std::shared_ptr<TraceFiles> files = std::move(given);
    const std::string& path = files->path();
    const SqliteHeader header(*files);
    header.check(path);
    const bool recovers = files->has_journal();
    if (!recovers) {
        header.check_size(path);
    }
    try {
        const auto stopped = [files] { return files->stopped(); };
        TraceFile trace{files, sqlite::connect_reader(files->address(), TraceFiles::file_system(), recovers, stopped), {}};
        sqlite::Database& database = trace.database;
        if (pragma(database, "application_id") != schema::application_id) {
            refuse(path, recovers ? "the journal beside it is not its own" : "is an SQLite file, but not a trace");
        }
        const int64_t version = pragma(database, "user_version");
        const bool newer = check_version(path, version);
        if (newer) {
            trace.notes.push_back("was written by a newer program (format " + version_text(version) + "); what it has beyond " +
                                  version_text(schema::user_version) + " is not shown");
        }
        check_schema(path, database, version);
        sqlite::expect_rows(database, stopped, files->bytes());
        return trace;
    } catch (const sqlite::Failure& failure) {
        refuse(*files, failure);
    }
}

} // namespace schedscope
