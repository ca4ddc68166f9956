#pragma once

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

/// Opens a file at `#at` with the network switched off. `options` are the browser's own; they win over what it is started with.
/// Throws std::runtime_error when the browser does not start.
BrowserPage open_page(const std::string& file, const std::string& at, const std::vector<std::string>& options = {});
/// Opens it at each of several places, loaded again for each, in one browser. Each page has the complaints of all.
std::vector<BrowserPage> open_pages(const std::string& file, const std::vector<std::string>& places);

} // namespace schedscope::test

/// Skips the test where no browser is installed.
#define NEEDS_BROWSER()                                                                                                          \
    if (browser_path().empty()) {                                                                                                \
        GTEST_SKIP() << "no chromium and no chromium-headless-shell is here";                                                    \
    }                                                                                                                            \
    static_assert(true)
