#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace schedscope::test {

/// A page as the browser has it when its script is done.
struct BrowserPage {
    std::string dom;        ///< as markup
    std::string text;       ///< what a person reads, entities decoded, tags taken out; not the embedded data
    std::string complaints; ///< of its script and of what it was not allowed to do

    /// The text of the table row of a tensor; empty: it has none.
    std::string row(int tensor) const;
};

/// Chromium without a window; empty: none is installed.
std::string browser_path();

struct Opening {
    std::vector<std::string> options = {}; ///< the browser's own
    std::chrono::milliseconds own_time =
        std::chrono::seconds(5); ///< of the page's clock, which runs ahead, so that nothing waits
};

/// Opens a file at `#at` with the network switched off. Throws std::runtime_error when the browser does not start, or ends.
BrowserPage open_page(const std::string& file, const std::string& at, const Opening& how = {});

} // namespace schedscope::test

/// Skips the test where no browser is installed.
#define NEEDS_BROWSER()                                                                                                          \
    if (browser_path().empty()) {                                                                                                \
        GTEST_SKIP() << "no chromium and no chromium-headless-shell is here";                                                    \
    }                                                                                                                            \
    static_assert(true)
