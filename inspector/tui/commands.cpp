#include "inspector/tui/commands.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

// clang-format off
constexpr Command table[] = {
    {"step",    Argument::number,  false, "N",                 "goes to a step"},
    {"eval",    Argument::number,  false, "N",                 "goes to the beginning of an evaluation"},
    {"pass",    Argument::pass,    false, "PASS",              "goes to the beginning of a pass"},
    {"view",    Argument::view,    false, "NAME",              "shows a view"},
    {"tensor",  Argument::tensor,  false, "NAME",              "selects a tensor"},
    {"explain", Argument::tensor,  true,  "NAME",              "shows the story of a tensor, or of the selected one"},
    {"search",  Argument::query,   false, "QUERY",             "goes to the next line that matches"},
    {"filter",  Argument::query,   true,  "QUERY",             "shows only lines that match; without one, all"},
    {"break",   Argument::query,   true,  "QUERY",             "sets the breakpoint; without one, takes it away"},
    {"sort",    Argument::column,  true,  "COLUMN",            "orders the list; without one, as it comes"},
    {"what-if", Argument::what_if, true,  "SETTINGS",          "plans again with other settings"},
    {"diff",    Argument::file,    false, "OTHER.trace",       "compares with another trace, side by side"},
    {"mark",    Argument::letter,  false, "LETTER",            "marks this place"},
    {"jump",    Argument::letter,  false, "LETTER",            "goes to a mark"},
    {"marks",   Argument::none,    true,  "",                  "shows the marks, to choose one"},
    {"write",   Argument::file,    false, "FILE",              "writes the list and the details as text", true},
    {"dot",     Argument::picture, false, "[VIEW] FILE.svg",   "draws a picture of this step (.dot .svg .png .pdf)", true},
    {"set",     Argument::setting, true,  "NAME VALUE",        "changes a setting; without one, shows them"},
    {"help",    Argument::none,    true,  "",                  "shows the keys"},
};
// clang-format on

} // namespace

std::span<const Command> commands() noexcept { return table; }

const Command* command_named(std::string_view word) noexcept {
    const auto whole = std::find_if(std::begin(table), std::end(table), [&](const Command& c) { return word == c.name; });
    if (whole != std::end(table)) {
        return whole;
    }
    const auto begun = std::find_if(std::begin(table), std::end(table), [&](const Command& c) {
        return !word.empty() && std::string_view(c.name).starts_with(word);
    });
    return begun == std::end(table) ? nullptr : begun;
}

CommandLine split_command(std::string_view text) {
    const size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const size_t end = std::min(text.find(' ', begin), text.size());
    CommandLine line{std::string(text.substr(begin, end - begin)),
                     std::string(text.substr(std::min(text.find_first_not_of(' ', end), text.size())))};
    while (line.argument.ends_with(' ')) {
        line.argument.pop_back();
    }
    if (line.name.size() > 1 && line.name.ends_with('!')) {
        line.name.pop_back();
        line.insisting = true;
    }
    return line;
}

} // namespace schedscope::tui
