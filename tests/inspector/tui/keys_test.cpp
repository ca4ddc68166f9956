#include "inspector/tui/input/keys.h"
#include "inspector/tui/panes/layout.h"
#include "inspector/tui/terminal/text.h"

#include <gtest/gtest.h>

#include <clocale>
#include <map>
#include <set>

namespace schedscope::tui {
namespace {

constexpr KeyContext contexts[] = {in_recorded, in_live, in_popup};

const KeyMap defaults;

TEST(Keys, NoKeyMeansTwoThings) {
    for (const KeyContext context : contexts) {
        std::map<Key, const char*> taken;
        for (const Binding& binding : defaults.bindings()) {
            if ((binding.contexts & context) == 0)
                continue;
            for (const Key* key = binding.keys.data(); *key != key_none; ++key)
                EXPECT_TRUE(taken.emplace(*key, binding.help).second)
                    << key_text(*key) << ": " << taken[*key] << " and " << binding.help;
        }
    }
}

TEST(Keys, EveryActionIsBoundAndDocumentedOnce) {
    for (const KeyContext context : contexts) {
        std::map<Action, int> lines;
        for (const Binding& binding : defaults.bindings())
            if ((binding.contexts & context) != 0)
                ++lines[binding.action];
        for (const auto& [action, n] : lines)
            EXPECT_EQ(n, 1) << static_cast<int>(action);
    }
    for (int action = 1; action < static_cast<int>(Action::count); ++action) {
        const auto a = static_cast<Action>(action);
        EXPECT_TRUE(defaults.binding_of(a, in_recorded) || defaults.binding_of(a, in_live) || defaults.binding_of(a, in_popup))
            << action;
    }
}

TEST(Keys, EveryActionIsCalledByOneName) {
    std::map<std::string, Action> names;
    for (const Binding& binding : default_bindings()) {
        EXPECT_STRNE(binding.help, "");
        EXPECT_EQ(action_named(binding.name), binding.action);
        EXPECT_EQ(names.emplace(binding.name, binding.action).first->second, binding.action) << binding.name;
    }
    EXPECT_EQ(action_named("next-step"), Action::next_record);
    EXPECT_EQ(action_named("frob"), Action::none);
}

TEST(Keys, KeysAreReadAsTheyAreShown) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    for (const Binding& binding : default_bindings()) {
        for (const Key* key = binding.keys.data(); *key != key_none; ++key) {
            EXPECT_EQ(key_named(key_text(*key)), *key) << key_text(*key);
        }
    }
    EXPECT_EQ(key_named("ctrl-n"), ctrl('N'));
    EXPECT_EQ(key_named("up"), key_up);
    EXPECT_EQ(key_named("f12"), key_f12);
    EXPECT_EQ(key_named("ö"), U'ö');
    EXPECT_EQ(key_named("nn"), key_none);
    EXPECT_EQ(key_named(""), key_none);
}

TEST(Keys, TheTableIsWhatKeysDo) {
    EXPECT_EQ(defaults.action_for('n', in_recorded), Action::next_record);
    EXPECT_EQ(defaults.action_for(key_down, in_recorded), Action::down);
    EXPECT_EQ(defaults.action_for('j', in_popup), Action::down);
    EXPECT_EQ(defaults.action_for('n', in_popup), Action::none);
    EXPECT_EQ(defaults.action_for(' ', in_recorded), Action::none);
    EXPECT_EQ(defaults.action_for(' ', in_live), Action::hold);
    EXPECT_EQ(key_text(ctrl('D')), "Ctrl-D");
    EXPECT_EQ(keys_text(*defaults.binding_of(Action::hold, in_live)), "Space Ctrl-C");
}

TEST(Keys, AreTheUsersToChange) {
    KeyMap keys;
    keys.bind(ctrl('N'), Action::next_record);
    EXPECT_EQ(keys.action_for(ctrl('N'), in_recorded), Action::next_record);
    EXPECT_EQ(keys.action_for('n', in_recorded), Action::next_record) << "the old one still does it";
    EXPECT_EQ(keys_text(*keys.binding_of(Action::next_record, in_live)), "Ctrl-N n");
    keys.bind('n', Action::next_match);
    EXPECT_EQ(keys.action_for('n', in_live), Action::next_match);
    EXPECT_EQ(keys_text(*keys.binding_of(Action::next_record, in_live)), "Ctrl-N");
    keys.bind('/', Action::none);
    EXPECT_EQ(keys.action_for('/', in_recorded), Action::none);
    EXPECT_EQ(keys.key_of(Action::search, in_recorded), ":search");
    for (Key key = 'a'; key <= 'z'; ++key) {
        keys.bind(key, Action::sort);
    }
    EXPECT_EQ(keys_text(*keys.binding_of(Action::sort, in_recorded)), "z y x w v") << "those given last";
}

std::string footer_text(int width, KeyContext context = in_recorded) {
    std::string text;
    int col = 0;
    for (const auto& button : footer(defaults, context, width, [](Action) { return true; })) {
        text += std::string(static_cast<size_t>(button.col - col), ' ') + button.text;
        col = button.col + button.width;
    }
    EXPECT_LE(col, width);
    return text;
}

TEST(Footer, KeepsHelpAndQuitAndDropsTheRestByRank) {
    EXPECT_EQ(footer_text(20), "? keys  q quit");
    EXPECT_EQ(footer_text(40), "n/p step  N/P pass  ? keys  q quit");
    EXPECT_EQ(footer_text(76), "n/p step  N/P pass  ]/[ evaluation  f/F change  / search  ? keys  q quit");
    EXPECT_NE(footer_text(238).find("f/F change  b breakpoint"), std::string::npos);
}

TEST(Footer, LeavesOutWhatCanNotWork) {
    for (const auto& button : footer(defaults, in_recorded, 200, [](Action a) { return a != Action::next_record; }))
        EXPECT_NE(button.meaning, Action::next_record);
}

std::string strip_text(Pass now, int width) {
    std::string text;
    int col = 0;
    for (const auto& button : pass_strip(now, width)) {
        text += std::string(static_cast<size_t>(button.col - col), ' ') + button.text;
        col = button.col + button.width;
    }
    EXPECT_LE(col, width);
    return text;
}

TEST(PassStrip, MarksTheCurrentPass) {
    EXPECT_EQ(strip_text(Pass::gpu_down, 120),
              " 1 place   2 expand ▸gpu↓ gpu↑ rest↓ rest↑   3 refine   4 sources   5 split   optimise   allocate   execute");
    EXPECT_EQ(strip_text(Pass::refine, 78), " 1 place gpu↓ gpu↑ rest↓ rest↑▸3 refine 4 sources 5 split opt alloc exec");
    EXPECT_EQ(strip_text(Pass::none, 50), " 1 2a 2b 2c 2d 3 4 5 opt alloc exec");
}

TEST(Tabs, AllViewsFitInEightyColumns) {
    const auto narrow = view_tabs(ViewId::splits, 77);
    EXPECT_EQ(narrow.size(), views().size());
    EXPECT_LE(narrow.back().col + narrow.back().width, 77);
    EXPECT_EQ(narrow[1].text, "▸2splits");
    EXPECT_EQ(view_tabs(ViewId::splits, 120)[1].text, "▸2 splits");
}

std::string tabs_text(ViewId current, int width) {
    std::string text;
    for (const auto& button : view_tabs(current, width)) {
        text += button.text;
    }
    EXPECT_LE(text_width(text), width);
    return text;
}

TEST(Tabs, ShortenANameToItsBeginning) {
    for (const ViewEntry& view : views()) {
        EXPECT_TRUE(std::string_view(view.name).starts_with(view.brief)) << view.name;
    }
}

TEST(Tabs, WhereNamesDoNotFitTheFarthestAreNumbers) {
    EXPECT_EQ(tabs_text(ViewId::nodes, 57), "▸1nodes 2splits 3copies 4fusion 5mem 6time 7tokens 8 9 0");
    EXPECT_EQ(tabs_text(ViewId::what_if, 57), " 1 2 3 4 5mem 6time 7tokens▸8what-if 9queries 0values");
    EXPECT_EQ(tabs_text(ViewId::values, 47), " 1 2 3 4 5 6 7tokens 8what-if 9queries▸0values");
    EXPECT_EQ(tabs_text(ViewId::what_if, 28), " 1 2 3 4 5 6 7▸8what-if 9 0");
}

TEST(Columns, TheGrowingOneTakesWhatIsLeftAndSomeNeedRoom) {
    const tables::Column columns[] = {{.title = "#", .unit = tables::Unit::number, .width = 3},
                                      {.title = "name"},
                                      {.title = "shape", .width = 10, .from_width = 60}};
    EXPECT_EQ(column_widths(columns, 40), (std::vector<int>{3, 36, 0}));
    EXPECT_EQ(column_widths(columns, 60), (std::vector<int>{3, 45, 10}));
}

TEST(Columns, GiveWayBeforeNamesAreCut) {
    const tables::Column columns[] = {{.title = "#", .unit = tables::Unit::number, .width = 3},
                                      {.title = "name"},
                                      {.title = "type", .width = 5, .from_width = 50},
                                      {.title = "shape", .width = 10, .from_width = 56}};
    EXPECT_EQ(width_without_cut_names(columns, 60, 10), 60) << "all have room";
    EXPECT_EQ(column_widths(columns, 60, width_without_cut_names(columns, 60, 44)), (std::vector<int>{3, 50, 5, 0}));
    EXPECT_EQ(column_widths(columns, 60, width_without_cut_names(columns, 60, 54)), (std::vector<int>{3, 56, 0, 0}));
    EXPECT_EQ(column_widths(columns, 60, width_without_cut_names(columns, 60, 90)), (std::vector<int>{3, 56, 0, 0}));
    EXPECT_EQ(width_with_names(columns, 20), 24);
}

TEST(Columns, OfAUsualScreenAreLeftOutOnANarrowerOneAlone) {
    const tables::Column columns[] = {{.title = "op", .width = 9, .from_width = 40}, {.title = "name"}};
    EXPECT_EQ(column_widths(columns, 40, width_without_cut_names(columns, 40, 90)), (std::vector<int>{9, 30}));
    EXPECT_EQ(column_widths(columns, 36, width_without_cut_names(columns, 36, 10)), (std::vector<int>{0, 36}));
    EXPECT_EQ(width_with_names(columns, 20), 30) << "where there are both panes";
}

TEST(Columns, HeadsOfSeveralWordsStandApartWhereThereIsRoom) {
    using enum tables::Unit;
    const tables::Column columns[] = {{.title = "name"},
                                      {.title = "used", .unit = number, .width = 9},
                                      {.title = "from", .unit = number, .width = 5, .from_width = 200},
                                      {.title = "in place of", .width = 18},
                                      {.title = "life", .width = 10}};
    EXPECT_EQ(column_gap(columns, 0, 100), 0);
    EXPECT_EQ(column_gap(columns, 1, 100), 1);
    EXPECT_EQ(column_gap(columns, 3, 100), 2) << "the one between them is not shown";
    EXPECT_EQ(column_gap(columns, 4, 100), 1) << "behind a text there is room already";
    const tables::Column brief[] = {{.title = "#", .unit = number, .width = 3}, {.title = "op", .width = 9}};
    EXPECT_EQ(column_gap(brief, 1, 100), 1);
    EXPECT_EQ(column_gap(columns, 3, 60), 1);
    const std::vector<int> widths = column_widths(columns, 100);
    EXPECT_EQ(widths[0] + 1 + widths[1] + 2 + widths[3] + 1 + widths[4], 100);
}

} // namespace
} // namespace schedscope::tui
