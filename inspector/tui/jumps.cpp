// From place to place: the list of jumps, marks, and from a tensor to those that it has to do with.
#include "inspector/tui/app.h"

#include "inspector/tui/pages.h"
#include "inspector/tui/tensor_detail.h"
#include "inspector/tui/text.h"

#include <algorithm>

namespace schedscope::tui {

void App::go_to(Place place, const std::string& said) {
    const bool moved = place.step != session_.step() && place.step != no_step;
    std::string text = moved ? session_.go(place.step) : std::string();
    session_.select(place.tensor);
    show_view(place.view);
    tell(text.empty() ? said : said + ": " + text);
}

/// In the view that is shown, if it has a line for the tensor.
void App::jump_to(TensorId id, const std::string& said) {
    const Place from = here();
    session_.select(id);
    update();
    if (list_.view().row_of(session_, id) < 0) {
        show_view(ViewId::nodes);
        update();
    }
    pane_ = Pane::list;
    came_from(from);
    update();
    const bool hidden = list_.hides(id);
    tell(said + (hidden ? " · the filter hides it: Esc shows all" : ""), hidden);
}

void App::go_to_cause() {
    const TensorId id = session_.selected();
    const auto at = static_cast<size_t>(id);
    const std::string name = session_.name(id);
    const TensorState now = at < session_.state().tensors.size() ? session_.state().tensors[at] : TensorState{};
    if (const record::CopyMade* const copy = session_.copy(id)) {
        jump_to(copy->of, name + " is a copy of " + session_.name(copy->of));
    } else if (now.backend == no_backend) {
        tell(name + " is on no backend at this step", true);
    } else if (now.by == no_tensor || session_.row_of(now.by) < 0) {
        tell(joined({name, " is on ", session_.backend_name(now.backend), " by ", cause_name(now.cause, now.source), ": ",
                     cause_meaning(now.cause), "; no other tensor made it so"}),
             true);
    } else {
        jump_to(now.by,
                joined({name, ": ", session_.backend_name(now.backend), " by ", cause_name(now.cause, now.source), " because of ",
                        session_.name(now.by), " · ", settings_.keys.key_of(Action::cause, in_main), " goes on"}));
    }
}

/// The only one at once; of several, one is chosen on a page. `what`: that they do to the selected tensor ("reads").
void App::choose_of(const std::vector<TensorId>& tensors, const std::string& what) {
    const std::string name = session_.name(session_.selected());
    if (tensors.empty()) {
        tell("nothing " + what + " " + name, true);
    } else if (tensors.size() == 1) {
        jump_to(tensors.front(), session_.name(tensors.front()) + " alone " + what + " " + name);
    } else {
        pages_.open({"what " + what + " " + name, [this, tensors](int) { return tensors_page(session_, tensors); }, true});
    }
}

void App::on_letter(Action action, Key key) {
    if (action == Action::go_to_mark && (key == '\'' || key == '`')) {
        perform(Action::back);
    } else if (key < 'a' || key > 'z') {
        tell(key == key_escape ? "no mark" : "a mark is a letter from a to z", key != key_escape);
    } else if (action == Action::mark) {
        set_mark(static_cast<char>(key));
    } else {
        go_to_mark(static_cast<char>(key));
    }
}

void App::set_mark(char letter) {
    trail_.marks[letter] = here();
    tell(joined(
        {"marked: ", settings_.keys.key_of(Action::go_to_mark, in_main), " ", std::string_view(&letter, 1), " comes back here"}));
}

void App::go_to_mark(char letter) {
    const auto mark = trail_.marks.find(letter);
    if (mark == trail_.marks.end()) {
        std::string known;
        for (const auto& [other, place] : trail_.marks) {
            known.append(known.empty() ? "" : " ").append(1, other);
        }
        tell(joined({"nothing is marked ", std::string_view(&letter, 1), known.empty() ? "" : ": there are " + known}), true);
        return;
    }
    const Place from = here();
    go_to(mark->second, joined({"mark ", std::string_view(&letter, 1)}));
    came_from(from);
}

void App::show_keys() {
    if (pages_.size() > 1) { // of the page below it is known already
        pages_.close();
        return;
    }
    const Context where = context();
    if (where == in_popup && !pages_.top().chooses && pages_.top().title == "keys that work here") {
        pages_.close();
        return;
    }
    std::vector<Line> lines = keys_page(settings_.keys, where, [this](Action action) { return why_not(action).empty(); });
    pages_.open({"keys that work here", [lines = std::move(lines)](int) { return lines; }});
}

void App::explain(TensorId id) {
    pages_.open({"the story of " + session_.name(id), [this, id](int width) { return story_page(session_, id, width); }, true});
}

} // namespace schedscope::tui
