#include "inspector/tui/comparison_run.h"

#include "inspector/tui/stoppable_source.h"
#include "runtime/error.h"
#include "traces/reader.h"

#include <filesystem>
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
        worker_.request_stop();
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
    start([source = std::move(source), settings](std::stop_token stop) {
        return compare_what_if(std::make_shared<StoppableSource>(source, std::move(stop)), settings);
    });
    settings_ = settings;
}

void ComparisonRun::start_diff(std::shared_ptr<const RecordSource> source, const std::string& path) {
    start([source = std::move(source), path](std::stop_token stop) {
        const auto other = std::make_shared<TraceReader>(path);
        return compare_traces(std::make_shared<StoppableSource>(source, stop), std::make_shared<StoppableSource>(other, stop),
                              std::filesystem::path(path).filename().string());
    });
}

void ComparisonRun::start(std::function<Comparison(std::stop_token)> compare) {
    if (running()) {
        throw Error(ErrorKind::usage, "the last comparison is not done yet");
    }
    error_.clear();
    worker_ = std::jthread([this, compare = std::move(compare)](std::stop_token stop) {
        try {
            worker_result_ = compare(std::move(stop));
        } catch (const Stopped&) {
            worker_result_.reset();
        } catch (const std::exception& error) {
            worker_error_ = error.what();
        }
        eventfd_write(done_, 1);
    });
}

void ComparisonRun::stop() { worker_.request_stop(); }

bool ComparisonRun::finish() {
    eventfd_t count = 0;
    eventfd_read(done_, &count);
    const bool stopped = stopping();
    worker_.join();
    worker_ = {};
    std::optional<Comparison> result = std::exchange(worker_result_, std::nullopt);
    const std::string error = std::exchange(worker_error_, {});
    if (stopped) {
        return false;
    }
    error_ = error;
    if (result) {
        result_ = std::move(result);
    }
    return true;
}

} // namespace schedscope::tui
