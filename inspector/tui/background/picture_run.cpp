#include "inspector/tui/background/picture_run.h"

#include "runtime/error.h"

#include <utility>

namespace schedscope::tui {

void PictureRun::start(std::shared_ptr<const RecordSource> source, PictureOptions options, const std::string& path) {
    if (running()) {
        throw Error(ErrorKind::usage, "the last picture is not done yet: Esc stops it");
    }
    const std::optional<PictureFormat> format = picture_format_of(path);
    if (!format) {
        throw Error(ErrorKind::usage, path + ": a picture's name ends in .dot, .svg, .png or .pdf");
    }
    path_ = path;
    task_.start([source = std::move(source), options = std::move(options), format = *format, path](std::stop_token stop) mutable {
        options.cancelled = [stop] { return stop.stop_requested(); };
        History history(source); // each reader has its own
        write_picture(history, options, format, path);
        return true;
    });
}

std::string PictureRun::finish(bool& failed) {
    const auto outcome = task_.finish();
    failed = !outcome.result;
    return !failed ? path_ + " is written" : outcome.stopped ? "stopped: there is no " + path_ : outcome.error;
}

} // namespace schedscope::tui
