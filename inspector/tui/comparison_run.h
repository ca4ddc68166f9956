#pragma once

#include "inspector/tui/comparison.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace schedscope::tui {

/// Compares on a thread of its own: the keyboard is never left waiting. What the last one came to stays until another one is done.
class ComparisonRun {
public:
    ComparisonRun();
    ~ComparisonRun();
    ComparisonRun(const ComparisonRun&) = delete;
    ComparisonRun& operator=(const ComparisonRun&) = delete;

    /// `settings`: words as `replay --set` takes them; none: as recorded. Throws Error(usage) when it runs already.
    void start_what_if(std::shared_ptr<const RecordSource> source, const std::string& settings);
    /// With another trace, in the file `path`.
    void start_diff(std::shared_ptr<const RecordSource> source, const std::string& path);
    /// Readable when it is done.
    int descriptor() const noexcept { return done_; }
    /// After that: takes the result over. False: it was stopped, and there is none.
    bool finish();
    /// It ends soon, without a result. Only while it runs.
    void stop();
    bool stopping() const noexcept { return worker_.get_stop_token().stop_requested(); }

    bool running() const noexcept { return worker_.joinable(); }
    const std::string& settings() const noexcept { return settings_; }           ///< of the last what-if
    const std::optional<Comparison>& result() const noexcept { return result_; } ///< of the last one that was done
    const std::string& error() const noexcept { return error_; }

private:
    void start(std::function<Comparison(std::stop_token)> compare);

    int done_;
    std::jthread worker_;
    std::string settings_, error_, worker_error_;
    std::optional<Comparison> result_, worker_result_;
};

} // namespace schedscope::tui
