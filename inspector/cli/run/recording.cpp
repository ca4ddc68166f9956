#include "inspector/cli/run/recording.h"

#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/run/run_model.h"
#include "inspector/cli/run/value_printer.h"
#include "traces/store/output.h"

#include <iostream>

namespace schedscope {

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
    catch_interrupts();
    const std::unique_ptr<TraceWriter> writer = make_writer(arguments);
    if (dry_run) {
        plan_model(arguments, *writer);
    } else {
        ValuePrinter printer(std::cerr);
        Recorder* recorder = writer.get();
        if (recorder == nullptr && arguments.run.watcher != nullptr) {
            recorder = &printer;
        }
        run_model(arguments, recorder, {.quiet = false, .stop = &interrupt_flag()});
    }
    if (writer) {
        writer->close();
    }
    return 0;
}

} // namespace schedscope
