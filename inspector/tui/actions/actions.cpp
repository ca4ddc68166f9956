// What the keys do.
#include "inspector/tui/actions/actions.h"

#include "inspector/tui/actions/commands.h"
#include "inspector/tui/actions/comparing.h"
#include "inspector/tui/actions/cursor.h"
#include "inspector/tui/actions/export.h"
#include "inspector/tui/actions/finding.h"
#include "inspector/tui/actions/jumps.h"
#include "inspector/tui/actions/leave.h"
#include "inspector/tui/actions/marks.h"
#include "inspector/tui/actions/named_places.h"
#include "inspector/tui/actions/pages.h"
#include "inspector/tui/actions/running.h"
#include "inspector/tui/actions/show_page.h"
#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

// Why an action can't work now.

std::string no_search(const App& app) { return app.list.search().empty() ? "nothing was searched yet: / searches" : ""; }
std::string no_way_back(const App& app) { return app.trail.can_go_back() ? "" : "no jump to go back from"; }
std::string no_way_forward(const App& app) { return app.trail.can_go_forward() ? "" : "no way back was gone"; }
std::string nothing_recorded(const App& app) { return app.session.step() == no_step ? "nothing is recorded yet" : ""; }
std::string nothing_runs(const App& app) {
    const LiveProgram* const program = app.session.program();
    return !program ? "nothing runs: this is a recorded trace" : program->ended() ? "the program has ended" : "";
}
std::string no_mark(const App& app) {
    return app.trail.marks.empty() && !app.trail.can_go_back() ? "no mark is set: m and a letter sets one" : "";
}
std::string no_tensor_selected(const App& app) {
    return app.session.row_of(app.session.selected()) >= 0 ? "" : "no tensor is selected: nothing is planned at this step";
}
std::string empty_list(const App& app) { return app.list.empty() ? "the list is empty" : ""; }
std::string no_details(const App& app) { return app.list.n_rows() == 0 ? "there are no details: the list is empty" : ""; }
std::string nothing_to_open(const App& app) {
    return app.pages.empty() ? empty_list(app) : app.pages.top().chooses ? "" : "this page has nothing to open";
}
std::string nothing_to_zoom(const App& app) {
    return app.list.id() == ViewId::timeline ? "" : "there is nothing to zoom here: the timeline (6) zooms";
}
std::string as_wide_as_can_be(const App& app) {
    const Layout& layout = app.screen.layout();
    return layout.list_percent() >= 90 || layout.detail.width <= Layout::narrowest_pane ? "it is as wide as it can be" : "";
}
std::string as_narrow_as_can_be(const App& app) {
    const Layout& layout = app.screen.layout();
    return layout.list_percent() <= 10 || layout.list.width <= Layout::narrowest_pane ? "it is as narrow as it can be" : "";
}
std::string compares_already(const App& app) {
    return app.session.comparison().running() ? "the last comparison is not done yet: Esc stops it" : "";
}

// What several actions do.

template <History::Unit unit, bool forward> void move(App& app) { app.tell(app.session.move(unit, forward)); }
template <bool forward> void go_to_change(App& app) { app.tell(app.session.change_of_selected(forward)); }
template <Action action> void cursor(App& app) { move_cursor(app, action); }
template <Zoom how> void zoom_view(App& app) { zoom(app, how); }
template <App::Pane pane> void focus(App& app) { app.pane = pane; }
template <int percent> void widen(App& app) { app.set_list_width(app.screen.layout().list_percent() + percent); }

void other_pane(App& app) { app.pane = app.pane == App::Pane::list ? App::Pane::detail : App::Pane::list; }

void turn_following(App& app) {
    app.settings.follow = app.session.follow = !app.session.follow;
    app.tell(app.session.follow ? "n and p select the tensor that changes" : "n and p leave the selection where it is");
}

void close(App& app) {
    if (!app.pages.empty()) {
        app.pages.close();
    } else {
        app.quit(0);
    }
}

struct ActionEntry {
    Action action;
    void (*perform)(App&);
    std::string (*why_not)(const App&) = nullptr; ///< why it can't work now; empty or null: it can
};

// clang-format off
constexpr ActionEntry table[] = {
    // Steps
    {Action::next_record,         move<History::Unit::record, true>},
    {Action::previous_record,     move<History::Unit::record, false>},
    {Action::next_sweep,          move<History::Unit::sweep, true>},
    {Action::previous_sweep,      move<History::Unit::sweep, false>},
    {Action::next_pass,           move<History::Unit::pass, true>},
    {Action::previous_pass,       move<History::Unit::pass, false>},
    {Action::next_split,          move<History::Unit::split, true>},
    {Action::previous_split,      move<History::Unit::split, false>},
    {Action::next_evaluation,     move<History::Unit::evaluation, true>},
    {Action::previous_evaluation, move<History::Unit::evaluation, false>},
    {Action::next_token,          move<History::Unit::token, true>},
    {Action::previous_token,      move<History::Unit::token, false>},
    {Action::next_change,         go_to_change<true>},
    {Action::previous_change,     go_to_change<false>},
    {Action::first_step,          [](App& app) { app.jump([&] { return app.session.go(0); }); }},
    {Action::last_step,           [](App& app) { app.jump([&] { return app.session.go(app.session.last_step()); }); }},
    {Action::go_to_step,          ask_step},
    // Breakpoints
    {Action::breakpoint,          ask_breakpoint},
    {Action::breakpoints,         show_breakpoints},
    {Action::turn_breakpoint,     turn_breakpoint,                                                  no_breakpoint_selected},
    {Action::delete_breakpoint,   delete_breakpoint,                                                no_breakpoint_selected},
    {Action::resume,              [](App& app) { resume(app, true); },                              cannot_resume},
    {Action::resume_back,         [](App& app) { resume(app, false); },                             no_breakpoint},
    {Action::hold,                hold,                                                             cannot_hold},
    {Action::follow_run,          [](App& app) { app.jump([&] { return app.session.follow_newest(); }); },      nothing_runs},
    // Moving around
    {Action::up,                  cursor<Action::up>},
    {Action::down,                cursor<Action::down>},
    {Action::page_up,             cursor<Action::page_up>},
    {Action::page_down,           cursor<Action::page_down>},
    {Action::half_up,             cursor<Action::half_up>},
    {Action::half_down,           cursor<Action::half_down>},
    {Action::top,                 cursor<Action::top>},
    {Action::bottom,              cursor<Action::bottom>},
    {Action::left,                focus<App::Pane::list>},
    {Action::right,               focus<App::Pane::detail>,                                         no_details},
    {Action::next_pane,           other_pane,                                                       no_details},
    {Action::previous_pane,       other_pane,                                                       no_details},
    {Action::open,                open_selected,                                                    nothing_to_open},
    {Action::back,                [](App& app) { go_to(app, app.trail.back(app.here()), "back"); }, no_way_back},
    {Action::forward,             [](App& app) { go_to(app, app.trail.forward(app.here()), "forward"); }, no_way_forward},
    {Action::leave,               leave,                                                            nothing_to_leave},
    // Finding
    {Action::search,              ask_search},
    {Action::next_match,          [](App& app) { find(app, true); },                                no_search},
    {Action::previous_match,      [](App& app) { find(app, false); },                               no_search},
    {Action::filter,              ask_filter},
    {Action::sort,                [](App& app) { sort_by(app, app.list.next_column()); },           empty_list},
    {Action::follow,              turn_following},
    // From tensor to tensor
    {Action::explain,             [](App& app) { explain(app, app.session.selected()); },           no_tensor_selected},
    {Action::cause,               go_to_cause,                                                      no_tensor_selected},
    {Action::readers,             [](App& app) { choose_of(app, readers_of(app.session, app.session.selected()), "reads"); },      no_tensor_selected},
    {Action::sources,             [](App& app) { choose_of(app, sources_of(app.session, app.session.selected()), "is read by"); }, no_tensor_selected},
    {Action::mark,                [](App& app) { ask_for_letter(app, Action::mark); },              nothing_recorded},
    {Action::go_to_mark,          [](App& app) { ask_for_letter(app, Action::go_to_mark); },        no_mark},
    // Views (those that show one are in the table of views)
    {Action::zoom_in,             zoom_view<Zoom::in>,                                              nothing_to_zoom},
    {Action::zoom_out,            zoom_view<Zoom::out>,                                             nothing_to_zoom},
    {Action::zoom_whole,          zoom_view<Zoom::whole>,                                           nothing_to_zoom},
    {Action::pan_left,            zoom_view<Zoom::left>,                                            nothing_to_zoom},
    {Action::pan_right,           zoom_view<Zoom::right>,                                           nothing_to_zoom},
    {Action::what_if,             ask_what_if,                                                      compares_already},
    {Action::copy_view,           copy_list,                                                        empty_list},
    {Action::copy_details,        copy_details,                                                     empty_list},
    {Action::wider,               widen<4>,                                                         as_wide_as_can_be},
    {Action::narrower,            widen<-4>,                                                        as_narrow_as_can_be},
    // The program
    {Action::command,             ask_command},
    {Action::help,                show_keys},
    {Action::close,               close},
    {Action::quit,                [](App& app) { app.quit(0); }},
};
// clang-format on

const ActionEntry* entry_of(Action action) noexcept {
    const auto found = std::find_if(std::begin(table), std::end(table), [&](const ActionEntry& a) { return a.action == action; });
    return found == std::end(table) ? nullptr : found;
}

/// The view that an action shows; null: it shows none.
const ViewEntry* view_of(Action action) noexcept { return view_numbered(ordinal(action) - ordinal(Action::first_view) + 1); }

} // namespace

std::string why_not(const App& app, Action action) {
    const ActionEntry* const entry = entry_of(action);
    return entry && entry->why_not ? entry->why_not(app) : std::string();
}

void perform(App& app, Action action) {
    if (std::string reason = why_not(app, action); !reason.empty()) {
        app.tell(std::move(reason), true);
    } else if (const ActionEntry* const entry = entry_of(action)) {
        entry->perform(app);
    } else if (const ViewEntry* const view = view_of(action)) {
        app.show_view(view->id);
    }
}

} // namespace schedscope::tui
