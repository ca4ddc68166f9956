// Reading a whole trace through, for a thread in the background.

#include "runtime/error.h"
#include "traces/reader.h"
#include "traces/trace_file.h"

#include <algorithm>
#include <sqlite3.h>

namespace schedscope {

namespace {

int stop_wanted(void* stop) { return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0; }

} // namespace

std::optional<std::string> check_integrity(const std::string& path, std::stop_token stop) {
    try {
        {
            TraceFile file = open_trace_file(path);
            constexpr int operations_between_looks = 10000;
            sqlite3_progress_handler(file.database.handle(), operations_between_looks, stop_wanted, &stop);
            sqlite::Statement check(file.database, "PRAGMA integrity_check(1)");
            if (check.step() && check.bytes(0) != "ok") {
                return path + ": is damaged: " + std::string(check.bytes(0));
            }
        }
        const TraceReader reader(path, TraceReader::Where::background);
        reader.for_each(0, reader.n_steps(), [&](const Record&) { return !stop.stop_requested(); });
        for (GraphId id = 0; id < reader.n_graphs() && !stop.stop_requested(); ++id) {
            reader.answers(id);
        }
    } catch (const sqlite::Failure& failure) {
        return stop.stop_requested() ? std::nullopt : std::optional(path + ": is damaged: " + failure.what());
    } catch (const Error& error) {
        return error.what();
    }
    return std::nullopt;
}

} // namespace schedscope
