#include "inspector/tui/actions/marks.h"

#include "inspector/tui/actions/actions.h"
#include "inspector/tui/actions/jumps.h"
#include "inspector/tui/actions/pages.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/system/joined.h"

namespace schedscope::tui {

void ask_for_letter(App& app, Action action) {
    app.letter_for = action;
    app.tell(action == Action::mark ? "mark this place with a letter:" : "go to the mark:");
}

void on_letter(App& app, Action action, Key key) {
    if (action == Action::go_to_mark && (key == '\'' || key == '`')) {
        perform(app, Action::back);
    } else if (key < 'a' || key > 'z') {
        app.tell(key == key_escape ? "no mark" : "a mark is a letter from a to z", key != key_escape);
    } else if (action == Action::mark) {
        set_mark(app, static_cast<char>(key));
    } else {
        go_to_mark(app, static_cast<char>(key));
    }
}

void set_mark(App& app, char letter) {
    app.trail.marks[letter] = app.here();
    app.tell(joined({"marked: ", app.settings.keys.key_of(Action::go_to_mark, in_main), " ", std::string_view(&letter, 1),
                     " comes back here"}));
}

void go_to_mark(App& app, char letter) {
    const auto mark = app.trail.marks.find(letter);
    if (mark == app.trail.marks.end()) {
        const std::string known = joined(app.trail.marks, " ", [](const auto& mark) { return std::string(1, mark.first); });
        app.tell(joined({"nothing is marked ", std::string_view(&letter, 1), known.empty() ? "" : ": there are " + known}), true);
        return;
    }
    const TrailPlace from = app.here();
    go_to(app, mark->second, joined({"mark ", std::string_view(&letter, 1)}));
    app.came_from(from);
}

void show_marks(App& app) {
    if (!app.trail.marks.empty()) {
        app.pages.open({"marks", [&app](int) { return marks_page(app.session, app.trail); }, true});
    } else if (std::string reason = why_not(app, Action::go_to_mark); !reason.empty()) {
        app.tell(std::move(reason), true);
    } else {
        app.tell("no mark is set", true);
    }
}

} // namespace schedscope::tui
