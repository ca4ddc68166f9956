#include "inspector/tui/background/file_run.h"

#include "runtime/error.h"
#include "viz/pictures/picture.h"

#include <utility>

namespace schedscope::tui {

void FileRun::start(const std::string& path, std::function<std::string(std::stop_token)> write) {
    if (running()) {
        throw Error(ErrorKind::usage, std::string(words_.busy) + ": Esc stops it");
    }
    path_ = path;
    task_.start(std::move(write));
}

std::string FileRun::doing() const { return std::string(words_.doing) + " " + path_; }

std::string FileRun::finish(bool& failed) {
    const auto outcome = task_.finish();
    failed = !outcome.result;
    return !failed           ? path_ + *outcome.result
           : outcome.stopped ? std::string("stopped: ") + words_.none + " " + path_
                             : outcome.error;
}

void start_picture(FileRun& run, std::shared_ptr<const RecordSource> source, PictureOptions options, const std::string& path) {
    const std::optional<PictureFormat> format = picture_format_of(path);
    if (!format) {
        throw Error(ErrorKind::usage, path + ": a picture's name ends in .dot, .svg, .png or .pdf");
    }
    run.start(path,
              [source = std::move(source), options = std::move(options), format = *format,
               path](const std::stop_token& stop) mutable -> std::string {
                  options.cancelled = [stop] { return stop.stop_requested(); };
                  History history(source); // each reader has its own
                  write_picture(history, options, format, path);
                  return " is written";
              });
}

} // namespace schedscope::tui
