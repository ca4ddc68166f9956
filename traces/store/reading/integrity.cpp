#include "traces/store/reading/integrity.h"

#include "runtime/error.h"
#include "runtime/system/joined.h"
#include "runtime/system/visible_text.h"
#include "traces/format/schema.h"
#include "traces/store/hashed_rows.h"
#include "traces/store/reading/reader.h"
#include "traces/store/reading/trace_file.h"

#include <utility>

namespace schedscope {

std::optional<std::string> check_integrity(const std::string& path, std::stop_token stop) {
    const auto stopped = [stop] { return stop.stop_requested(); };
    try {
        {
            TraceFile file = open_trace_file(path, stopped);
            constexpr int64_t most_of_a_byte = 256; // it looks at every row of a table and its keys in one statement
            file.database.watch(stopped, most_of_a_byte * file.bytes());
            try {
                for (const schema::Entity& table : schema::tables()) { // what others compute is not looked at
                    sqlite::Statement check(file.database, "PRAGMA integrity_check('" + table.name + "')");
                    if (check.step() && check.bytes(0) != "ok") {
                        return path + ": is damaged: " + visible(check.bytes(0), 200);
                    }
                }
            } catch (const sqlite::Failure& failure) {
                refuse(*file.files, failure);
            }
        }
        const TraceReader reader(path, {.stop = stopped, .alone = true});
        reader.for_each(0, reader.n_steps(), [](const Record&) {});
        for (GraphId id = 0; id < reader.n_graphs(); ++id) {
            reader.answers(id);
        }
    } catch (const Interrupted&) { // it was stopped: the answer is not wanted any more
    } catch (const Error& error) {
        return error.what();
    }
    return std::nullopt;
}

std::optional<std::string> find_changes(const std::string& path, std::function<bool()> stop) {
    try {
        TraceFile file = open_trace_file(path, std::move(stop));
        try {
            const std::vector<std::string> changed = changed_tables(file.database);
            if (changed.size() == 1) {
                return path + ": table " + changed.front() + ": changed after it was written";
            }
            if (!changed.empty()) {
                return path + ": tables " + joined(changed, ", ") + ": changed after they were written";
            }
        } catch (const sqlite::Failure& failure) {
            refuse(*file.files, failure);
        }
    } catch (const Interrupted&) { // as above
    } catch (const Error& error) {
        return error.what();
    }
    return std::nullopt;
}

} // namespace schedscope
