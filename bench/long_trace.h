#pragma once

#include "tests/support/traces/made_trace.h"
#include "traces/format/interner.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <filesystem>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace schedscope::bench {

/// Written into the folder for temporary files: a graph of 20,000 nodes, planned again every 16 evaluations, until there are a
/// million records. Goes with the object.
class LongTrace {
public:
    static constexpr Step n_records = 1'000'000;
    static constexpr int n_layers = 625, plan_every = 16;

    explicit LongTrace(const std::string& name = "long")
        : path((std::filesystem::temp_directory_path() / ("schedscope-bench-" + std::to_string(getpid()) + "-" + name + ".trace"))
                   .string()) {
        TraceWriter writer(path);
        Counter counter;
        TeeRecorder both{&writer, &counter};
        test::MadeRun run(n_layers, {plan_every, true});
        run.record(both, 1);
        for (EvaluationId e = 1; counter.n < n_records; ++e) {
            run.record_more(both, e, e + 1);
        }
        writer.close();
    }
    ~LongTrace() { std::filesystem::remove(path); }
    LongTrace(const LongTrace&) = delete;
    LongTrace& operator=(const LongTrace&) = delete;

    /// The system reads it from the disk again.
    void forget_pages() const {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        fsync(file);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        close(file);
    }

    const std::string path;

private:
    struct Counter : Recorder {
        void session(const SessionInfo&) override {}
        void graph(GraphId, const GraphView&, const CapabilityTable&) override {}
        StringId intern(std::string_view text) override { return texts.intern(text); }
        void keep(const Record&) override { ++n; }
        Interner texts;
        Step n = 0;
    };
};

/// A program that was built beside this one.
inline std::string program_beside(const std::string& name) {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

} // namespace schedscope::bench
