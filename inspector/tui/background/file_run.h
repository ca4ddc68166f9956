#pragma once

#include "inspector/tui/background/background_task.h"
#include "traces/store/record_source.h"

#include <functional>
#include <memory>
#include <string>

namespace schedscope {
struct PictureOptions;
}

namespace schedscope::tui {

/// A file that is written in the background, one at a time: a picture, a trace.
class FileRun {
public:
    struct Words {
        const char* doing; ///< "drawing"
        const char* busy;  ///< why no other one can be begun: "the last picture is not done yet"
        const char* none;  ///< "there is no", in front of the path when it was stopped
    };
    explicit FileRun(const Words& words) : words_(words) {}

    /// `write` says at its end, behind the path, what became of the file. Throws Error(usage) when one is being written.
    void start(const std::string& path, std::function<std::string(std::stop_token)> write);
    void cancel() noexcept { task_.stop(); }
    bool running() const noexcept { return task_.running(); }
    std::string doing() const; ///< "drawing x.svg"
    /// Readable when it is done, or has failed.
    int descriptor() const noexcept { return task_.descriptor(); }
    /// After that: what became of it. `failed`: why there is no such file.
    std::string finish(bool& failed);

private:
    const Words words_;
    std::string path_; ///< of the last one
    BackgroundTask<std::string> task_;
};

/// Draws a picture of a history: a layout may take a minute. Throws as FileRun::start does, and Error(usage) when the file's name
/// says no format.
void start_picture(FileRun& run, std::shared_ptr<const RecordSource> source, PictureOptions options, const std::string& path);

/// Writes what is recorded so far into a trace: a long run takes seconds. The trace takes its place when it is complete; what was
/// there before stays until then. `texts`: with prompts and generated texts. Throws as FileRun::start does.
void start_save(FileRun& run, std::shared_ptr<const RecordSource> source, const std::string& path, bool texts);

} // namespace schedscope::tui
