#pragma once

#include "inspector/tui/inspector.h"
#include "runtime/scheduler/optimised_order.h"
#include "tests/support/paths.h"
#include "traces/import/import_log.h"
#include "traces/store/live_store.h"

#include <memory>
#include <string>

namespace schedscope::test {

/// A graph as a scheduler's log describes it (tests/data/logs): some nodes are missing, and all that no log says.
inline std::shared_ptr<LiveStore> imported(const std::string& name) {
    auto store = std::make_shared<LiveStore>();
    import_file(paths::log(name), *store);
    return store;
}

inline int inspect_imported(const std::string& name) {
    InspectorOptions options;
    options.backends.optimise = optimised_nodes;
    options.title = name;
    return run_inspector(imported(name), options);
}

} // namespace schedscope::test
