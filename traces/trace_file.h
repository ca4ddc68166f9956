#pragma once

#include "traces/sqlite.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace schedscope {

/// An opened trace: its kind, version and tables were checked, and nothing more.
struct TraceFile {
    sqlite::Database database;
    std::vector<std::string> notes;
    int minor = 0;                     ///< of its format: what tables have
    bool is_copy = false;              ///< what is read is a private copy
    std::array<int64_t, 5> identity{}; ///< of the file at the path: another one than before when that was replaced or written to

    int64_t size(); ///< bytes, with what a journal has
};

/// Opens a trace for reading, from a private copy where a journal lies beside it. Throws Error(input), one line "PATH: why".
TraceFile open_trace_file(const std::string& path);

/// What SQLite said of a file, as Error(input).
[[noreturn]] void refuse(const std::string& path, const sqlite::Failure& failure);
[[noreturn]] void refuse(const std::string& path, const std::string& why);

} // namespace schedscope
