#include "inspector/tui/actions/jumps.h"

#include "inspector/tui/actions/marks.h"
#include "inspector/tui/actions/pages.h"
#include "inspector/tui/actions/running.h"
#include "inspector/tui/terminal/text.h"
#include "inspector/tui/views/tensor_detail.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/words/unknown.h"

namespace schedscope::tui {
namespace {

/// In the view that is shown, if a line there is the tensor's own; else among the nodes.
void jump_to(App& app, TensorId id, const std::string& said) {
    const TrailPlace from = app.here();
    app.session.select(id);
    app.update();
    const int row = app.list.view().row_of(app.session, id);
    const bool elsewhere = row < 0 || app.list.view().own_tensor(app.session, row) != id;
    if (elsewhere) {
        app.show_view(ViewId::nodes);
        app.update();
    }
    app.pane = App::Pane::list;
    app.came_from(from);
    app.update();
    const std::string hidden = app.list.why_hidden(id);
    app.tell(said + (!hidden.empty() ? " · " + hidden
                     : elsewhere     ? " · " + app.key_of(Action::back) + " goes back"
                                     : ""),
             !hidden.empty());
}

} // namespace

void open(App& app, Target target) {
    const std::string back = " · " + app.key_of(Action::back) + " goes back";
    switch (target.kind) {
    case Target::Kind::none: app.tell("this line has nothing to open", true); return;
    case Target::Kind::tensor: {
        const TrailPlace from = app.here();
        app.session.select(int_of(target.id));
        app.show_view(ViewId::nodes);
        app.pane = App::Pane::list;
        app.came_from(from);
        app.update();
        if (const std::string hidden = app.list.why_hidden(app.session.selected()); !hidden.empty()) {
            app.tell(app.session.name(app.session.selected()) + " · " + hidden, true);
        } else {
            app.tell(app.session.name(app.session.selected()) + back);
        }
        return;
    }
    case Target::Kind::step:
        if (target.id == app.session.step()) {
            app.tell("this is the present step", true);
            return;
        }
        app.jump([&] { return app.session.go(target.id); });
        return;
    case Target::Kind::split: {
        const auto& splits = app.session.state().splits;
        if (!is_index(target.id, splits)) {
            app.tell("split " + std::to_string(target.id) + " is not made at this step", true);
            return;
        }
        const TrailPlace from = app.here();
        app.show_view(ViewId::splits);
        app.pane = App::Pane::list;
        app.update();
        const int row = int_of(target.id); // a row of that view is a split
        const bool hidden = app.list.line_of_row(row) < 0;
        app.list.select_row(row);
        app.came_from(from);
        app.tell("split " + std::to_string(target.id) + (hidden ? " · the filter hides it: Esc shows all" : back), hidden);
        return;
    }
    case Target::Kind::evaluation: app.jump([&] { return app.session.go_evaluation(int_of(target.id)); }); return;
    case Target::Kind::mark: go_to_mark(app, static_cast<char>(target.id)); return;
    case Target::Kind::breakpoint: turn_breakpoint(app); return;
    }
}

void go_to(App& app, TrailPlace place, const std::string& said) {
    const bool moved = place.step != app.session.step() && place.step != no_step;
    std::string text = moved ? app.session.go(place.step) : std::string();
    app.session.select(place.tensor);
    app.show_view(place.view);
    app.tell(text.empty() ? said : said + ": " + text);
}

void go_to_cause(App& app) {
    const TensorId id = app.session.selected();
    const size_t at = id;
    const std::string name = app.session.name(id);
    const TensorState now = at < app.session.state().tensors.size() ? app.session.state().tensors[at] : TensorState{};
    if (const record::CopyMade* const copy = app.session.copy(id)) {
        jump_to(app, copy->of, name + " is a copy of " + app.session.name(copy->of));
    } else if (now.backend == no_backend) {
        app.tell(name + " is on no backend at this step", true);
    } else if (now.by == no_tensor || app.session.row_of(now.by) < 0) {
        app.tell(joined({name, " is on ", app.session.backend_name(now.backend), " by ", cause_text(now.cause, now.source), ": ",
                         cause_meaning(now.cause.value_or(Cause::none)), "; no other tensor made it so"}),
                 true);
    } else {
        jump_to(
            app, now.by,
            joined({name, ": ", app.session.backend_name(now.backend), " by ", cause_text(now.cause, now.source), " because of ",
                    app.session.name(now.by), " · ", app.settings.keys.key_of(Action::cause, in_main), " goes on"}));
    }
}

void choose_of(App& app, const std::vector<TensorId>& tensors, const std::string& what) {
    const std::string name = app.session.name(app.session.selected());
    if (tensors.empty()) {
        app.tell("nothing " + what + " " + name, true);
    } else if (tensors.size() == 1) {
        jump_to(app, tensors.front(), app.session.name(tensors.front()) + " alone " + what + " " + name);
    } else {
        app.pages.open({"what " + what + " " + name, [&app, tensors](int) { return tensors_page(app.session, tensors); }, true});
    }
}

std::string story_title(const InspectorSession& session, TensorId id) { return "the story of " + session.name(id); }

void explain(App& app, TensorId id) {
    app.pages.open({story_title(app.session, id), [&app, id](int width) { return story_page(app.session, id, width); }, true});
}

} // namespace schedscope::tui
