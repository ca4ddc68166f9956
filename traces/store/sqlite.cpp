#include "traces/store/sqlite.h"

#include "runtime/numbers.h"
#include "runtime/system/utf8.h"

#include <algorithm>
#include <limits>
#include <sqlite3.h>

namespace schedscope::sqlite {

void fail(sqlite3* handle, int code) {
    const char* text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
    throw Failure(handle != nullptr ? sqlite3_extended_errcode(handle) : code, text);
}

void Database::Closer::operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
void Statement::Deleter::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Database::Database(const std::string& path, Mode mode, const char* file_system) {
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    switch (mode) {
    case Mode::create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE; break;
    case Mode::edit: flags |= SQLITE_OPEN_READWRITE; break;
    case Mode::read: flags |= SQLITE_OPEN_READONLY; break;
    case Mode::memory: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY; break;
    }
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags, file_system);
    handle_.reset(handle);
    if (code != SQLITE_OK) {
        fail(handle, code);
    }
}

std::vector<std::byte> Database::bytes() {
    sqlite3_int64 n = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> found(sqlite3_serialize(handle(), "main", &n, 0), sqlite3_free);
    if (found == nullptr) {
        throw Failure(SQLITE_NOMEM, "out of memory");
    }
    const auto* const first = reinterpret_cast<const std::byte*>(found.get());
    return {first, first + n};
}

int64_t* Database::operations() const noexcept { return watch_ ? &watch_->operations : nullptr; }

void Database::watch(std::function<bool()> stop, int64_t most_operations) {
    constexpr int64_t most_between_looks = 4096;
    if (!watch_) {
        watch_ = std::make_unique<Watch>();
    }
    const auto between_looks = int_of(std::min(most_between_looks, most_operations));
    *watch_ = {std::move(stop), most_operations, 0, between_looks};
    const auto look = [](void* given) {
        auto& watch = *static_cast<Watch*>(given);
        watch.operations += watch.between_looks;
        return watch.operations > watch.most || (watch.stop && watch.stop()) ? 1 : 0;
    };
    sqlite3_progress_handler(handle(), between_looks, look, watch_.get());
}

void Database::execute(const std::string& sql) {
    if (const int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr); code != SQLITE_OK) {
        fail(handle(), code);
    }
}

Statement::Statement(Database& database, std::string_view sql) : operations_(database.operations()) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(database.handle(), sql.data(), n_of(sql), SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    handle_.reset(statement);
    if (code != SQLITE_OK) {
        fail(database.handle(), code);
    }
    reset();
}

void Statement::check(int code) const {
    if (code != SQLITE_OK) {
        fail(sqlite3_db_handle(handle_.get()), code);
    }
}

bool Statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code != SQLITE_DONE) {
        try {
            fail(sqlite3_db_handle(handle_.get()), code);
        } catch (...) {
            reset();
            throw;
        }
    }
    return false;
}

void Statement::run() {
    while (step()) {}
    reset();
}

void Statement::reset() noexcept {
    sqlite3_reset(handle_.get());
    if (operations_ != nullptr) {
        *operations_ = 0;
    }
}

void Statement::bind(int parameter, int64_t value) { check(sqlite3_bind_int64(handle_.get(), parameter + 1, value)); }
void Statement::bind(int parameter, double value) { check(sqlite3_bind_double(handle_.get(), parameter + 1, value)); }
void Statement::bind_null(int parameter) { check(sqlite3_bind_null(handle_.get(), parameter + 1)); }

void Statement::bind_text(int parameter, std::string_view value) {
    const char* data = value.empty() ? "" : value.data(); // a null pointer would be NULL
    check(is_utf8(value) ? sqlite3_bind_text64(handle_.get(), parameter + 1, data, value.size(), SQLITE_STATIC, SQLITE_UTF8)
                         : sqlite3_bind_blob64(handle_.get(), parameter + 1, data, value.size(), SQLITE_STATIC));
}

void Statement::bind_blob(int parameter, std::span<const std::byte> value) {
    const void* data = value.empty() ? static_cast<const void*>("") : value.data();
    check(sqlite3_bind_blob64(handle_.get(), parameter + 1, data, value.size(), SQLITE_STATIC));
}

int Statement::n_columns() const noexcept { return sqlite3_column_count(handle_.get()); }
bool Statement::is_null(int column) const noexcept { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }

// A value's type and content in one look at the column: most of the time of reading a trace goes here. Values of connections
// without mutexes may be used like those that SQLite protects (its documentation of sqlite3_column_value).
std::optional<int64_t> Statement::as_integer(int column) const noexcept {
    sqlite3_value* const value = sqlite3_column_value(handle_.get(), column);
    return sqlite3_value_type(value) == SQLITE_INTEGER ? std::optional<int64_t>(sqlite3_value_int64(value)) : std::nullopt;
}

int64_t Statement::integer(int column) const noexcept { return sqlite3_column_int64(handle_.get(), column); }

double Statement::real(int column) const noexcept {
    return is_null(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(handle_.get(), column);
}

bool Statement::has_bytes(int column) const noexcept {
    const int type = sqlite3_column_type(handle_.get(), column);
    return type == SQLITE_TEXT || type == SQLITE_BLOB;
}

std::string_view Statement::bytes(int column) const noexcept {
    sqlite3_value* const value = sqlite3_column_value(handle_.get(), column);
    const int type = sqlite3_value_type(value);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) {
        return {};
    }
    const void* data = sqlite3_value_blob(value);
    return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), sqlite3_value_bytes(value));
}

} // namespace schedscope::sqlite
