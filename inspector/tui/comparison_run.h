#pragma once

#include "traces/what_if.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace schedscope::tui {

/// Plans a history again with other settings, on a thread of its own: the keyboard is never left waiting.
class WhatIfRun {
public:
    WhatIfRun();
    ~WhatIfRun();
    WhatIfRun(const WhatIfRun&) = delete;
    WhatIfRun& operator=(const WhatIfRun&) = delete;

    /// `settings`: words as `replay --set` takes them; none: as recorded. Throws Error(usage) when one is not understood, or when it runs already.
    void start(std::shared_ptr<const RecordSource> source, const std::string& settings);
    /// Readable when it is done.
    int descriptor() const noexcept { return done_; }
    /// After that: takes the result over.
    void finish();

    bool running() const noexcept { return worker_.joinable(); }
    const std::string& settings() const noexcept { return settings_; }
    const std::optional<ReplayResult>& result() const noexcept { return result_; } ///< of the last one that came to an end
    const std::string& error() const noexcept { return error_; }

private:
    int done_;
    std::jthread worker_;
    std::string settings_, error_, worker_error_;
    std::optional<ReplayResult> result_, worker_result_;
};

} // namespace schedscope::tui
