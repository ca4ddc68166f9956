#include "inspector/cli/show/export_report.h"

#include "inspector/cli/output/interrupt.h"
#include "inspector/cli/output/progress_line.h"
#include "inspector/cli/show/trace_input.h"
#include "viz/report/report.h"

#include <filesystem>

namespace schedscope {

std::string report_of(const std::string& trace) {
    History history(open_trace(trace));
    ProgressLine progress;
    ReportOptions options;
    options.trace = std::filesystem::path(trace).filename().string();
    options.layout.cancelled = [&] {
        progress.tick();
        return interrupted();
    };
    options.progress = [&](const std::string& what) { progress.say(what); };
    catch_interrupts();
    return make_report(history, options);
}

} // namespace schedscope
