#include "traces/trace_connections.h"

#include "runtime/error.h"

#include <sqlite3.h>
#include <thread>

namespace schedscope {

bool TraceConnections::has_second() const noexcept {
    // Of a trace that is still written, another copy would have more.
    return !alone_ && !first_.file.is_copy && std::thread::hardware_concurrency() > 1;
}

TraceConnection* TraceConnections::open_second() {
    if (!second_) {
        try {
            auto opened = std::make_unique<TraceConnection>(path_);
            if (!opened->file.is_copy && opened->file.identity == first_.file.identity) {
                second_ = std::move(opened);
            }
        } catch (const Error&) { // it was moved away, or there are too many open files: the first one still reads it
        }
        alone_ = !second_;
    }
    return second_.get();
}

int64_t TraceConnections::pages_read() {
    int64_t sum = 0;
    for (TraceConnection* const connection : {&first_, second_.get()}) {
        int now = 0, most = 0;
        if (connection != nullptr) {
            sqlite3_db_status(connection->file.database.handle(), SQLITE_DBSTATUS_CACHE_MISS, &now, &most, 0);
        }
        sum += now;
    }
    return sum;
}

} // namespace schedscope
