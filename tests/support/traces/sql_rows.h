#pragma once

#include "traces/store/sqlite.h"

#include <string>
#include <vector>

namespace schedscope::test {

/// What a query finds in a trace: each row as its columns with spaces between, NULL as "-".
inline std::vector<std::string> sql_rows(const std::string& path, const std::string& sql) {
    sqlite::Database database(path, sqlite::Database::Mode::read);
    sqlite::Statement statement(database, sql);
    std::vector<std::string> found;
    while (statement.step()) {
        std::string row;
        for (int i = 0; i < statement.n_columns(); ++i) {
            const auto number = statement.as_integer(i);
            row += (i > 0 ? " " : "") + (number                 ? std::to_string(*number)
                                         : statement.is_null(i) ? "-"
                                                                : std::string(statement.bytes(i)));
        }
        found.push_back(row);
    }
    return found;
}

} // namespace schedscope::test
