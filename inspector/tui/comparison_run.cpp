#include "inspector/tui/comparison_run.h"

#include "runtime/error.h"

#include <sstream>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope::tui {

ComparisonRun::ComparisonRun() : done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (done_ < 0) {
        throw Error(ErrorKind::device, "inspector: the system has no event descriptor left");
    }
}

ComparisonRun::~ComparisonRun() {
    if (worker_.joinable()) {
        worker_.join();
    }
    close(done_);
}

void ComparisonRun::start_what_if(std::shared_ptr<const RecordSource> source, const std::string& settings) {
    WhatIf what_if; // a word that is not understood is told at once
    std::istringstream words(settings);
    for (std::string word; words >> word;) {
        what_if.set(word);
    }
    options_for(what_if, *source);
    start([source = std::move(source), settings] { return compare_what_if(source, settings); });
    settings_ = settings;
}

void ComparisonRun::start_diff(std::shared_ptr<const RecordSource> source, const std::string& path) {
    start([source = std::move(source), path] { return compare_traces(source, path); });
}

void ComparisonRun::start(std::function<Comparison()> compare) {
    if (running()) {
        throw Error(ErrorKind::usage, "the last comparison is not done yet");
    }
    error_.clear();
    result_.reset();
    worker_ = std::jthread([this, compare = std::move(compare)] {
        try {
            worker_result_ = compare();
        } catch (const std::exception& error) {
            worker_error_ = error.what();
        }
        eventfd_write(done_, 1);
    });
}

void ComparisonRun::finish() {
    eventfd_t count = 0;
    eventfd_read(done_, &count);
    worker_.join();
    result_ = std::exchange(worker_result_, std::nullopt);
    error_ = std::exchange(worker_error_, {});
}

} // namespace schedscope::tui
