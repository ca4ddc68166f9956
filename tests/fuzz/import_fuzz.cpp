// Logs of a ggml scheduler, as somebody pasted them. An input is the log. What is no log is said in one line; what is, becomes
// records that every reader can look at.

#include "runtime/error.h"
#include "tests/fuzz/small_trace.h"
#include "tests/fuzz/verdict.h"
#include "tests/support/traces/faces.h"
#include "traces/import/import_log.h"
#include "traces/store/live_store.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace schedscope;
    static const fuzz::NamedMemoryFile file;
    file.put({reinterpret_cast<const char*>(data), size});
    try {
        const auto store = std::make_shared<LiveStore>();
        // Nodes and splits that a line's number says are missing take one number and long to write and to look at.
        const ImportResult result = import_file(file.path(), *store, nullptr, {.graph_tensors = 2000});
        if (result.n_graphs != store->n_evaluations()) {
            fuzz::fail(std::to_string(result.n_graphs) + " graphs, " + std::to_string(store->n_evaluations()) + " evaluations");
        }
        store->for_each(0, store->n_steps(), [](const Record&) {});
        // Whoever reads it takes longer than the import does: for one input in eight, by all of its bytes.
        const size_t chance = fuzz::chance_of({reinterpret_cast<const char*>(data), size});
        if (chance % 8 == 0) {
            const auto faces = test::trace_faces();
            faces[chance / 8 % faces.size()].look(store);
        }
    } catch (const Error& error) {
        fuzz::expect_of_input(error);
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
            fuzz::fail("not one line", error.what());
        }
    }
    return 0;
}
