#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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
    key_f1,
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
    sort,
    view_1,
    view_2,
    view_3,
    view_4,
    view_5,
    view_6,
    view_7,
    view_8,
    view_9,
    view_10,
    zoom_in,
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

/// Where the keyboard is. A binding holds in a set of them.
enum Context : uint8_t {
    in_recorded = 1, ///< looking at a recorded trace
    in_live = 2,     ///< attached to a running program
    in_main = in_recorded | in_live,
    in_help = 4, ///< the page of keys is open
};

/// One line of the table: these keys do this here. `keys` ends with key_none.
struct Binding {
    Action action;
    uint8_t contexts;
    Key keys[4];
    const char* label; ///< the keys as people read them: "n", "PgDn Ctrl-D"
    const char* group; ///< in the footer, neighbours of one group share its text: "n/p step"; null: not in the footer
    int rank;          ///< in the footer, higher ranks go first when there is no room
    const char* help;  ///< what it does, as the page of keys says it
};

/// All bindings, in the order of the page of keys.
std::span<const Binding> bindings() noexcept;

/// What a key does in a context; none: nothing.
Action action_for(Key key, Context context) noexcept;
/// The binding of an action in a context; null: it has none.
const Binding* binding_of(Action action, Context context) noexcept;
/// For people: "n", "Ctrl-D", "F1".
std::string key_text(Key key);

} // namespace schedscope::tui
