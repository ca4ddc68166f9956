#include "inspector/tui/input/keys.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/letter_case.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"

#include <algorithm>
#include <array>

namespace schedscope::tui {
namespace {

constexpr Key none = key_none;

// clang-format off
constexpr Binding table[] = {
    // Steps
    {Action::next_record,         "next-step",           in_main,            {'n', none},                      "step",         0, "next step (one record)"},
    {Action::previous_record,     "previous-step",       in_main,            {'p', none},                      "step",         0, "previous step"},
    {Action::next_sweep,          "next-sweep",          in_main,            {'s', none},                      "sweep",        7, "on to the end of a pass or a sweep of pass 2: what it did is marked"},
    {Action::previous_sweep,      "previous-sweep",      in_main,            {'S', none},                      "sweep",        7, "back to the end of a pass or a sweep of pass 2"},
    {Action::next_pass,           "next-pass",           in_main,            {'N', none},                      "pass",         1, "on to the end of a pass: what it did is marked"},
    {Action::previous_pass,       "previous-pass",       in_main,            {'P', none},                      "pass",         1, "back to the end of a pass"},
    {Action::next_split,          "next-split",          in_main,            {'}', none},                      "split",        9, "on to where a split is planned, or has run"},
    {Action::previous_split,      "previous-split",      in_main,            {'{', none},                      "split",        9, "back to where one was planned, or had run"},
    {Action::next_evaluation,     "next-evaluation",     in_main,            {']', none},                      "evaluation",   2, "the next evaluation, at the same place: in the same pass, or at its end"},
    {Action::previous_evaluation, "previous-evaluation", in_main,            {'[', none},                      "evaluation",   2, "the previous evaluation, at the same place"},
    {Action::next_token,          "next-token",          in_main,            {'t', none},                      "token",       11, "next token; where tokens are not recorded, the next evaluation that is no reserve"},
    {Action::previous_token,      "previous-token",      in_main,            {'T', none},                      "token",       11, "previous token; where tokens are not recorded, the previous evaluation that is no reserve"},
    {Action::next_change,         "next-change",         in_main,            {'f', none},                      "change",       3, "next step that concerns the selected tensor"},
    {Action::previous_change,     "previous-change",     in_main,            {'F', none},                      "change",       3, "previous step that concerns the selected tensor"},
    {Action::first_step,          "first-step",          in_main,            {'<', none},                      nullptr,        0, "first step of the trace"},
    {Action::last_step,           "last-step",           in_main,            {'>', none},                      nullptr,        0, "last step of the trace"},
    {Action::go_to_step,          "go-to-step",          in_main,            {'g', none},                      nullptr,        0, "go to a step by its number"},
    // Breakpoints
    {Action::breakpoint,          "breakpoint",          in_main,            {'b', none},                      "breakpoint",   5, "set a breakpoint: a query on records; every step and run stops at what it matches"},
    {Action::breakpoints,         "breakpoints",         in_main,            {'B', none},                      nullptr,        0, "list the breakpoints, to enable, disable or delete them"},
    {Action::turn_breakpoint,     "enable",              in_popup,           {' ', none},                      "on, off",      5, "enable or disable the breakpoint that is selected (so does Enter)"},
    {Action::delete_breakpoint,   "delete",              in_popup,           {'x', key_delete, none},          "delete",       5, "delete the breakpoint that is selected"},
    {Action::resume,              "continue",            in_recorded,        {'c', none},                      "continue",     8, "on to the next record that a breakpoint matches"},
    {Action::resume_back,         "continue-back",       in_main,            {'C', none},                      "continue",     8, "back to the record before that a breakpoint matches"},
    {Action::resume,              "continue",            in_live,            {'c', none},                      "run",          3, "let the program run, to the next breakpoint if there is one"},
    {Action::hold,                "hold",                in_live,            {' ', ctrl('C'), none},           "hold",         4, "hold the running program at its next record"},
    {Action::follow_run,          "follow-run",          in_live,            {'G', none},                      "follow",       5, "follow the run: its newest record is shown as it comes; any movement stops that"},
    // Moving around
    {Action::up,                  "up",                  in_main | in_popup, {key_up, 'k', none},              nullptr,        0, "a line up"},
    {Action::down,                "down",                in_main | in_popup, {key_down, 'j', none},            nullptr,        0, "a line down"},
    {Action::page_up,             "page-up",             in_main | in_popup, {key_page_up, none},              nullptr,        0, "a page up"},
    {Action::page_down,           "page-down",           in_main | in_popup, {key_page_down, none},            nullptr,        0, "a page down"},
    {Action::half_up,             "half-page-up",        in_main | in_popup, {ctrl('U'), none},                nullptr,        0, "half a page up"},
    {Action::half_down,           "half-page-down",      in_main | in_popup, {ctrl('D'), none},                nullptr,        0, "half a page down"},
    {Action::top,                 "first-line",          in_main | in_popup, {key_home, none},                 nullptr,        0, "first line"},
    {Action::bottom,              "last-line",           in_main | in_popup, {key_end, none},                  nullptr,        0, "last line"},
    {Action::left,                "to-list",             in_main,            {key_left, 'h', none},            nullptr,        0, "to the list"},
    {Action::right,               "to-details",          in_main,            {key_right, 'l', none},           nullptr,        0, "to the details"},
    {Action::next_pane,           "next-pane",           in_main,            {key_tab, none},                  "pane",        10, "next pane"},
    {Action::previous_pane,       "previous-pane",       in_main,            {key_back_tab, none},             nullptr,        0, "previous pane"},
    {Action::open,                "open",                in_main | in_popup, {key_enter, none},                "open",         6, "open what the line is about: its tensor, its split, its step"},
    {Action::back,                "back",                in_main,            {key_backspace, ctrl('O'), '(', none}, nullptr, 0, "back to where the last jump began"},
    {Action::forward,             "forward",             in_main,            {')', none},                     nullptr,        0, "forward to where the way back began"},
    {Action::leave,               "leave",               in_main | in_popup, {key_escape, none},               nullptr,        0, "leave what is transient: a page, a search, a filter; stop a comparison or a picture"},
    // Finding
    {Action::search,              "search",              in_main,            {'/', none},                      "search",       4, "search a line of this list"},
    {Action::next_match,          "next-match",          in_main,            {'.', none},                      nullptr,        0, "next line that the search finds"},
    {Action::previous_match,      "previous-match",      in_main,            {',', none},                      nullptr,        0, "previous line that the search finds"},
    {Action::filter,              "filter",              in_main,            {'&', none},                      nullptr,        0, "show only matching lines; all: Backspace, Enter"},
    {Action::sort,                "sort",                in_main,            {'o', none},                      nullptr,        0, "order by the next column (or click its head)"},
    {Action::follow,              "follow",              in_main,            {'a', none},                      nullptr,        0, "follow: n and p select the tensor that changes (on, off)"},
    // From tensor to tensor
    {Action::explain,             "explain",             in_main,            {'e', none},                     "explain",     12, "explain the selected tensor: its whole story on a page"},
    {Action::cause,               "cause",               in_main,            {'u', none},                     "cause",       13, "to the tensor that made the selected one run there; again: up the chain"},
    {Action::readers,             "readers",             in_main,            {'r', none},                     "readers",     14, "to a node that reads the selected tensor"},
    {Action::sources,             "sources",             in_main,            {'d', none},                     "sources",     15, "to a tensor that the selected one is made of"},
    {Action::mark,                "mark",                in_main,            {'m', none},                     nullptr,        0, "mark this place with a letter"},
    {Action::go_to_mark,          "go-to-mark",          in_main,            {'\'', none},                    nullptr,        0, "to the place with a letter; ' again: to where the last jump began"},
    // Views
    {Action::first_view,          "view-",               in_main,            {none},                           nullptr,        0, ""}, // stands for all of them
    {Action::zoom_in,              "zoom-in",             in_main,             {'i', none},                       "zoom",       18, "zoom in on the timeline (the wheel does, over its lanes)"},
    {Action::zoom_out,             "zoom-out",            in_main,             {'I', none},                       "zoom",       18, "zoom out"},
    {Action::zoom_whole,           "zoom-whole",          in_main,             {'=', none},                       nullptr,       0, "the whole timeline"},
    {Action::pan_left,             "earlier",             in_main,             {'H', none},                       nullptr,       0, "earlier on the timeline (the wheel, over its axis)"},
    {Action::pan_right,            "later",               in_main,             {'L', none},                       nullptr,       0, "later on the timeline"},
    {Action::what_if,             "what-if",             in_main,            {'w', none},                      nullptr,        0, "what if: plan again with other settings, and see what changes"},
    {Action::copy_view,           "copy",                in_main,            {'y', none},                     "copy",        16, "copy the list as text to the clipboard"},
    {Action::copy_details,        "copy-details",        in_main,            {'Y', none},                     nullptr,        0, "copy the details as text to the clipboard"},
    {Action::wider,               "wider",               in_main,            {'+', none},                     nullptr,        0, "a wider list (or drag the line between the panes)"},
    {Action::narrower,            "narrower",            in_main,            {'-', none},                     nullptr,        0, "a narrower list"},
    // The program
    {Action::command,             "command",             in_main,            {':', none},                      nullptr,        0, "a command; Tab completes, :keys shows this page"},
    {Action::help,                "keys",                in_main | in_popup, {'?', key_f1, none},              "keys",        -2, "this page"},
    {Action::close,               "close",               in_main,            {'q', none},                      "quit",        -1, "quit the inspector"},
    {Action::close,               "close",               in_popup,           {'q', none},                      "close",       -1, "close this page"},
    {Action::quit,                "quit",                in_main | in_popup, {'Q', none},                      nullptr,        0, "quit the inspector"},
};
// clang-format on

struct NamedKey {
    Key key;
    const char *shown, *typed;
};
constexpr std::array<NamedKey, 15> named_keys{{{key_up, "↑", "Up"},
                                               {key_down, "↓", "Down"},
                                               {key_left, "←", "Left"},
                                               {key_right, "→", "Right"},
                                               {key_home, "Home", "Home"},
                                               {key_end, "End", "End"},
                                               {key_page_up, "PgUp", "PgUp"},
                                               {key_page_down, "PgDn", "PgDn"},
                                               {key_backspace, "Backspace", "Backspace"},
                                               {key_delete, "Del", "Del"},
                                               {key_back_tab, "Shift-Tab", "Shift-Tab"},
                                               {key_tab, "Tab", "Tab"},
                                               {key_enter, "Enter", "Enter"},
                                               {key_escape, "Esc", "Esc"},
                                               {' ', "Space", "Space"}}};

/// The table with a line for each view.
std::vector<Binding> with_views() {
    static std::array<std::string, ordinal(ViewId::count)> names;
    std::vector<Binding> all;
    for (const Binding& binding : table) {
        if (binding.action != Action::first_view) {
            all.push_back(binding);
            continue;
        }
        for (const ViewEntry& view : views()) {
            std::string& name = names[ordinal(view.id)];
            name = binding.name + std::to_string(view.number());
            all.push_back({action_of(view.id), name.c_str(), binding.contexts, {view.key(), none}, nullptr, 0, view.help});
        }
    }
    return all;
}

} // namespace

std::span<const Binding> default_bindings() noexcept {
    static const std::vector<Binding> all = with_views();
    return all;
}

KeyMap::KeyMap() : bindings_(default_bindings().begin(), default_bindings().end()) {
    for (Binding& binding : bindings_) {
        std::fill(std::find(binding.keys.begin(), binding.keys.end(), key_none), binding.keys.end(), key_none);
    }
}

void KeyMap::bind(Key key, Action action) {
    uint8_t contexts = action == Action::none ? in_main | in_popup : 0;
    for (const Binding& binding : bindings_) {
        if (binding.action == action) {
            contexts |= binding.contexts;
        }
    }
    for (Binding& binding : bindings_) {
        if ((binding.contexts & contexts) != 0) {
            const auto end = std::find(binding.keys.begin(), binding.keys.end(), key_none);
            std::fill(std::remove(binding.keys.begin(), end, key), end, key_none);
        }
        if (binding.action == action) { // in front: it is the one that the footer shows
            std::shift_right(binding.keys.begin(), binding.keys.end() - 1, 1);
            binding.keys.front() = key;
        }
    }
}

Action KeyMap::action_for(Key key, KeyContext context) const noexcept {
    for (const Binding& binding : bindings_) {
        if ((binding.contexts & context) == 0) {
            continue;
        }
        for (const Key* k = binding.keys.data(); *k != key_none; ++k) {
            if (*k == key) {
                return binding.action;
            }
        }
    }
    return Action::none;
}

const Binding* KeyMap::binding_of(Action action, KeyContext context) const noexcept {
    const auto found = std::find_if(bindings_.begin(), bindings_.end(),
                                    [&](const Binding& b) { return b.action == action && (b.contexts & context) != 0; });
    return found == bindings_.end() ? nullptr : &*found;
}

std::string KeyMap::key_of(Action action, KeyContext context) const {
    const Binding* const binding = binding_of(action, context);
    if (!binding) {
        return {};
    }
    const std::string key = first_key_text(*binding);
    return key.empty() ? joined({":", binding->name}) : key;
}

Action action_named(std::string_view name) noexcept {
    const auto all = default_bindings();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Binding& b) { return name == b.name; });
    return found == all.end() ? Action::none : found->action;
}

std::string key_text(Key key) {
    for (const NamedKey& named : named_keys) {
        if (named.key == key) {
            return named.shown;
        }
    }
    if (key >= key_f1 && key <= key_f12) {
        return "F" + std::to_string(key - key_f1 + 1);
    }
    if (key >= 0 && key < 0x20) {
        return std::string("Ctrl-") + static_cast<char>(key + '@');
    }
    const auto c = static_cast<char32_t>(key);
    return key > 0 && key < 0x110000 ? to_utf8({&c, 1}) : "?";
}

std::string first_key_text(const Binding& binding) {
    return binding.keys.front() == key_none ? std::string() : key_text(binding.keys.front());
}

std::string keys_text(const Binding& binding) {
    std::string text;
    for (const Key* key = binding.keys.data(); *key != key_none; ++key) {
        text += (text.empty() ? "" : " ") + key_text(*key);
    }
    return text;
}

Key key_named(std::string_view name) {
    for (const NamedKey& named : named_keys) {
        if (name == named.shown || same_ignoring_case(name, named.typed)) {
            return named.key;
        }
    }
    for (Key key = key_f1; key <= key_f12; ++key) {
        if (same_ignoring_case(name, key_text(key))) {
            return key;
        }
    }
    for (Key key = 0; key < 0x20; ++key) { // Tab, Enter and Esc are some of them
        if (same_ignoring_case(name, std::string("Ctrl-") + static_cast<char>(key + '@'))) {
            return key;
        }
    }
    const std::u32string character = printable(name);
    return character.size() == 1 && char_width(character[0]) > 0 ? static_cast<Key>(character[0]) : Key{key_none};
}

} // namespace schedscope::tui
