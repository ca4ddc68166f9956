// The writer's thread: makes the file, writes what is queued, commits in time, closes.

#include "traces/store/writer_state.h"

#include "runtime/error.h"
#include "traces/store/connection.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto longest_uncommitted = std::chrono::milliseconds(200); // writing what is queued takes a few more
constexpr auto shortest_between_commits = std::chrono::milliseconds(100);

std::string why(const sqlite::Failure& failure, sqlite3* handle) {
    if (failure.code == SQLITE_IOERR_WRITE) {
        return "writing failed: no space left, or files may not grow any more";
    }
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

} // namespace

void TraceWriter::State::fail(const std::string& reason) {
    const std::lock_guard lock(mutex);
    if (!error) {
        error = path + (opened ? ": recording stopped: " : ": can't be written: ") + reason;
    }
    failed = true;
    queued.clear();
    progress.notify_all();
}

void TraceWriter::State::check_file() const {
    if (!file_is_there()) {
        throw sqlite::Failure(0, "the file was removed or replaced");
    }
}

bool TraceWriter::State::file_is_there() const { return FileIdentity::of(place) == file; }

void TraceWriter::State::create(std::unique_ptr<sqlite::Database>& database, std::unique_ptr<TraceTables>& tables) {
    struct stat status {};
    if (stat(place.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        throw sqlite::Failure(0, "it is not a regular file");
    }
    // SQLite would only say that it can't open the file.
    const std::filesystem::path folder = std::filesystem::path(place).parent_path();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
        throw sqlite::Failure(0, std::strerror(errno));
    }
    // Made in memory first: whenever the program is killed, a file at that place is a trace.
    sqlite::Database empty("", sqlite::Database::Mode::memory);
    tables = std::make_unique<TraceTables>(empty, options.texts, [this](StringId id) {
        const std::lock_guard lock(mutex);
        return texts.contains(id) ? std::string(texts.text(id)) : std::string();
    });
    lock = RecordingLock(place, empty.bytes());
    file = FileIdentity::of(lock.descriptor());
    database = std::make_unique<sqlite::Database>(place, sqlite::Database::Mode::edit);
    sqlite::set_up_writer(*database); // with the handle kept: it knows why something fails
    tables->begin(*database);
    sqlite::begin_journal(*database);
    journal = FileIdentity::of(place + "-wal").value_or(FileIdentity{});
    index = FileIdentity::of(place + "-shm").value_or(FileIdentity{});
    check_file();
}

/// Whoever removed the trace, or put another file in its place, left our journal there: it must not be taken for that file's. And
/// half a file would be in the way.
void TraceWriter::State::remove_leftovers() const {
    if (lock.descriptor() < 0) {
        return; // nothing was touched
    }
    const bool there = file_is_there();
    if (!opened && there) {
        for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
            unlink((place + suffix).c_str());
        }
    } else if (!there) {
        for (const auto& [suffix, identity] : {std::pair{"-wal", journal}, std::pair{"-shm", index}}) {
            if (FileIdentity::of(place + suffix) == identity) {
                unlink((place + suffix).c_str());
            }
        }
    }
}

void TraceWriter::State::run() {
    // Signals are for the threads of the program. One is caused by writing itself: SIGXFSZ, where files may not grow any more;
    // blocked, it is an error of the write like any other.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    // It writes when the threads that compute leave it a core, rather than take one from them in the middle of a kernel for which
    // the others then wait. Its share stays the same.
    const sched_param no_priority{};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &no_priority);

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
    remove_leftovers();
    lock = RecordingLock();
}

void TraceWriter::State::write_all(sqlite::Database& database, TraceTables& tables) {
    TraceBatch batch;
    auto due = Clock::time_point::max(); ///< when the open transaction must be committed
    auto last_commit = Clock::time_point{};
    bool hurried = false; ///< `due` is as early as a flush may make it
    for (;;) {
        bool commit_now = false, last = false;
        {
            std::unique_lock lock(mutex);
            const auto urgent = [&] { return stop || wanted > committed || (flush && !hurried) || queued.cost >= batch_records; };
            if (due == Clock::time_point::max()) {
                work.wait(lock, [&] { return urgent() || !queued.empty(); });
                due = Clock::now() + longest_uncommitted;
            }
            work.wait_until(lock, due, urgent);
            const auto may_commit = [&] { return is_whole || !options.whole; };
            if (!may_commit()) {
                work.wait(lock, [&] { return urgent() || may_commit(); });
            }
            if (flush && !hurried) {
                hurried = true;
                due = std::min(due, std::max(Clock::now(), last_commit + shortest_between_commits));
            }
            commit_now = stop || wanted > committed || (may_commit() && Clock::now() >= due);
            last = stop;
            if (!commit_now && queued.cost < batch_records) {
                continue;
            }
            std::swap(batch, queued);
            ++taken;
            if (commit_now) {
                flush = hurried = false;
            }
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

void TraceWriter::State::write(TraceTables& tables, const TraceBatch& batch) {
    if (batch.session) {
        tables.session(*batch.session);
    }
    for (const GraphToWrite& graph : batch.graphs) {
        tables.graph(graph.id, graph.graph, graph.answers.table);
    }
    auto part = batch.parts.begin();
    std::span<const KernelSpan> times = batch.times;
    const auto write_parts = [&](Step before) {
        for (; part != batch.parts.end() && part->record.step < before; ++part) {
            PartRecord record = part->record;
            record.part.times = times.first(part->n_times);
            times = times.subspan(part->n_times);
            tables.part(record);
        }
    };
    for (const Record& record : batch.records) {
        write_parts(record.step);
        tables.record(record);
    }
    write_parts(std::numeric_limits<Step>::max());
}

void TraceWriter::State::commit(sqlite::Database& database) {
    database.execute("COMMIT");
    in_transaction = false;
    check_file();
}

void TraceWriter::State::finish(sqlite::Database& database) {
    check_file();
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite::Statement mode(database, "PRAGMA journal_mode = DELETE");
    if (!mode.step() || mode.bytes(0) != "delete") {
        throw sqlite::Failure(0, "another program is using the file, so the journal beside it must stay");
    }
    check_file();
}

} // namespace schedscope
