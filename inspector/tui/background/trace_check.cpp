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
        return check_integrity(path, std::move(stop));
    });
}

std::string TraceCheck::finish() {
    const auto outcome = task_.finish();
    std::string wrong = outcome.result ? outcome.result->value_or("") : outcome.error;
    damaged_ = !wrong.empty();
    return wrong;
}

} // namespace schedscope::tui
