#include "inspector/tui/keys.h"

#include "inspector/tui/text.h"

#include <algorithm>
#include <array>

namespace schedscope::tui {
namespace {

constexpr Key none = key_none;

// clang-format off
constexpr Binding table[] = {
    // Steps
    {Action::next_record,         in_main, {'n', none},               "n",            "step",                0, "next step (one record)"},
    {Action::previous_record,     in_main, {'p', none},               "p",            "step",                0, "previous step"},
    {Action::next_sweep,          in_main, {'s', none},               "s",            "sweep",               7, "next pass or sweep of pass 2"},
    {Action::previous_sweep,      in_main, {'S', none},               "S",            "sweep",               7, "previous pass or sweep of pass 2"},
    {Action::next_pass,           in_main, {'N', none},               "N",            "pass",                1, "next pass"},
    {Action::previous_pass,       in_main, {'P', none},               "P",            "pass",                1, "previous pass"},
    {Action::next_split,          in_main, {'}', none},               "}",            "split",               9, "next beginning of a split, planned or run"},
    {Action::previous_split,      in_main, {'{', none},               "{",            "split",               9, "previous beginning of a split"},
    {Action::next_evaluation,     in_main, {']', none},               "]",            "evaluation",          2, "next evaluation"},
    {Action::previous_evaluation, in_main, {'[', none},               "[",            "evaluation",          2, "previous evaluation"},
    {Action::next_token,          in_main, {'t', none},               "t",            "token",              11, "next token"},
    {Action::previous_token,      in_main, {'T', none},               "T",            "token",              11, "previous token"},
    {Action::next_change,         in_main, {'f', none},               "f",            "change", 3, "next step that concerns the selected tensor"},
    {Action::previous_change,     in_main, {'F', none},               "F",            "change", 3, "previous step that concerns the selected tensor"},
    {Action::first_step,          in_main, {'<', none},               "<",            nullptr,             0, "first step of the trace"},
    {Action::last_step,           in_main, {'>', none},               ">",            nullptr,             0, "last step of the trace"},
    {Action::go_to_step,          in_main, {'g', none},               "g",            nullptr,             0, "go to a step by its number"},
    // Breakpoints
    {Action::breakpoint,          in_main, {'b', none},               "b",            "breakpoint",          5, "set the breakpoint: a query on records, empty for none"},
    {Action::resume,              in_recorded, {'c', none},           "c",            "continue",            8, "on to the next record that the breakpoint matches"},
    {Action::resume_back,         in_main, {'C', none},               "C",            "continue",            8, "back to the record before that the breakpoint matches"},
    {Action::resume,              in_live, {'c', none},               "c",            "run",                 3, "let the program run, to the breakpoint if there is one"},
    {Action::hold,                in_live, {' ', ctrl('C'), none},    "Space Ctrl-C", "hold",                4, "hold the running program at its next record"},
    // Moving around
    {Action::up,                  in_main | in_help, {key_up, 'k', none},   "↑ k",   nullptr,             0, "a line up"},
    {Action::down,                in_main | in_help, {key_down, 'j', none}, "↓ j",   nullptr,             0, "a line down"},
    {Action::page_up,             in_main | in_help, {key_page_up, none},   "PgUp",  nullptr,             0, "a page up"},
    {Action::page_down,           in_main | in_help, {key_page_down, none}, "PgDn",  nullptr,             0, "a page down"},
    {Action::half_up,             in_main | in_help, {ctrl('U'), none},     "Ctrl-U", nullptr,            0, "half a page up"},
    {Action::half_down,           in_main | in_help, {ctrl('D'), none},     "Ctrl-D", nullptr,            0, "half a page down"},
    {Action::top,                 in_main | in_help, {key_home, none},      "Home",  nullptr,             0, "first line"},
    {Action::bottom,              in_main | in_help, {key_end, none},       "End",   nullptr,             0, "last line"},
    {Action::left,                in_main, {key_left, 'h', none},     "← h",         nullptr,             0, "to the list"},
    {Action::right,               in_main, {key_right, 'l', none},    "→ l",         nullptr,             0, "to the details"},
    {Action::next_pane,           in_main, {key_tab, none},           "Tab",          "pane",               10, "next pane"},
    {Action::previous_pane,       in_main, {key_back_tab, none},      "Shift-Tab",    nullptr,             0, "previous pane"},
    {Action::open,                in_main, {key_enter, '\r', none},   "Enter",        "open",                6, "open what the line is about: its tensor, its split, its step"},
    {Action::back,                in_main, {key_backspace, none},     "Backspace",    nullptr,             0, "back to where the last jump began"},
    {Action::leave,               in_main | in_help, {key_escape, none}, "Esc",       nullptr,             0, "leave what is transient: a page, a search, a filter"},
    // Finding
    {Action::search,              in_main, {'/', none},               "/",            "search",              4, "search a line of this list"},
    {Action::next_match,          in_main, {'.', none},               ".",            nullptr,             0, "next line that the search finds"},
    {Action::previous_match,      in_main, {',', none},               ",",            nullptr,             0, "previous line that the search finds"},
    {Action::filter,              in_main, {'&', none},               "&",            nullptr,             0, "show only matching lines, empty for all"},
    {Action::sort,                in_main, {'o', none},               "o",            nullptr,             0, "order by the next column (or click its head)"},
    {Action::follow,              in_main, {'a', none},               "a",            nullptr,             0, "follow: n and p select the tensor that changes (on, off)"},
    // Views
    {Action::view_1,              in_main, {'1', none},               "1",            nullptr, 0, "nodes & passes"},
    {Action::view_2,              in_main, {'2', none},               "2",            nullptr, 0, "splits"},
    {Action::view_3,              in_main, {'3', none},               "3",            nullptr,             0, "copies"},
    {Action::view_4,              in_main, {'4', none},               "4",            nullptr,             0, "fusion & order"},
    {Action::view_5,              in_main, {'5', none},               "5",            nullptr,             0, "memory"},
    {Action::view_6,              in_main, {'6', none},               "6",            nullptr,             0, "timeline"},
    {Action::view_7,              in_main, {'7', none},               "7",            nullptr,             0, "tokens & reuse"},
    {Action::view_8,              in_main, {'8', none},               "8",            nullptr,             0, "what-if, or two traces side by side (:diff OTHER)"},
    {Action::view_9,              in_main, {'9', none},               "9",            nullptr,             0, "queries"},
    {Action::view_10,             in_main, {'0', none},               "0",            nullptr,             0, "values of watched tensors"},
    {Action::zoom_in,             in_main, {'i', none},               "i",            "zoom",               12, "zoom in on the timeline (the wheel does, over its lanes)"},
    {Action::zoom_out,            in_main, {'I', none},               "I",            "zoom",               12, "zoom out"},
    {Action::zoom_whole,          in_main, {'=', none},               "=",            nullptr,             0, "the whole timeline"},
    {Action::pan_left,            in_main, {'H', none},               "H",            nullptr,             0, "earlier on the timeline (the wheel, over its axis)"},
    {Action::pan_right,           in_main, {'L', none},               "L",            nullptr,             0, "later on the timeline"},
    {Action::what_if,             in_main, {'w', none},               "w",            nullptr,             0, "what if: plan again with other settings, and see what changes"},
    // The program
    {Action::command,             in_main, {':', none},               ":",            nullptr,             0, "a command: step N, eval N, pass P, view NAME, tensor NAME, break QUERY, quit"},
    {Action::help,                in_main | in_help, {'?', key_f1, none}, "?",        "keys",              -2, "this page"},
    {Action::close,               in_main | in_help, {'q', none},     "q",            "quit",              -1, "close what is open; the inspector when nothing is"},
    {Action::quit,                in_main | in_help, {'Q', none},     "Q",            nullptr,             0, "quit the inspector"},
};
// clang-format on

constexpr std::array<std::pair<Key, const char*>, 15> special_names{{{key_up, "↑"},
                                                                     {key_down, "↓"},
                                                                     {key_left, "←"},
                                                                     {key_right, "→"},
                                                                     {key_home, "Home"},
                                                                     {key_end, "End"},
                                                                     {key_page_up, "PgUp"},
                                                                     {key_page_down, "PgDn"},
                                                                     {key_backspace, "Backspace"},
                                                                     {key_delete, "Del"},
                                                                     {key_back_tab, "Shift-Tab"},
                                                                     {key_f1, "F1"},
                                                                     {key_tab, "Tab"},
                                                                     {key_enter, "Enter"},
                                                                     {key_escape, "Esc"}}};

} // namespace

std::span<const Binding> bindings() noexcept { return table; }

Action action_for(Key key, Context context) noexcept {
    for (const Binding& binding : table)
        if ((binding.contexts & context) != 0)
            for (const Key* k = binding.keys; *k != key_none; ++k)
                if (*k == key)
                    return binding.action;
    return Action::none;
}

const Binding* binding_of(Action action, Context context) noexcept {
    const auto found = std::find_if(std::begin(table), std::end(table),
                                    [&](const Binding& b) { return b.action == action && (b.contexts & context) != 0; });
    return found == std::end(table) ? nullptr : found;
}

std::string key_text(Key key) {
    for (const auto& [k, name] : special_names)
        if (k == key)
            return name;
    if (key == ' ')
        return "Space";
    if (key >= 0 && key < 0x20)
        return std::string("Ctrl-") + static_cast<char>(key + '@');
    const auto c = static_cast<char32_t>(key);
    return key > 0 && key < 0x110000 ? to_utf8({&c, 1}) : "?";
}

} // namespace schedscope::tui
