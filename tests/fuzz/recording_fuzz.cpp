// Several programs that record to one path, in any order of what they do: begin, record, wait for what they wrote, end, or leave
// without ending. At most one has the trace at a time, the others are refused and touch nothing, and what was promised to be in
// the file is there. An input is a list of bytes, each of which says who does what.

#include "runtime/error.h"
#include "tests/fuzz/small_trace.h"
#include "tests/fuzz/verdict.h"
#include "tests/support/traces/sample_run.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace schedscope::fuzz {

namespace {

std::string path() { return scratch_folder() + "/recorded"; }

/// One that records, as a program would.
class Program {
public:
    bool has_it() const { return run_.has_value(); }
    /// Does it have the trace now?
    bool begin() {
        writer_ = std::make_unique<TraceWriter>(path());
        try {
            run_.emplace(*writer_, test::session({"CPU"}));
        } catch (const Error& error) {
            writer_.reset();
            if (!std::string_view(error.what()).ends_with("another program is recording to it")) {
                fail(error.what());
            }
        }
        n_promised = n_recorded_ = 0;
        return has_it();
    }
    void record() {
        n_recorded_ == 0 ? static_cast<void>(run_->evaluate(test::blocks(1, 1, 1))) : run_->evaluate_again();
        ++n_recorded_;
    }
    void sync() {
        writer_->sync();
        n_promised = n_recorded_;
    }
    void end() {
        writer_->close(); // what it throws ends the program: nothing was wrong
        n_promised = n_recorded_;
        run_.reset();
        writer_.reset();
    }
    EvaluationId n_promised = 0;

private:
    std::unique_ptr<TraceWriter> writer_;
    std::optional<test::SampleRun> run_;
    EvaluationId n_recorded_ = 0;
};

void expect_in_the_trace(EvaluationId n_promised) {
    const TraceReader reader(path());
    if (reader.n_evaluations() < n_promised) {
        fail(std::to_string(reader.n_evaluations()) + " of " + std::to_string(n_promised) + " evaluations are there");
    }
    reader.for_each(0, reader.n_steps(), [](const Record&) {});
}

} // namespace

void run(std::span<const uint8_t> input) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
        std::filesystem::remove(path() + suffix);
    }
    std::array<Program, 3> programs;
    Program* holder = nullptr;
    for (const uint8_t byte : input.first(std::min<size_t>(input.size(), 24))) {
        Program& program = programs[byte % programs.size()];
        switch (byte / programs.size() % 5) {
        case 0:
            if (!program.has_it()) {
                const bool got_it = program.begin();
                if (got_it == (holder != nullptr)) {
                    fail(got_it ? "two have the trace" : "none has the trace, and it was refused");
                }
                holder = got_it ? &program : holder;
            }
            break;
        case 1:
        case 2:
            if (program.has_it()) {
                program.record();
            }
            break;
        case 3:
            if (program.has_it()) {
                program.sync();
                expect_in_the_trace(program.n_promised);
            }
            break;
        case 4:
            if (program.has_it()) {
                program.end();
                holder = nullptr;
                expect_in_the_trace(program.n_promised);
            }
            break;
        }
    }
    if (holder != nullptr) {
        holder->end();
        expect_in_the_trace(holder->n_promised);
    }
}

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    schedscope::fuzz::run({data, size});
    return 0;
}
