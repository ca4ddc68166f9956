#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace schedscope::test {

/// A released build of llama.cpp, unmodified, that fixtures.sh installed.
struct Released {
    std::string version; ///< of the client that brings it: "3.22.1"
    std::string folder;  ///< it was installed into
    bool vulkan = false; ///< its Vulkan build is there, too
};
inline void PrintTo(const Released& build, std::ostream* out) { *out << build.version; } ///< for GoogleTest
std::vector<Released> released_builds();                                                 ///< by age; none: they are not here

/// The folder of a fork's addon, all of ggml within one file, that fixtures.sh installed. Empty: it is not here.
std::string static_addon();
/// How drive_static.mjs is started with it.
std::vector<std::string> drive_static(const std::string& addon, const std::string& model, int tokens);

/// How drive.mjs is started with a build.
std::vector<std::string> drive(const Released& build, const std::string& model, const std::vector<std::string>& options = {});

/// How rates.mjs is started with a build; its settings are in the environment.
std::vector<std::string> measure_rates(const Released& build);

} // namespace schedscope::test

/// Skips a test that records released builds where there are none.
#define NEEDS_RELEASED_BUILDS()                                                                                                  \
    if (::schedscope::test::released_builds().empty()) {                                                                         \
        GTEST_SKIP() << "no released builds of llama.cpp are here: tests/support/ggml/fixtures.sh";                              \
    }                                                                                                                            \
    static_assert(true)
