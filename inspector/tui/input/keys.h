#pragma once

#include "inspector/tui/views/views.h"
#include "runtime/numbers.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tui {

/// A key: a Unicode character (control characters included), or one of these.
using Key = int32_t;
enum SpecialKey : Key {
    key_none = -1,
    key_up = 0x110000,
    key_down,
    key_left,
    key_right,
    key_home,
    key_end,
    key_page_up,
    key_page_down,
    key_backspace,
    key_delete,
    key_back_tab,
    key_f1, ///< F1 … F12 follow each other
    key_f12 = key_f1 + 11,
};
constexpr Key ctrl(char letter) noexcept { return letter & 0x1f; }
constexpr Key key_tab = '\t', key_enter = '\n', key_escape = 0x1b;

/// What a key can do. The inspector has one function for each.
enum class Action : uint8_t {
    none,
    next_record,
    previous_record,
    next_sweep,
    previous_sweep,
    next_pass,
    previous_pass,
    next_split,
    previous_split,
    next_evaluation,
    previous_evaluation,
    next_token,
    previous_token,
    next_change,
    previous_change,
    first_step,
    last_step,
    go_to_step,
    resume,
    resume_back,
    breakpoint,
    breakpoints,
    turn_breakpoint,
    delete_breakpoint,
    hold,
    up,
    down,
    page_up,
    page_down,
    half_up,
    half_down,
    top,
    bottom,
    left,
    right,
    next_pane,
    previous_pane,
    open,
    back,
    leave,
    search,
    what_if,
    next_match,
    previous_match,
    filter,
    follow,
    follow_run,
    sort,
    forward,
    mark,
    go_to_mark,
    explain,
    cause,
    readers,
    sources,
    copy_view,
    copy_details,
    wider,
    narrower,
    first_view, ///< one for each view, in their order
    zoom_in = first_view + ordinal(ViewId::count),
    zoom_out,
    zoom_whole,
    pan_left,
    pan_right,
    command,
    help,
    close,
    quit,
    count,
};

/// Shows a view.
constexpr Action action_of(ViewId id) noexcept { return static_cast<Action>(ordinal(Action::first_view) + ordinal(id)); }

/// Where the keyboard is. A binding holds in a set of them.
enum KeyContext : uint8_t {
    in_recorded = 1, ///< looking at a recorded trace
    in_live = 2,     ///< attached to a running program
    in_main = in_recorded | in_live,
    in_popup = 4, ///< a page lies above: the keys, a story, a list to choose from
};

/// One line of the table: these keys do this here.
struct Binding {
    Action action;
    const char* name; ///< of the action, as settings and the command line call it: "next-step"
    uint8_t contexts;
    std::array<Key, 6> keys; ///< up to key_none
    const char* group;       ///< in the footer, neighbours of one group share its text: "n/p step"; null: not in the footer
    int rank;                ///< in the footer, lower ranks get room first
    const char* help;        ///< what it does, as the page of keys says it
};

/// The table as it comes, in the order of the page of keys.
std::span<const Binding> default_bindings() noexcept;

/// What the keys do: the table, with what the user has changed in it.
class KeyMap {
public:
    KeyMap();
    /// The key does this, wherever the action is possible, and nothing else there; Action::none: nothing at all.
    void bind(Key key, Action action);

    std::span<const Binding> bindings() const noexcept { return bindings_; }
    /// What a key does in a context; none: nothing.
    Action action_for(Key key, KeyContext context) const noexcept;
    /// The binding of an action in a context; null: it has none.
    const Binding* binding_of(Action action, KeyContext context) const noexcept;
    /// "n"; of an action without a key, the command that does the same: ":next-step".
    std::string key_of(Action action, KeyContext context) const;

private:
    std::vector<Binding> bindings_;
};

/// none: there is no action of that name.
Action action_named(std::string_view name) noexcept;

/// For people: "n", "Ctrl-D", "F1", "Space".
std::string key_text(Key key);
/// The first one, the one that the footer shows; empty: there is none.
std::string first_key_text(const Binding& binding);
/// All of them: "↑ k".
std::string keys_text(const Binding& binding);
/// The key that `key_text` calls so, in any case, also "Up", "Left" …; key_none: there is none.
Key key_named(std::string_view name);

} // namespace schedscope::tui
