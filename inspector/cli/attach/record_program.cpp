#include "inspector/cli/attach/record_program.h"

#include "inspector/cli/attach/masked_command.h"
#include "inspector/cli/attach/shared_pages.h"
#include "inspector/cli/attach/started_program.h"
#include "inspector/cli/attach/why_nothing.h"
#include "inspector/cli/line/named_files.h"
#include "inspector/cli/output/lines.h"
#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/visible_text.h"
#include "traces/history/words/words.h"
#include "traces/import/stream/stream_reader.h"
#include "traces/import/stream/stream_ring.h"
#include "traces/store/output.h"
#include "traces/store/reading/trace_rows.h"
#include "traces/store/writer.h"

#include <csignal>
#include <iostream>
#include <optional>
#include <set>
#include <unistd.h>

namespace schedscope {

namespace {

using attach::Control;

/// Takes what the program sends, and writes it.
class ProgramTrace {
public:
    ProgramTrace(const ProgramRecording& recording, const SharedPages& pages)
        : ring_(pages.ring(), SharedPages::ring_bytes()), writer_(recording.trace, options(recording)),
          bounded_(writer_, parse_bounds(recording.bounds)), is_bounded_(recording.bounds.any()),
          reader_(is_bounded_ ? static_cast<Recorder&>(bounded_) : writer_, {}, {{"program", recording.command.front()}, {"command", masked_command(recording.command)}}) {}

    /// False: there was nothing.
    bool take() {
        bool any = false;
        try {
            while (!reader_.ended() && !damaged() && !failure_) {
                const std::optional<import::StreamBlock> block = ring_.next();
                if (!block) {
                    break;
                }
                any = true;
                if (block->evaluation) {
                    evaluations_.insert(*block->evaluation);
                }
                reader_.take(*block);
                has_records_ = true;
            }
        } catch (const Damage& damage) {
            damage_ = damage.what();
        } catch (const Error& error) {
            failure_ = error; // the program goes on
        }
        return any;
    }
    void writer_is_gone() { ring_.writer_is_gone(); }
    /// Completes the file, and tells what there is to say of it. False: something in it is missing. Throws Error where it could
    /// not be written.
    bool finish(const ProgramRecording& recording, bool killed) {
        if (failure_) {
            throw Error(*failure_);
        }
        if (!has_records_) {
            return true;
        }
        std::vector<std::string> notes;
        if (killed && !reader_.ended()) {
            notes.emplace_back("the program was killed; what was complete is here");
        }
        if (ring_.lost() > 0) {
            notes.push_back(words::counted(ring_.lost(), "block") + " lost that the program had begun when it ended");
        }
        if (damaged()) {
            notes.push_back("the recording ends early: " + damage_);
        }
        const ImportResult result = reader_.finish(std::move(notes), damaged());
        for (const std::string& note : result.notes) {
            tell(note);
        }
        int64_t left_out = 0;
        if (is_bounded_) {
            bounded_.finish();
            left_out = bounded_.n_left_out();
        }
        writer_.close();
        OutputLine(std::cerr) << "wrote " << recording.trace << ": "
                              << words::counted(static_cast<int64_t>(evaluations_.size()) - left_out, "evaluation")
                              << (left_out > 0 ? " (" + std::to_string(left_out) + " more were seen)" : "")
                              << "; next: schedscope inspect " << recording.trace;
        return !damaged();
    }
    bool has_evaluations() const { return !evaluations_.empty(); }

private:
    static TraceWriter::Options options(const ProgramRecording& recording) {
        TraceWriter::Options options;
        options.texts = !recording.no_text;
        return options;
    }
    bool damaged() const { return !damage_.empty(); }

    import::StreamRing ring_;
    TraceWriter writer_;
    BoundedRecorder bounded_;
    const bool is_bounded_;
    import::StreamReader reader_;
    std::set<int64_t> evaluations_;
    std::string damage_;
    std::optional<Error> failure_;
    bool has_records_ = false;
};

/// With --children the recorded process need not be the one that was started.
bool is_recorded_still(const Control& control) {
    const auto owner = static_cast<pid_t>(__atomic_load_n(&control.owner, __ATOMIC_RELAXED));
    return owner > 0 && kill(owner, 0) == 0;
}

} // namespace

int record_program(const ProgramRecording& recording) {
    NamedFiles files;
    files.writes("-o", recording.trace);
    files.check();
    check_output(recording.trace, recording.force);
    constexpr int look_up_ms = 10;
    const std::string path = found_program(recording.command.front());
    const SharedPages pages;
    ProgramTrace trace(recording, pages);
    StartedProgram program(recording.command, pages.environment({recording.sync, recording.children}));
    for (bool any = false; !program.wait(any ? 0 : look_up_ms);) {
        any = trace.take();
    }
    while (recording.children && is_recorded_still(pages.control())) {
        if (!trace.take()) {
            usleep(look_up_ms * 1000);
        }
    }
    trace.take();
    trace.writer_is_gone();
    trace.take();
    const bool complete = trace.finish(recording, program.killed());
    if (!trace.has_evaluations() && program.code() == 0) {
        throw Error(ErrorKind::device, visible(recording.command.front()) +
                                           ": nothing was recorded: " + why_nothing(path, pages.control(), recording.children));
    }
    return complete || program.code() != 0 ? program.code() : exit_code(ErrorKind::device);
}

} // namespace schedscope
