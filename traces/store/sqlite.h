#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

/// As much of SQLite as traces need, with errors as exceptions.
namespace schedscope::sqlite {

/// What SQLite said; `what()` is its own words, without the file's name.
class Failure : public std::runtime_error {
public:
    Failure(int code, const std::string& message) : std::runtime_error(message), code(code) {}
    int code; ///< extended result code
};

class Database;

/// One prepared statement. Columns and parameters count from 0.
class Statement {
public:
    Statement() = default;
    Statement(Database& database, std::string_view sql);

    bool step(); ///< true: there is a row
    void run();  ///< to its end, and ready for the next use
    void reset() noexcept;

    void bind(int parameter, int64_t value);
    void bind(int parameter, double value);
    void bind_null(int parameter);
    /// The bytes must live until the statement is reset. A text that is not UTF-8 is bound as a blob.
    void bind_text(int parameter, std::string_view value);
    void bind_blob(int parameter, std::span<const std::byte> value);

    int n_columns() const noexcept;
    bool is_null(int column) const noexcept;
    std::optional<int64_t> as_integer(int column) const noexcept; ///< none: it is no integer
    int64_t integer(int column) const noexcept;
    double real(int column) const noexcept;            ///< NULL: NaN
    std::string_view bytes(int column) const noexcept; ///< of a text or blob, valid until the next step; anything else: empty
    bool has_bytes(int column) const noexcept;

private:
    void check(int code) const;
    struct Deleter {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    std::unique_ptr<sqlite3_stmt, Deleter> handle_;
    int64_t* operations_ = nullptr; ///< of the database; null: they are not counted
};

class Database {
public:
    enum class Mode { create, edit, read, memory };
    /// file_system: of SQLite's, by name; null: its own for this machine.
    Database(const std::string& path, Mode mode, const char* file_system = nullptr);

    /// From here on a statement that goes on for more than so many operations without having been reset, or while `stop` says so,
    /// fails with SQLITE_INTERRUPT.
    void watch(std::function<bool()> stop, int64_t most_operations);
    void execute(const std::string& sql);
    std::vector<std::byte> bytes(); ///< as a file has them
    sqlite3* handle() const noexcept { return handle_.get(); }
    int64_t* operations() const noexcept; ///< of the statement that runs; null: they are not counted

    struct Closer {
        void operator()(sqlite3* handle) const noexcept;
    };

private:
    struct Watch {
        std::function<bool()> stop;
        int64_t most = 0, operations = 0;
        int between_looks = 0;
    };
    std::unique_ptr<Watch> watch_; ///< goes behind the handle, which calls it
    std::unique_ptr<sqlite3, Closer> handle_;
};

/// A statement ready for use: prepared from `sql()` the first time, reset from then on.
template <typename F> Statement& ready(Statement& statement, Database& database, F&& sql) {
    if (statement.n_columns() == 0) {
        statement = Statement(database, sql());
    }
    statement.reset();
    return statement;
}

[[noreturn]] void fail(sqlite3* handle, int code);

} // namespace schedscope::sqlite
