#include "traces/writer.h"

#include "runtime/error.h"
#include "traces/interner.h"
#include "traces/trace_tables.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace schedscope {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto longest_uncommitted = std::chrono::milliseconds(200); // writing what is queued takes a few more
constexpr auto shortest_between_commits = std::chrono::milliseconds(10);
constexpr size_t most_in_batch = 4096;
constexpr size_t records_per_tensor = 4; ///< what a tensor of a graph takes in the queue, in records

/// The path's file, as the system knows it.
struct FileIdentity {
    dev_t device = 0;
    ino_t number = 0;

    static std::optional<FileIdentity> of(const std::string& path) {
        struct stat status {};
        if (stat(path.c_str(), &status) != 0) {
            return std::nullopt;
        }
        return FileIdentity{status.st_dev, status.st_ino};
    }
    bool operator==(const FileIdentity&) const = default;
};

std::string why(const sqlite::Failure& failure, sqlite3* handle) {
    switch (failure.code & 0xFF) {
    case SQLITE_FULL: return "no space left on the device";
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (const int number = handle != nullptr ? sqlite3_system_errno(handle) : 0; number != 0) {
            return std::strerror(number);
        }
        return failure.what();
    default: return failure.what();
    }
}

struct GraphToWrite {
    GraphId id = 0;
    OwnedGraph graph;
    KeptAnswers answers;
};

/// What was recorded and not yet written.
struct Batch {
    std::vector<SessionInfo> sessions;
    std::vector<GraphToWrite> graphs;
    std::vector<Record> records;
    size_t cost = 0; ///< in records
    bool empty() const { return cost == 0; }
    void clear() {
        sessions.clear();
        graphs.clear();
        records.clear();
        cost = 0;
    }
};

} // namespace

struct TraceWriter::State {
    State(const std::string& p, const Options& o)
        : path(p), options(o), batch_records(std::clamp<size_t>(o.queue_records, 1, most_in_batch)) {}

    const std::string path;
    const Options options;
    const size_t batch_records; ///< the writer is woken for so many
    Recorder* root = nullptr;   ///< numbers the waits; the runtime's thread only
    SessionInfo session;        ///< the last one written; the runtime's thread only
    bool adding_wait = false;   ///< the runtime's thread only

    mutable std::mutex mutex; ///< guards all below
    std::condition_variable work, progress;
    Batch queued;
    Interner texts;
    bool flush = false, stop = false, opened = false;
    int waiting_for_commit = 0;
    uint64_t taken = 0, committed = 0; ///< batches
    std::optional<std::string> error;
    std::atomic<bool> failed = false;

    std::thread thread;

    // The writer's thread.
    void run();
    void create(std::unique_ptr<sqlite::Database>& database, std::unique_ptr<TraceTables>& tables);
    void write_all(sqlite::Database& database, TraceTables& tables);
    void write(TraceTables& tables, const Batch& batch);
    void commit(sqlite::Database& database);
    void finish(sqlite::Database& database);
    void fail(const std::string& reason);

    FileIdentity file;
    bool in_transaction = false;

    // The runtime's thread.
    bool wait_for_room(std::unique_lock<std::mutex>& lock, record::Wait& wait);
};

void TraceWriter::State::fail(const std::string& reason) {
    const std::lock_guard lock(mutex);
    if (!error) {
        error = path + ": " + reason;
    }
    failed = true;
    queued.clear();
    progress.notify_all();
}

void TraceWriter::State::create(std::unique_ptr<sqlite::Database>& database, std::unique_ptr<TraceTables>& tables) {
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
        throw sqlite::Failure(0, "is not a regular file");
    }
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
        if (unlink((path + suffix).c_str()) != 0 && errno != ENOENT) {
            throw sqlite::Failure(0, std::string("can't be replaced: ") + std::strerror(errno));
        }
    }
    database = std::make_unique<sqlite::Database>(path, sqlite::Database::Mode::create);
    database->execute("PRAGMA cache_size = -16384");
    database->execute("PRAGMA temp_store = MEMORY");
    database->execute("PRAGMA synchronous = NORMAL");
    sqlite3_busy_timeout(database->handle(), 2000); // somebody may look at it with an SQLite shell
    tables = std::make_unique<TraceTables>(*database, options.texts, [this](StringId id) {
        const std::lock_guard lock(mutex);
        return texts.contains(id) ? std::string(texts.text(id)) : std::string();
    });
    // From here on each commit is an append to the journal beside the file, which is whole after a kill at any moment.
    database->execute("PRAGMA journal_mode = WAL");
    database->execute("PRAGMA wal_autocheckpoint = 4096");
    file = FileIdentity::of(path).value_or(FileIdentity{});
}

void TraceWriter::State::run() {
    // Signals are for the threads of the program. One is caused by writing itself: SIGXFSZ, where files may not grow any more; blocked, it is an error of
    // the write like any other.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);

    std::unique_ptr<sqlite::Database> database;
    std::unique_ptr<TraceTables> tables;
    const auto handle = [&] { return database ? database->handle() : nullptr; };
    try {
        create(database, tables);
        {
            const std::lock_guard lock(mutex);
            opened = true;
            progress.notify_all();
        }
        write_all(*database, *tables);
        tables->closed();
        tables.reset(); // open statements would keep the journal in use
        finish(*database);
    } catch (const sqlite::Failure& failure) {
        fail(why(failure, handle()));
    } catch (const std::exception& failure) {
        fail(failure.what());
    }
    // An open transaction is rolled back by closing; what was committed stays, in the file or in the journal beside it.
    tables.reset();
    database.reset();
}

void TraceWriter::State::write_all(sqlite::Database& database, TraceTables& tables) {
    Batch batch;
    auto due = Clock::time_point::max(); ///< when the open transaction must be committed
    auto last_commit = Clock::time_point{};
    for (;;) {
        bool commit_now = false, last = false;
        {
            std::unique_lock lock(mutex);
            const auto urgent = [&] { return stop || waiting_for_commit > 0 || flush || queued.cost >= batch_records; };
            if (due == Clock::time_point::max()) {
                work.wait(lock, [&] { return urgent() || !queued.empty(); });
                due = Clock::now() + longest_uncommitted;
            }
            work.wait_until(lock, due, urgent);
            if (flush) {
                flush = false;
                due = std::min(due, std::max(Clock::now(), last_commit + shortest_between_commits));
            }
            commit_now = stop || waiting_for_commit > 0 || Clock::now() >= due;
            last = stop;
            if (!commit_now && queued.cost < batch_records) {
                continue;
            }
            std::swap(batch, queued);
            ++taken;
        }
        progress.notify_all(); // there is room again
        if (!batch.empty() && !in_transaction) {
            database.execute("BEGIN");
            in_transaction = true;
        }
        write(tables, batch);
        batch.clear();
        if (commit_now) {
            if (in_transaction) {
                commit(database);
            }
            last_commit = Clock::now();
            due = Clock::time_point::max();
            const std::lock_guard lock(mutex);
            committed = taken;
            progress.notify_all();
        }
        if (last) {
            return;
        }
    }
}

void TraceWriter::State::write(TraceTables& tables, const Batch& batch) {
    for (const SessionInfo& session : batch.sessions) {
        tables.session(session);
    }
    for (const GraphToWrite& graph : batch.graphs) {
        tables.graph(graph.id, graph.graph, graph.answers.table);
    }
    for (const Record& record : batch.records) {
        tables.record(record);
    }
}

void TraceWriter::State::commit(sqlite::Database& database) {
    database.execute("COMMIT");
    in_transaction = false;
    if (FileIdentity::of(path) != file) {
        throw sqlite::Failure(0, "was removed or replaced while it was written");
    }
}

void TraceWriter::State::finish(sqlite::Database& database) {
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite::Statement mode(database, "PRAGMA journal_mode = DELETE");
    if (!mode.step() || mode.bytes(0) != "delete") {
        throw sqlite::Failure(0, "can't be closed, because another program is using it; the journal beside it belongs to it");
    }
}

TraceWriter::TraceWriter(const std::string& path, const Options& options) : state_(std::make_unique<State>(path, options)) {
    State& s = *state_;
    s.root = this;
    s.thread = std::thread([&s] { s.run(); });
    std::unique_lock lock(s.mutex);
    s.progress.wait(lock, [&] { return s.opened || s.error; });
    if (s.error) {
        const std::string sentence = *s.error;
        lock.unlock();
        s.thread.join();
        throw Error(ErrorKind::device, sentence);
    }
}

TraceWriter::~TraceWriter() {
    try {
        close();
    } catch (const std::exception&) { // whoever wants to know calls close
    }
}

void TraceWriter::attach_to(Recorder& root) { state_->root = &root; }

void TraceWriter::session(const SessionInfo& info) {
    State& s = *state_;
    s.session = info;
    const std::lock_guard lock(s.mutex);
    if (!s.failed) {
        s.queued.sessions.push_back(info);
        ++s.queued.cost;
    }
}

/// True when the runtime had to wait.
bool TraceWriter::State::wait_for_room(std::unique_lock<std::mutex>& lock, record::Wait& wait) {
    const auto has_room = [&] { return queued.cost < std::max(options.queue_records, batch_records) || failed || stop; };
    if (adding_wait || has_room()) {
        return false;
    }
    wait.start_ns = now_ns();
    work.notify_one();
    progress.wait(lock, has_room);
    wait.end_ns = now_ns();
    return true;
}

void TraceWriter::graph(GraphId id, const GraphView& graph, const CapabilityTable& answers) {
    State& s = *state_;
    if (s.failed.load(std::memory_order_relaxed)) {
        return;
    }
    GraphToWrite item{id, OwnedGraph::copy_of(graph), KeptAnswers(answers)};
    const SessionInfo* session = answers.session;
    const bool grown = session != nullptr && session->buffer_types.size() > s.session.buffer_types.size();

    std::unique_lock lock(s.mutex);
    record::Wait wait;
    const bool waited = s.wait_for_room(lock, wait);
    if (s.failed) {
        return;
    }
    if (grown) { // buffer types are numbered when they are first met
        s.session.buffer_types = session->buffer_types;
        s.session.backends = session->backends;
        s.queued.sessions.push_back(s.session);
    }
    s.queued.cost += 1 + item.graph.tensors.size() * records_per_tensor;
    s.queued.graphs.push_back(std::move(item));
    const bool enough = s.queued.cost >= s.batch_records;
    lock.unlock();
    if (enough) {
        s.work.notify_one();
    }
    if (waited) {
        s.adding_wait = true;
        s.root->add(wait);
        s.adding_wait = false;
    }
}

StringId TraceWriter::intern(std::string_view text) {
    const std::lock_guard lock(state_->mutex);
    return state_->texts.intern(text);
}

void TraceWriter::keep(const Record& record) {
    State& s = *state_;
    if (s.failed.load(std::memory_order_relaxed)) {
        return;
    }
    std::unique_lock lock(s.mutex);
    record::Wait wait;
    const bool waited = s.wait_for_room(lock, wait);
    if (s.failed || s.stop) {
        return;
    }
    const bool first = s.queued.empty();
    s.queued.records.push_back(record);
    ++s.queued.cost;
    const bool enough = s.queued.cost == s.batch_records;
    lock.unlock();
    if (first || enough) {
        s.work.notify_one();
    }
    if (waited) { // the wait is a fact as well; it goes past the queue's limit, or it would wait for itself
        s.adding_wait = true;
        s.root->add(wait);
        s.adding_wait = false;
    }
}

void TraceWriter::flush() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->flush = true;
    }
    state_->work.notify_one();
}

void TraceWriter::sync() {
    State& s = *state_;
    std::unique_lock lock(s.mutex);
    const uint64_t target = s.taken + 1; // the batch that will hold what is queued now
    ++s.waiting_for_commit;
    s.work.notify_one();
    s.progress.wait(lock, [&] { return s.committed >= target || s.failed || s.stop; });
    --s.waiting_for_commit;
}

void TraceWriter::close() {
    State& s = *state_;
    if (!s.thread.joinable()) {
        return;
    }
    {
        const std::lock_guard lock(s.mutex);
        s.stop = true;
    }
    s.work.notify_all();
    s.progress.notify_all();
    s.thread.join();
    if (s.error) {
        throw Error(ErrorKind::device, *s.error);
    }
}

std::optional<std::string> TraceWriter::error() const {
    const std::lock_guard lock(state_->mutex);
    return state_->error;
}

} // namespace schedscope
