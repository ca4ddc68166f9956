#pragma once

#include <cstdint>
#include <string>

namespace schedscope::test {

/// What became of one sequence of random graphs that was really run on a random machine.
struct RunOutcome {
    std::string complaint; ///< empty: every evaluation gave what one CPU gives, bit for bit
    int n_computed = 0, n_refused = 0, n_overlapping = 0, n_copies = 0, n_backends = 0;
};

/// A machine, a model spread over its memories, and some graphs one after the other through one scheduler: the same again,
/// others, larger ones; with 4 stages also several at once. The same seed does the same.
RunOutcome run_randomly(uint32_t seed);

} // namespace schedscope::test
