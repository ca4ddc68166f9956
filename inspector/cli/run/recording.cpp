#include "inspector/cli/run/recording.h"

#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/lines.h"
#include "inspector/cli/run/deferred_session.h"
#include "inspector/cli/run/run_model.h"
#include "inspector/cli/run/value_printer.h"
#include "traces/store/output.h"

#include <exception>
#include <iostream>
#include <optional>

namespace schedscope {

namespace {

/// What waits is written, whatever ends the run.
struct FinishedAtLast {
    std::optional<BoundedRecorder>& bounded;
    ~FinishedAtLast() {
        try {
            if (bounded) {
                bounded->finish();
            }
        } catch (const std::exception&) { // the error that ended the run is the one to tell
        }
    }
};

} // namespace

std::unique_ptr<TraceWriter> make_writer(const RunArguments& arguments) {
    if (arguments.record.empty()) {
        return nullptr;
    }
    check_output(arguments.record, arguments.force);
    TraceWriter::Options options;
    options.texts = !arguments.no_text;
    return std::make_unique<TraceWriter>(arguments.record, options);
}

int run_and_record(const RunArguments& arguments, bool dry_run) {
    catch_interrupts(arguments.record);
    RecordingBounds bounds = parse_bounds(arguments.bounds);
    bounds.tokens_follow = true;
    const std::unique_ptr<TraceWriter> writer = make_writer(arguments);
    std::optional<BoundedRecorder> bounded;
    if (bounds.any()) {
        bounded.emplace(*writer, bounds);
    }
    const FinishedAtLast finished{bounded};
    std::optional<DeferredSession> deferred;
    Recorder* recorder = nullptr;
    if (writer) {
        recorder = &deferred.emplace(bounded ? static_cast<Recorder&>(*bounded) : *writer);
    }
    std::string room;
    if (dry_run) {
        room = plan_model(arguments, *recorder);
    } else {
        ValuePrinter printer(std::cerr);
        if (recorder == nullptr && arguments.run.watcher != nullptr) {
            recorder = &printer;
        }
        run_model(arguments, recorder, {.quiet = false, .stop = &interrupt_flag()});
    }
    if (deferred) {
        deferred->finish();
    }
    std::string kept;
    if (bounded) {
        bounded->finish();
        kept = kept_by(bounds, writer->n_evaluations(), *bounded);
        bounded.reset();
    }
    if (writer) {
        writer->close();
        tell_of_trace(arguments.record, writer->n_evaluations(), kept, room);
    }
    return 0;
}

} // namespace schedscope
