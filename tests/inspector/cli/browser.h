#pragma once

#include <string>

namespace schedscope::testing {

/// A page as the browser has it when its script is done.
struct Page {
    std::string dom;        ///< as markup
    std::string text;       ///< what a person reads, entities decoded, tags taken out; not the embedded data
    std::string complaints; ///< of its script and of what it was not allowed to do

    /// The text of the table row of a tensor; empty: it has none.
    std::string row(int tensor) const;
};

/// Chromium without a window; empty: none is installed.
std::string browser_path();

/// Opens a file at `#at` with the network switched off. Throws std::runtime_error when the browser does not start.
Page open_page(const std::string& file, const std::string& at);

} // namespace schedscope::testing
