#include "inspector/tui/background/trace_check.h"

#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"

#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace schedscope::tui {

void TraceCheck::begin() {
    if (path_.empty()) {
        return;
    }
    task_.start([path = std::exchange(path_, {})](std::stop_token stop) {
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19); // of this thread: keys come first
        if (auto damage = check_integrity(path, stop)) {
            return Finding{*damage, "the trace is damaged"};
        }
        const auto change = find_changes(path, [stop] { return stop.stop_requested(); });
        return change ? Finding{*change, "the trace was changed"} : Finding{};
    });
}

std::string TraceCheck::finish() {
    const auto outcome = task_.finish();
    const Finding found = outcome.result.value_or(Finding{outcome.error, "the trace is damaged"});
    mark_ = found.mark;
    return found.sentence;
}

} // namespace schedscope::tui
