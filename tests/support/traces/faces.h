#pragma once

#include "runtime/error.h"
#include "traces/store/record_source.h"

#include <memory>
#include <span>

namespace schedscope::test {

/// What programs do with a trace, one by one: whoever wants to know that nothing in a file makes them crash has all of them look
/// at it.
struct Face {
    const char* name;
    void (*look)(const std::shared_ptr<const RecordSource>& source); ///< throws Error as the commands do
};

/// A part of what a face does. That there is nothing to see (nothing was planned) is said as an error of usage, and no news.
template <typename F> void try_it(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) {
            throw;
        }
    }
}

/// Those of traces/. Those of the pictures and the report are in tests/fuzz, which is linked with viz/.
std::span<const Face> trace_faces();

} // namespace schedscope::test
