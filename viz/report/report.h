#pragma once

#include "viz/pictures/picture.h"

#include <functional>
#include <string>

namespace schedscope {

/// What goes into a report, and how much of it; what a limit leaves out is told in the report.
struct ReportOptions {
    std::string trace;            ///< the trace's name, for people
    int64_t max_tensors = 80'000; ///< of all plans together, copies counted; the last plan is always there
    int64_t max_stories = 60'000; ///< tensors whose story is told, of all plans together
    int64_t max_events = 200'000; ///< kernels, transfers and waits of all evaluations together
    int64_t max_rows = 20'000;    ///< of the tables of the whole trace: tokens, reuse
    int32_t max_pictures = 24;    ///< that Graphviz is given to lay out, whether it can or not
    PictureOptions layout{};      ///< its child, time limit and cancellation; the rest is not looked at
    std::function<void(const std::string& what)> progress; ///< told before each longer piece of work
};

/// One HTML file that opens without a network: the data of a trace as JSON, and a page that shows it (viz/report/report.html).
/// Nothing in the trace can become markup or script: all texts reach the page as JSON strings and the screen as text nodes.
/// Throws Error(usage) when nothing is planned in the trace, Error(device) when cancelled.
std::string make_report(History& history, const ReportOptions& options);

} // namespace schedscope
