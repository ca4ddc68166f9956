#include "inspector/tui/what_if_run.h"

#include "runtime/error.h"
#include "runtime/scheduler/optimised_order.h"

#include <sstream>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope::tui {

WhatIfRun::WhatIfRun() : done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (done_ < 0)
        throw Error(ErrorKind::device, "inspector: the system has no event descriptor left");
}

WhatIfRun::~WhatIfRun() {
    if (worker_.joinable())
        worker_.join();
    close(done_);
}

void WhatIfRun::start(std::shared_ptr<const RecordSource> source, const std::string& settings) {
    if (running())
        throw Error(ErrorKind::usage, "what-if: the last one is not done yet");
    WhatIf what_if;
    std::istringstream words(settings);
    for (std::string word; words >> word;)
        what_if.set(word);
    ReplayOptions options = options_for(what_if, *source);
    options.optimise = optimised_nodes;
    settings_ = settings;
    error_.clear();
    result_.reset();
    worker_ = std::jthread([this, source = std::move(source), options = std::move(options)] {
        try {
            worker_result_ = replay(*source, options);
        } catch (const std::exception& error) {
            worker_error_ = error.what();
        }
        eventfd_write(done_, 1);
    });
}

void WhatIfRun::finish() {
    eventfd_t count = 0;
    eventfd_read(done_, &count);
    worker_.join();
    result_ = std::exchange(worker_result_, std::nullopt);
    error_ = std::exchange(worker_error_, {});
}

} // namespace schedscope::tui
