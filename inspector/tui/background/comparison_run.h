#pragma once

#include "inspector/tui/background/background_task.h"
#include "inspector/tui/background/comparison.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace schedscope::tui {

/// Compares in the background. What the last one came to stays until another one is done.
class ComparisonRun {
public:
    /// `settings`: words as `replay --set` takes them; none: as recorded. Throws Error(usage) when it runs already.
    void start_what_if(std::shared_ptr<const RecordSource> source, const std::string& settings, const BackendKnowledge& backends);
    /// With another trace, in the file `path`.
    void start_diff(std::shared_ptr<const RecordSource> source, const std::string& path);
    /// Readable when it is done.
    int descriptor() const noexcept { return task_.descriptor(); }
    /// After that: takes the result over. False: it was stopped, and there is none.
    bool finish();
    /// It ends soon, without a result. Only while it runs.
    void stop() { task_.stop(); }
    bool stopping() const noexcept { return task_.stopping(); }

    bool running() const noexcept { return task_.running(); }
    const std::string& settings() const noexcept { return settings_; }           ///< of the last what-if
    const std::optional<Comparison>& result() const noexcept { return result_; } ///< of the last one that was done
    const std::string& error() const noexcept { return error_; }

private:
    void start(std::function<Comparison(std::stop_token)> compare);

    std::string settings_, error_;
    std::optional<Comparison> result_;
    BackgroundTask<Comparison> task_;
};

} // namespace schedscope::tui
