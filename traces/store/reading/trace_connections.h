#pragma once

#include "traces/store/reading/row_reader.h"
#include "traces/store/reading/trace_file.h"

#include <future>
#include <memory>
#include <string>
#include <system_error>

namespace schedscope {

/// An opened trace, and what reads rows from it.
struct TraceConnection {
    explicit TraceConnection(TraceFile opened) : file(std::move(opened)), rows(file.database) {}

    TraceFile file;
    RowReader rows;
};

/// The connections to one trace: one, and where there is a processor for it another, opened when there is first much to read: it
/// reads one half while the first one reads the other. What is read is the same either way.
class TraceConnections {
public:
    /// alone: no user waits for what is read; one connection does it.
    explicit TraceConnections(TraceFile file, bool alone = false) : first_(std::move(file)), alone_(alone) {}

    TraceConnection& first() noexcept { return first_; }
    /// Calls read(connection, begin, end) for [begin, end), or where that are so many that it is worth it, for each half of it at
    /// the same time. Passes on what either throws.
    template <typename F> void in_halves(int64_t begin, int64_t end, int64_t worth, const F& read) {
        if (end - begin < worth || !has_second()) {
            read(first_, begin, end);
            return;
        }
        const int64_t middle = begin + (end - begin) / 2;
        std::future<bool> other;
        try {
            other = std::async(std::launch::async, [&, middle] {
                TraceConnection* const second = open_second();
                if (second != nullptr) {
                    read(*second, middle, end);
                }
                return second != nullptr;
            });
        } catch (const std::system_error&) { // no more threads
            read(first_, begin, end);
            return;
        }
        read(first_, begin, middle); // should this throw, the future waits for the other half
        if (!other.get()) {
            read(first_, middle, end);
        }
    }
    /// Pages of the file that were read.
    int64_t pages_read();

private:
    bool has_second() const noexcept;
    TraceConnection* open_second();

    TraceConnection first_;
    std::unique_ptr<TraceConnection> second_;
    bool alone_ = false; ///< there can't be another one
};

} // namespace schedscope
