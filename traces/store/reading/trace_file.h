#pragma once

#include "traces/store/reading/trace_files.h"
#include "traces/store/sqlite.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace schedscope {

/// An opened trace: its kind, version and tables were checked, and nothing more.
struct TraceFile {
    std::shared_ptr<TraceFiles> files; ///< outlives the database
    sqlite::Database database;
    std::vector<std::string> notes;

    int64_t bytes() const noexcept { return files->bytes(); } ///< with its journal: a bound for whatever numbers it holds
};

/// Opens a trace for reading. Throws Error(input), one line "PATH: why"; Interrupted, where `stop` says so.
TraceFile open_trace_file(const std::string& path, TraceFiles::Stop stop = {});
/// Once more, through the same files: another connection.
TraceFile open_trace_file(std::shared_ptr<TraceFiles> files);

/// What SQLite said of a file, as Error(input); Interrupted where reading was stopped.
[[noreturn]] void refuse(const TraceFiles& files, const sqlite::Failure& failure);
[[noreturn]] void refuse(const std::string& path, const std::string& why);
/// The same of a trace that was whole once, and may be elsewhere.
[[noreturn]] void refuse_broken(const std::string& path, const std::string& why);

} // namespace schedscope
