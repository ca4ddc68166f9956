#include "inspector/cli/recording.h"

#include "inspector/cli/interrupt.h"
#include "inspector/cli/run_model.h"
#include "inspector/cli/value_printer.h"
#include "traces/writer.h"

#include <iostream>
#include <memory>

namespace schedscope {

int run_and_record(const RunArguments& arguments, bool dry_run) {
    catch_interrupts();
    std::unique_ptr<TraceWriter> writer;
    if (!arguments.record.empty()) {
        check_output(arguments.record, arguments.force);
        TraceWriter::Options options;
        options.texts = !arguments.no_text;
        writer = std::make_unique<TraceWriter>(arguments.record, options);
    }
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
