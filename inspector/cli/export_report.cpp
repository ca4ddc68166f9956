#include "inspector/cli/export_report.h"

#include "inspector/cli/interrupt.h"
#include "inspector/cli/progress_line.h"
#include "inspector/cli/trace_input.h"
#include "viz/report.h"

#include <filesystem>
#include <iostream>

namespace schedscope {

void export_report(const std::string& trace, const std::string& path) {
    History history(open_trace(trace));
    ProgressLine progress;
    ReportOptions options;
    options.trace = std::filesystem::path(trace).filename().string();
    options.layout.cancelled = [&] {
        progress.tick();
        return interrupted();
    };
    options.progress = [&](const std::string& what) { progress.say(what); };
    if (path == "-") {
        const std::string report = make_report(history, options);
        progress.clear();
        std::cout << report;
        return;
    }
    catch_interrupts();
    write_report(history, options, path);
}

} // namespace schedscope
