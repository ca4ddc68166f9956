#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedscope::fuzz {

/// An element as a browser makes it of its tags, with the text that stands right in it. In the order of the start tags.
struct Element {
    std::string name;
    int depth = 0;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::string text;
    bool operator==(const Element&) const = default;
};

/// Reads a page by the rules of HTML's tokenizer (13.2.5 of the standard) as far as carefully written pages need them. Where a
/// browser would go on after something odd, guess, or reads a script in another way than its author may think (`<!--` in it),
/// this throws std::runtime_error with where that is.
std::vector<Element> parse_strictly(std::string_view page);

} // namespace schedscope::fuzz
