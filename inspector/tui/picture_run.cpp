#include "inspector/tui/picture_run.h"

#include "runtime/error.h"

#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope::tui {

PictureRun::PictureRun() : done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (done_ < 0) {
        throw Error(ErrorKind::device, "inspector: the system has no event descriptor left");
    }
}

PictureRun::~PictureRun() {
    cancel();
    if (worker_.joinable()) {
        worker_.join();
    }
    close(done_);
}

void PictureRun::start(std::shared_ptr<const RecordSource> source, PictureOptions options, const std::string& path) {
    if (running()) {
        throw Error(ErrorKind::usage, "the last picture is not done yet: Esc stops it");
    }
    const std::optional<PictureFormat> format = picture_format_of(path);
    if (!format) {
        throw Error(ErrorKind::usage, path + ": a picture's name ends in .dot, .svg, .png or .pdf");
    }
    cancelled_ = false;
    path_ = path;
    options.cancelled = [this] { return cancelled_.load(); };
    worker_ = std::jthread([this, source = std::move(source), options = std::move(options), format = *format] {
        try {
            History history(source); // each reader has its own
            write_picture(history, options, format, path_);
        } catch (const std::exception& error) {
            error_ = error.what();
        }
        eventfd_write(done_, 1);
    });
}

std::string PictureRun::finish(bool& failed) {
    eventfd_t count = 0;
    eventfd_read(done_, &count);
    worker_.join();
    const std::string error = std::exchange(error_, {});
    failed = !error.empty();
    return failed ? (cancelled_ ? "stopped: there is no " + path_ : error) : path_ + " is written";
}

} // namespace schedscope::tui
