// Every key of the table does what its line says. The table below says what is to be seen; an action that it lacks fails the
// test.
#include "inspector/tui/input/keys.h"
#include "inspector/tui/inspector.h"
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"
#include "tests/support/terminal.h"
#include "tests/support/traces/made_trace.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace schedscope {
namespace {

using test::Inspecting;
using test::Terminal;
using namespace tui; // NOLINT: the table is full of its names

struct Effect {
    Action action;
    KeyContext context;
    const char *before, *stands; ///< keys that lead to where it can be seen, and what is shown there
    const char* shows;           ///< after the key: this; "": another screen than before; "(end)": the program has ended well
};

constexpr Effect effects[] = {
    {Action::next_record, in_recorded, ":step 500\n", "step 500/", "step 501/"},
    {Action::previous_record, in_recorded, ":step 500\n", "step 500/", "step 499/"},
    {Action::next_sweep, in_recorded, ":pass 1\n", "▸1 place", "▸gpu↓"},
    {Action::previous_sweep, in_recorded, ":pass 2b\n", "▸gpu↑", "▸gpu↓"},
    {Action::next_pass, in_recorded, ":pass 1\n", "▸1 place", "▸rest↑"},
    {Action::previous_pass, in_recorded, ":pass 3\n", "▸3 refine", "▸rest↑"},
    {Action::next_split, in_recorded, ":pass 5\n", "▸5 split", ""},
    {Action::previous_split, in_recorded, ":last-step\n", "eval 2 (0…2)", ""},
    {Action::next_evaluation, in_recorded, "", "eval 0 (0…2)", "eval 1 (0…2)"},
    {Action::previous_evaluation, in_recorded, ":eval 1\n", "eval 1 (0…2)", "eval 0 (0…2)"},
    {Action::next_token, in_recorded, ":eval 1\n", "eval 1 (0…2)", ""},
    {Action::previous_token, in_recorded, ":last-step\n", "eval 2 (0…2)", ""},
    {Action::next_change, in_recorded, ":tensor kq-3\n:pass 1\n", "▸1 place", ""},
    {Action::previous_change, in_recorded, ":tensor kq-3\n", "┬ kq-3 ", ""},
    {Action::first_step, in_recorded, "", "eval 0 (0…2)", "step 0/"},
    {Action::last_step, in_recorded, "", "eval 0 (0…2)", "eval 2 (0…2)"},
    {Action::go_to_step, in_recorded, "", "eval 0 (0…2)", "go to step "},
    {Action::breakpoint, in_recorded, "", "eval 0 (0…2)", "break on "},
    {Action::breakpoints, in_recorded, ":break kind=token\n", "breakpoint on kind=token", "enabled   met 0     kind=token"},
    {Action::turn_breakpoint, in_popup, ":break op=ROPE\nB", " breakpoints ", "op=ROPE is disabled"},
    {Action::delete_breakpoint, in_popup, ":break op=ROPE\nB", " breakpoints ", "no breakpoint on op=ROPE any longer"},
    {Action::resume, in_recorded, ":break kind=token\n", "breakpoint on kind=token", "breakpoint: "},
    {Action::resume_back, in_recorded, ":break kind=token\n", "breakpoint on kind=token", "breakpoint: "},
    {Action::up, in_recorded, ":last-line\n:mark z\n", "comes back here", ""},
    {Action::down, in_recorded, ":first-line\n:mark z\n", "comes back here", ""},
    {Action::page_up, in_recorded, ":last-line\n:mark z\n", "comes back here", ""},
    {Action::page_down, in_recorded, ":first-line\n:mark z\n", "comes back here", ""},
    {Action::half_up, in_recorded, ":last-line\n:mark z\n", "comes back here", ""},
    {Action::half_down, in_recorded, ":first-line\n:mark z\n", "comes back here", ""},
    {Action::top, in_recorded, ":last-line\n:mark z\n", "comes back here", ""},
    {Action::bottom, in_recorded, ":first-line\n:mark z\n", "comes back here", ""},
    {Action::left, in_recorded, ":to-details\n:mark z\n", "comes back here", ""},
    {Action::right, in_recorded, "", "eval 0 (0…2)", ""},
    {Action::next_pane, in_recorded, "", "eval 0 (0…2)", ""},
    {Action::previous_pane, in_recorded, "", "eval 0 (0…2)", ""},
    {Action::open, in_recorded, ":tensor ffn_gate-3\n", "┬ ffn_gate-3 ", "├ splits "},
    {Action::back, in_recorded, ":tensor ffn_gate-3\n", "┬ ffn_gate-3 ", "│ back"},
    {Action::forward, in_recorded, ":tensor ffn_gate-3\n:back\n", "│ back", "┬ ffn_gate-3 "},
    {Action::leave, in_recorded, ":filter op=ROPE\n", "nodes, filtered", "│ all "},
    {Action::search, in_recorded, "", "eval 0 (0…2)", "Enter accept"},
    {Action::next_match, in_recorded, "/op=SOFT_MAX\n", "found kq_soft_max-0", "found kq_soft_max-1"},
    {Action::previous_match, in_recorded, "/op=SOFT_MAX\n", "found kq_soft_max-0", "found kq_soft_max-3"},
    {Action::filter, in_recorded, "", "eval 0 (0…2)", "show only "},
    {Action::follow, in_recorded, "", "eval 0 (0…2)", "leave the selection where it is"},
    {Action::sort, in_recorded, "", "eval 0 (0…2)", "ordered by #"},
    {Action::explain, in_recorded, ":tensor kq-3\n", "┬ kq-3 ", " the story of kq-3 "},
    {Action::cause, in_recorded, ":tensor attn_norm-3\n", "┬ attn_norm-3 ", "┬ attn_norm.w-3 "},
    {Action::readers, in_recorded, ":tensor kq-3\n", "┬ kq-3 ", "reads kq-3"},
    {Action::sources, in_recorded, ":tensor kq-3\n", "┬ kq-3 ", "is read by kq-3"},
    {Action::mark, in_recorded, "", "eval 0 (0…2)", "mark this place with a letter"},
    {Action::go_to_mark, in_recorded, ":mark a\n", "comes back here", "go to the mark:"},
    {action_of(ViewId::nodes), in_recorded, ":view splits\n", "├ splits ", "├ nodes "},
    {action_of(ViewId::splits), in_recorded, "", "├ nodes ", "├ splits "},
    {action_of(ViewId::copies), in_recorded, "", "├ nodes ", "├ copies "},
    {action_of(ViewId::fusion), in_recorded, "", "├ nodes ", "├ fusion & order "},
    {action_of(ViewId::memory), in_recorded, "", "├ nodes ", "├ memory "},
    {action_of(ViewId::timeline), in_recorded, "", "├ nodes ", "├ timeline "},
    {action_of(ViewId::tokens), in_recorded, "", "├ nodes ", "├ tokens & reuse "},
    {action_of(ViewId::what_if), in_recorded, "", "├ nodes ", "├ what if "},
    {action_of(ViewId::queries), in_recorded, "", "├ nodes ", "├ queries "},
    {action_of(ViewId::values), in_recorded, "", "├ nodes ", "├ values "},
    {Action::zoom_in, in_recorded, ":view timeline\n", "├ timeline ", ""},
    {Action::zoom_out, in_recorded, ":view timeline\niii", " s of ", ""},
    {Action::zoom_whole, in_recorded, ":view timeline\niii", " s of ", ""},
    {Action::pan_left, in_recorded, ":view timeline\niiiLL", " s of ", ""},
    {Action::pan_right, in_recorded, ":view timeline\niii", " s of ", ""},
    {Action::what_if, in_recorded, "", "eval 0 (0…2)", "│ what if "},
    {Action::copy_view, in_recorded, "", "eval 0 (0…2)", "sent to the clipboard: "},
    {Action::copy_details, in_recorded, "", "eval 0 (0…2)", "sent to the clipboard: the details"},
    {Action::wider, in_recorded, "", "eval 0 (0…2)", "the list has 58%"},
    {Action::narrower, in_recorded, "", "eval 0 (0…2)", "the list has 50%"},
    {Action::command, in_recorded, "", "eval 0 (0…2)", "Tab complete"},
    {Action::help, in_recorded, "", "eval 0 (0…2)", " keys that work here "},
    {Action::close, in_recorded, "", "eval 0 (0…2)", "(end)"},
    {Action::quit, in_recorded, "", "eval 0 (0…2)", "(end)"},
    {Action::resume, in_live, "", "HELD", "ENDED"},
    {Action::hold, in_live, "", "HELD", "held already"},
    {Action::follow_run, in_live, "", "HELD", "the run is followed"},
    {Action::up, in_popup, ":keys\n{End}", "lists its topics, :help TOPIC shows one", ""},
    {Action::down, in_popup, ":keys\n", " keys that work here ", ""},
    {Action::page_up, in_popup, ":keys\n{End}", "lists its topics, :help TOPIC shows one", ""},
    {Action::page_down, in_popup, ":keys\n", " keys that work here ", ""},
    {Action::half_up, in_popup, ":keys\n{End}", "lists its topics, :help TOPIC shows one", ""},
    {Action::half_down, in_popup, ":keys\n", " keys that work here ", ""},
    {Action::top, in_popup, ":keys\n{End}", "lists its topics, :help TOPIC shows one", ""},
    {Action::bottom, in_popup, ":keys\n", " keys that work here ", ""},
    {Action::open, in_popup, ":explain kq-3\n{Home}{Down}", " the story of kq-3 ", "goes back"},
    {Action::leave, in_popup, ":explain kq-3\n", " the story of kq-3 ", ""},
    {Action::help, in_popup, ":explain kq-3\n", " the story of kq-3 ", " keys that work here "},
    {Action::close, in_popup, ":explain kq-3\n", " the story of kq-3 ", ""},
    {Action::quit, in_popup, ":keys\n", " keys that work here ", "(end)"},
};

/// As Terminal::press takes it.
std::string typed(Key key) {
    if (key == ' ' || (key > ' ' && key < key_up))
        return key_text(key);
    const std::pair<Key, const char*> arrows[] = {
        {key_up, "{Up}"}, {key_down, "{Down}"}, {key_left, "{Left}"}, {key_right, "{Right}"}, {key_back_tab, "{BackTab}"}};
    for (const auto& [arrow, name] : arrows)
        if (key == arrow)
            return name;
    return "{" + key_text(key) + "}";
}

void expect_effect(const Effect& effect, Key key) {
    SCOPED_TRACE(key_text(key) + " in " + std::to_string(effect.context));
    Inspecting t(24, 110, effect.context == in_live ? test::inspect_made_live : test::inspect_made);
    t.press(effect.before);
    ASSERT_TRUE(t.shows(effect.stands)) << t.text();
    const std::string before = t.text() + t.attributes();
    t.press(key == ' ' ? " " : typed(key));
    const std::string_view wanted = effect.shows;
    if (wanted == "(end)") {
        EXPECT_EQ(t.wait_for_exit(), 0);
        EXPECT_TRUE(t.is_cooked());
    } else if (wanted.empty()) {
        EXPECT_TRUE(t.wait_until([&] { return t.text() + t.attributes() != before; })) << t.text();
    } else {
        EXPECT_EQ(before.find(wanted), std::string::npos) << "it says so without the key";
        EXPECT_TRUE(t.shows(wanted)) << t.text();
    }
}

class EveryKey : public ::testing::TestWithParam<size_t> {};

TEST_P(EveryKey, DoesWhatItsLineSays) {
    const Binding& binding = default_bindings()[GetParam()];
    for (const KeyContext context : {in_recorded, in_live, in_popup}) {
        const bool same_in_recorded = context == in_live && (binding.contexts & in_recorded) != 0;
        if ((binding.contexts & context) == 0 || same_in_recorded)
            continue;
        const auto effect = std::find_if(std::begin(effects), std::end(effects),
                                         [&](const Effect& e) { return e.action == binding.action && e.context == context; });
        ASSERT_NE(effect, std::end(effects)) << "no line says what is to be seen of " << binding.name;
        for (const Key* key = binding.keys.data(); *key != key_none; ++key)
            expect_effect(*effect, *key);
    }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryKey, ::testing::Range<size_t>(0, default_bindings().size()), [](const auto& info) {
    std::string name = std::string(default_bindings()[info.param].name) + std::to_string(info.param);
    name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
    return name;
});

} // namespace
} // namespace schedscope
