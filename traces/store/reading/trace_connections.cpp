#include "traces/store/reading/trace_connections.h"

#include "runtime/error.h"

#include <sqlite3.h>
#include <thread>

namespace schedscope {

bool TraceConnections::has_second() const noexcept {
    // What SQLite writes to work a journal in is one connection's.
    return !alone_ && !first_.file.files->has_journal() && std::thread::hardware_concurrency() > 1;
}

TraceConnection* TraceConnections::open_second() {
    if (!second_) {
        try {
            second_ = std::make_unique<TraceConnection>(open_trace_file(first_.file.files));
        } catch (const Error&) { // too little memory, for one: the first one reads it all
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
