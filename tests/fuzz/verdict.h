#pragma once

#include "runtime/error.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

namespace schedscope::fuzz {

/// Ends the target: what must hold does not.
[[noreturn]] inline void fail(const std::string& what, const std::string& more = {}) {
    std::fprintf(stderr, "%s%s%s\n", what.c_str(), more.empty() ? "" : ": ", more.c_str());
    std::abort();
}

/// What is wrong with an input must be said as an error of the input.
inline void expect_of_input(const Error& error) {
    if (error.kind() != ErrorKind::input) {
        fail("not an error of the input", error.what());
    }
}

/// For what is done with some inputs only, and takes longer: a number by all bytes of the input, so that the fuzzer can't learn
/// to ask for it.
inline size_t chance_of(std::string_view input) { return std::hash<std::string_view>{}(input); }

} // namespace schedscope::fuzz
