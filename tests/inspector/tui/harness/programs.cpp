#include "tests/inspector/tui/harness/programs.h"

#include "runtime/error.h"
#include "runtime/scheduler/optimised_order.h"
#include "tests/support/traces/made_trace.h"
#include "traces/history/live_gate.h"

#include <cstdio>
#include <thread>

#include <sys/eventfd.h>
#include <unistd.h>

namespace schedscope::test {

int inspect_made_with(const InspectorOptions& options) {
    InspectorOptions named = options;
    named.backends.optimise = optimised_nodes;
    named.title = "made.trace";
    try {
        return run_inspector(made_trace(4, 3), named);
    } catch (const Error& error) {
        std::fprintf(stderr, "schedscope: %s\n", error.what());
        return error.exit_code();
    }
}

int inspect_made() { return inspect_made_with({}); }

int inspect_made_live() {
    auto store = std::make_shared<LiveStore>();
    LiveGate gate(*store);
    const int ended = eventfd(0, EFD_CLOEXEC);
    std::thread program([&] {
        MadeRun(2).record(gate, 3);
        eventfd_write(ended, 1);
    });
    InspectorOptions options;
    options.backends.optimise = optimised_nodes;
    options.title = "a run";
    options.gate = &gate;
    options.ended_fd = ended;
    const int code = run_inspector(store, options);
    gate.set_breakpoint({});
    gate.run();
    program.join();
    close(ended);
    return code;
}

} // namespace schedscope::test
