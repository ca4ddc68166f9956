#pragma once

#include "runtime/system/files.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace schedscope {

/// What SQLite may see of the world while it reads a trace: the trace and the journal that lies beside it, opened once, and
/// memory for what it writes. It opens, deletes and looks for nothing else, whatever these files say: no name in them leads
/// anywhere, and nothing of the user's is changed.
///
/// A journal (the program that wrote the trace was killed, or is still at work) is rolled back or replayed by SQLite: what it
/// writes for that stays in memory. What a program is still writing is read from a copy without a name in the folder for
/// temporary files, which goes away with this, however the program ends.
class TraceFiles {
public:
    /// Asked now and then while something is read, by any thread: true stops it.
    using Stop = std::function<bool()>;

    /// Throws Error(input), one line "PATH: why"; Interrupted where `stop` says so.
    static std::shared_ptr<TraceFiles> open(const std::string& path, Stop stop = {});
    ~TraceFiles();
    TraceFiles(const TraceFiles&) = delete;
    TraceFiles& operator=(const TraceFiles&) = delete;

    /// What of a recording lies beside the trace. `gone`: the trace was written with a write-ahead log, which is not there, so
    /// that a recording that was not closed may lack whatever was in it.
    enum class Beside { nothing, log, gone };

    const std::string& path() const noexcept;
    bool has_journal() const noexcept;
    Beside beside() const noexcept;
    bool being_recorded() const noexcept; ///< when it was opened
    /// That the trace and its journal held when they were opened, holes left out: a bound for whatever is in them.
    int64_t bytes() const noexcept;
    FileVersion version() const noexcept; ///< of the file at the path when it was opened

    /// The first 100 bytes; less where there are less, the rest 0.
    const std::array<unsigned char, 100>& header() const noexcept;

    /// By which SQLite opens it through the file system below.
    std::string address() const;
    static const char* file_system(); ///< the name of that, for sqlite3_open_v2

    bool stopped() const; ///< it is to stop
    /// Why reading failed where SQLite can't know: it got shorter, or there was no room for what it wrote. Empty: neither.
    std::string trouble() const;

    struct State;

private:
    explicit TraceFiles(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace schedscope
