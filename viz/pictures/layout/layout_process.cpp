#include "viz/pictures/layout/layout_process.h"

#include "runtime/error.h"
#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"
#include "runtime/system/process/child_process.h"
#include "runtime/system/process/program_role.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>

namespace schedscope {

namespace {

const ProgramRole layouter(layout_role, layout_child_main);

std::string content(const MemoryFile& file) {
    std::string bytes(file.size(), '\0');
    return file.read(0, std::as_writable_bytes(std::span(bytes))) ? bytes : "";
}

} // namespace

std::string run_layout(const std::string& dot, const std::string& renderer, const PictureOptions& options,
                       const std::string& name) {
    const std::string way_out =
        options.view == PictureView::layers ? "write .dot and lay it out with another tool" : "use --view layers, or write .dot";
    const auto fail = [&](const std::string& why) { return Error(ErrorKind::device, name + ": " + why); };
    const auto can_not_start = [&](const std::string& why) { return fail("the layout can't be started: " + why); };

    MemoryFile in("dot"), out("picture");
    if (!in || !out || !in.append(std::as_bytes(std::span(dot))) || !in.finish()) {
        throw can_not_start(std::strerror(errno));
    }
    ChildCommand child{options.layout_command, options.layout_seconds, options.cancelled};
    child.command.push_back(renderer);
    const ChildEnd end = run_child(child, in, out);
    if (end.interrupted()) {
        throw fail("the layout was interrupted");
    }
    switch (end.how) {
    case ChildEnd::How::not_started: throw can_not_start(end.said);
    case ChildEnd::How::too_late:
        throw fail("the layout took more than " + std::to_string(options.layout_seconds) + " s and was ended; " + way_out);
    case ChildEnd::How::killed:
        if (end.code == SIGXFSZ) {
            throw fail("the picture would be larger than " + words::limit(budget::layout_picture_bytes) + "; " + way_out);
        }
        if (end.code == SIGXCPU) {
            throw fail("the layout takes more than " + std::to_string(budget::layout_processor_seconds) +
                       " s of a processor's time; " + way_out);
        }
        throw fail("Graphviz crashed while laying out (" + end.signal_name() + "); " + way_out);
    default: break;
    }
    if (end.code != 0) {
        throw fail("Graphviz could not lay it out" + (end.said.empty() ? "" : " (" + end.said + ")") + "; " + way_out);
    }
    std::string picture = content(out);
    if (picture.empty()) {
        throw fail("Graphviz made an empty picture; " + way_out);
    }
    return picture;
}

} // namespace schedscope
