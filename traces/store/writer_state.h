#pragma once

#include "runtime/system/files.h"
#include "runtime/system/output_file.h"
#include "traces/format/interner.h"
#include "traces/store/recording_lock.h"
#include "traces/store/trace_tables.h"
#include "traces/store/writer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <vector>

/// Private to the trace writer: the queue between the runtime's thread and the writer's.
namespace schedscope {

struct GraphToWrite {
    GraphId id = 0;
    OwnedGraph graph;
    KeptAnswers answers;
};

/// What was recorded and not yet written.
struct TraceBatch {
    std::optional<SessionInfo> session; ///< the last: it says all that those before it said
    std::vector<GraphToWrite> graphs;
    std::vector<Record> records;
    struct Part {
        PartRecord record;
        size_t n_times = 0; ///< that lie behind those of the parts before
    };
    std::vector<Part> parts;
    std::vector<KernelSpan> times;
    size_t cost = 0; ///< in records
    bool empty() const { return cost == 0; }
    void clear() {
        session.reset();
        graphs.clear();
        records.clear();
        parts.clear();
        times.clear();
        cost = 0;
    }
};

struct TraceWriter::State {
    static constexpr size_t most_in_batch = 4096;

    State(const std::string& p, const Options& o)
        : path(p), place(without_links(p)), options(o), batch_records(std::clamp<size_t>(o.queue_records, 1, most_in_batch)) {}

    const std::string path;  ///< as it was named
    const std::string place; ///< where that leads
    const Options options;
    const size_t batch_records; ///< the writer is woken for so many
    Recorder* root = nullptr;   ///< numbers the waits; the runtime's thread only
    SessionInfo session;        ///< the last one written; the runtime's thread only
    bool adding_wait = false;   ///< the runtime's thread only

    mutable std::mutex mutex; ///< guards all below
    std::condition_variable work, progress;
    TraceBatch queued;
    Interner texts;
    bool flush = false, stop = false, opened = false;
    bool is_whole = true;              ///< a flush stands behind all that came
    uint64_t taken = 0, committed = 0; ///< batches
    uint64_t wanted = 0;               ///< that is waited for
    int64_t n_evaluations = 0;
    std::optional<std::string> error;
    std::atomic<bool> failed = false;

    std::thread thread;

    // The writer's thread.
    void run();
    void create(std::unique_ptr<sqlite::Database>& database, std::unique_ptr<TraceTables>& tables);
    void write_all(sqlite::Database& database, TraceTables& tables);
    void write(TraceTables& tables, const TraceBatch& batch);
    void commit(sqlite::Database& database);
    void finish(sqlite::Database& database);
    void fail(const std::string& reason);
    bool file_is_there() const; ///< and not another one in its place
    void check_file() const;
    void remove_leftovers() const;

    RecordingLock lock;                ///< held until the database is closed
    FileIdentity file, journal, index; ///< the trace, and what lies beside it while it is written
    bool in_transaction = false;

    // The runtime's thread.
    bool wait_for_room(std::unique_lock<std::mutex>& lock, record::Wait& wait);
};

} // namespace schedscope
