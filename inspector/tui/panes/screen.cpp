#include "inspector/tui/panes/screen.h"

#include "inspector/tui/terminal/text.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "traces/history/describe.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/verdict_words.h"
#include "traces/history/words/words.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

constexpr std::string_view between_passes = "between passes", plan_failed = "PLAN FAILED", held_word = "HELD",
                           running_word = "RUNNING", ended_word = "ENDED";

constexpr TopLineWord words_of_top_line[] = {
    {"eval 3 (0…7)", "the evaluation, of those that are numbered 0 to 7, and what it is: prefill, decode, encoder, reserve"},
    {"pass 2a", "the pass that ends with this step: what is shown is what it came to"},
    {"in pass 2a", "the pass that this step lies within"},
    {between_passes, "this step belongs to no pass: it is of what comes before the first one or behind the last one, as an "
                     "evaluation that begins or ends"},
    {"step 285/1,076", "this step's number and that of the last one: steps are counted from 0, so there is one record more"},
    {"✓, DIFFERS", "of another program's plan: made again it came out the same, or did not"},
    {plan_failed, "the scheduler found no plan"},
    {held_word, "the program waits in front of its next record until a key lets it go on, as n by one record and c freely"},
    {running_word, "the program runs; Space holds it"},
    {ended_word, "the program has ended: nothing more comes"},
};

/// "pass 2a gpu down" where it is over, "in pass 2a gpu down" before; "in optimise".
std::string pass_text(const InspectorSession& session, bool brief) {
    const Pass pass = session.state().pass;
    const bool over = is_moment(History::Unit::sweep, session.record());
    return (over ? "pass " : "in pass ") + (brief ? std::string(pass_name(pass)) : words::pass_and_title(pass));
}

struct StatusPlace {
    std::string text;
    Screen::Clicked click = {};
};

/// What the header says of where the session stands. `brief`: where there is little room, the step matters most.
std::vector<StatusPlace> places_of(const InspectorSession& session, bool brief) {
    const PlanState& state = session.state();
    std::vector<StatusPlace> places;
    if (state.step == no_step) {
        places.push_back({"no steps yet"});
    } else {
        if (const EvaluationId n = session.history().n_evaluations(); n > 0) {
            const auto known = session.history().evaluation(state.evaluation).begin.kind;
            const std::string kind = brief   ? ""
                                     : known ? std::string(graph_kind_name(*known))
                                             : describe_graph(session.history().source(), state.evaluation);
            places.push_back(
                {joined({"eval ", words::evaluation_of(state.evaluation, n), brief ? "" : " ", kind}), ViewId::tokens});
        }
        if (state.pass != Pass::none) {
            places.push_back({pass_text(session, brief), PassPlace{state.pass}});
        } else if (!brief) {
            places.push_back({std::string(between_passes)});
        }
        places.push_back({"step " + words::count(state.step) + "/" + words::count(session.last_step()), Action::go_to_step});
    }
    if (!state.error.empty()) {
        places.push_back({std::string(plan_failed)});
    }
    if (!state.verdicts.empty()) {
        const record::Verdict& verdict = state.verdicts.back();
        places.push_back({brief ? (verdict.reproduced() ? "✓" : "✗ DIFFERS") : verdict_line(verdict)});
    }
    if (const LiveProgram* const program = session.program()) {
        places.push_back({std::string(program->ended()  ? ended_word
                                      : program->goes() ? running_word
                                                        : held_word),
                          program->goes() ? Action::hold : Action::resume});
    }
    return places;
}

int width_of(const std::vector<StatusPlace>& places) {
    int width = 0;
    for (const StatusPlace& place : places) {
        width += text_width(place.text) + 3;
    }
    return width;
}

} // namespace

std::span<const TopLineWord> top_line_words() noexcept { return words_of_top_line; }

void Screen::lay_out(const Layout::Wishes& wishes) {
    layout_ = Layout::of(terminal_.rows(), terminal_.cols(), wishes);
    keys_ = {};
}

void Screen::draw_too_small(const Canvas& page) const {
    page.put(0, 0,
             "too small: " + std::to_string(Layout::least_cols) + "×" + std::to_string(Layout::least_rows) + " needed, q quits");
}

void Screen::draw_trouble(const Canvas& page, const std::string& title, const std::string& why,
                          const std::string& quit_key) const {
    int row = 0;
    page.put(row++, 0, title, bold);
    for (const std::string& line : wrapped(why, page.width())) {
        page.put(row++, 0, line, bad);
    }
    page.put(row + 1, 0, quit_key + " quits, any other key tries to show it again", dim);
}

void Screen::draw_frame(const Canvas& page) const {
    page.frame(dim);
    if (layout_.titles != layout_.upper) {
        page.divider(layout_.upper, -1, false, false, dim);
    }
    page.divider(layout_.titles, layout_.middle, false, true, dim);
    page.divider(layout_.lower, layout_.middle, true, false, dim);
    if (layout_.middle >= 0) {
        page.vertical(layout_.middle, layout_.titles + 1, layout_.lower, dim);
    }
}

void Screen::draw_header(const Canvas& page, const InspectorSession& session, const std::string& title) {
    constexpr int least_title = 8;
    const auto room = [&](const std::vector<StatusPlace>& places) { return page.width() - 3 - width_of(places); };
    std::vector<StatusPlace> places = places_of(session, false);
    if (room(places) < least_title) {
        places = places_of(session, true);
    }
    places_ = {{0, 0, 1, page.width()}, {}};
    int col = page.put(0, 1, " " + title + " ", bold, std::max(room(places), least_title));
    for (const StatusPlace& place : places) {
        col = page.put(0, col, "─", dim);
        const int end = page.put(0, col, " " + place.text + " ", {}, page.width() - 1 - col);
        places_.buttons.push_back({col, end - col, place.text, place.click});
        col = end;
    }
}

void Screen::draw_strip(const Canvas& page, const InspectorSession& session) {
    if (layout_.strip.height == 0) {
        passes_ = {};
        return;
    }
    const Pass now = session.state().pass;
    passes_ = {layout_.strip, pass_strip(now, layout_.strip.width)};
    for (const Button<PassPlace>& button : passes_.buttons) {
        const bool done = session.state().planned || (now != Pass::none && button.meaning.pass < now);
        page.put(layout_.strip.row, layout_.strip.col + button.col, button.text,
                 button.current ? accent.with_reverse()
                 : done         ? Style{}
                                : dim);
    }
}

void Screen::draw_tabs(const Canvas& page, ViewId view) {
    views_ = {layout_.tabs, view_tabs(view, layout_.tabs.width)};
    for (const Button<ViewId>& tab : views_.buttons) {
        page.put(layout_.tabs.row, layout_.tabs.col + tab.col, tab.text, tab.current ? bold : dim);
    }
}

void Screen::draw_guide(const Canvas& page, const std::vector<std::string>& lines) const {
    const Rect& area = layout_.guide;
    for (int i = 0; i < std::min(n_of(lines), area.height); ++i) {
        page.put(area.row + i, area.col + 1, lines[i], accent, area.width - 1);
    }
}

void Screen::draw_status(const Canvas& page, const Told& told, const std::vector<std::string>& marks) const {
    const Rect& area = layout_.status;
    const std::string text = joined(marks, " · ");
    constexpr int least_marks = 16;
    const int left = std::max(area.width - 3 - text_width(told.text), least_marks); // what is told comes first
    const int room = text.empty() ? 0 : std::min({text_width(text) + 2, left, area.width / 2});
    if (room > 0) {
        page.put_right(area.row, area.col + area.width - room, text, dim, room - 1);
    }
    const int width = area.width - 2 - room;
    constexpr std::string_view rest = " :messages"; // has what is cut
    std::string said = shortened(told.text, width);
    if (said.ends_with("…") && said != told.text && width > 30) {
        said = shortened(told.text, width - n_of(rest));
        page.put(area.row, area.col + 1 + text_width(said), rest, dim);
    }
    page.put(area.row, area.col + 1, said, told.trouble ? warning : Style{}, width);
}

void Screen::draw_keys(const Canvas& page, const KeyMap& keys, KeyContext context, const std::function<bool(Action)>& works) {
    const Rect& area = layout_.keys;
    keys_ = {area, footer(keys, context, area.width - 2, works)};
    for (Button<Action>& button : keys_.buttons) {
        ++button.col;
        const std::string label = first_key_text(*keys.binding_of(button.meaning, context));
        const int col = page.put(area.row, area.col + button.col, label, bold);
        page.put(area.row, col, std::string_view(button.text).substr(label.size()), dim);
    }
}

void Screen::draw_hint(const Canvas& page, std::string_view hint) const {
    page.put(layout_.keys.row, layout_.keys.col + 1, hint, dim, layout_.keys.width - 1);
}

template <class Meaning> Screen::Clicked Screen::hit(const Bar<Meaning>& bar, int row, int col) {
    if (bar.area.contains(row, col)) {
        for (const Button<Meaning>& button : bar.buttons) {
            if (col - bar.area.col >= button.col && col - bar.area.col < button.col + button.width) {
                return button.meaning;
            }
        }
    }
    return {};
}

Screen::Clicked Screen::button_at(int row, int col) const {
    for (const Clicked& clicked : {hit(keys_, row, col), hit(places_, row, col), hit(views_, row, col), hit(passes_, row, col)}) {
        if (clicked.index() != 0) {
            return clicked;
        }
    }
    return {};
}

} // namespace schedscope::tui
