// The terminal as people have it: mouse, colours, clipboards, files, settings, and what is kept.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"
#include "tests/support/terminal.h"
#include "tests/support/traces/made_trace.h"

#include "inspector/tui/state/settings.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/resource.h>
#include <unistd.h>

namespace schedscope {
namespace {

namespace fs = std::filesystem;
using test::inspect_made;
using test::Inspecting;
using test::Terminal;

/// A folder of its own for what a test reads and writes.
class Comfort : public ::testing::Test {
protected:
    Comfort() { fs::create_directories(folder / "config/schedscope"); }
    ~Comfort() override { fs::remove_all(folder); }

    std::string read(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    void set(const std::string& text) { std::ofstream(folder / "config/schedscope/settings") << text; }

    fs::path folder = fs::temp_directory_path() / ("schedscope-comfort-" + std::to_string(getpid()));
    Terminal::Options here{"xterm-256color",
                           "C.UTF-8",
                           {{"XDG_CONFIG_HOME", (folder / "config").string()}, {"XDG_STATE_HOME", (folder / "state").string()}}};
};

TEST_F(Comfort, AClickOnTheSelectedLineOpensIt) {
    Inspecting t(24, 100, inspect_made);
    t.click(8, 10);
    ASSERT_TRUE(t.wait_until([&] { return t.line(8).find("│▸") == 0; })) << t.text();
    t.click(8, 10);
    EXPECT_TRUE(t.shows("├ splits ")) << t.text();
}

TEST_F(Comfort, TheLineBetweenThePanesIsDragged) {
    Inspecting t(24, 100, inspect_made);
    const auto [row, col] = t.find("┬");
    t.drag(row + 4, col, row + 4, col - 20);
    ASSERT_TRUE(t.shows("% of the screen")) << t.text();
    EXPECT_EQ(t.find("┬").second, col - 20) << t.text();
    t.drag(row + 4, col - 20, row + 4, 2);
    EXPECT_TRUE(t.wait_until([&] { return t.find("┬").second == 21; })) << "never narrower than that\n" << t.text();
}

TEST_F(Comfort, PagesTakeClicksAndTheWheel) {
    Inspecting t(20, 100, inspect_made);
    t.press("?");
    ASSERT_TRUE(t.shows("next step (one record)"));
    t.wheel(10, 50, true);
    ASSERT_TRUE(t.hides("next step (one record)")) << t.text();
    t.click(0, 0);
    ASSERT_TRUE(t.hides(" keys that work here ")) << t.text();
    t.press(":tensor kq-3\nd");
    ASSERT_TRUE(t.shows(" what is read by kq-3 ")) << t.text();
    const auto [row, col] = t.find(" what is read by kq-3 ");
    t.click(row + 2, col + 4);
    t.click(row + 2, col + 4);
    EXPECT_TRUE(t.hides(" what is read by kq-3 ")) << t.text();
    EXPECT_EQ(t.text().find("┬ kq-3 "), std::string::npos) << t.text();
}

TEST_F(Comfort, TheWheelScrollsThePaneThatItIsOver) {
    Inspecting t(16, 100, inspect_made);
    t.press(":tensor kq-3\n");
    ASSERT_TRUE(t.shows("┬ kq-3 "));
    const std::string left = t.line(5).substr(0, 30);
    t.wheel(8, 80, true);
    ASSERT_TRUE(t.settles());
    EXPECT_EQ(t.line(5).substr(0, 30), left);
    t.wheel(8, 10, false);
    EXPECT_TRUE(t.wait_until([&] { return t.line(5).substr(0, 30) != left; })) << t.text();
}

/// The colour of the first backend in the list, the CPU.
std::string cpu_ink(Terminal& t) {
    const auto [row, col] = t.find("CPU ");
    return row < 0 ? "not there" : t.foreground(row, col);
}

class Colours : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Colours, AreThoseThatTheTerminalHas) {
    if (!test::has_terminfo(GetParam().first))
        GTEST_SKIP() << "ncurses-term is not installed";
    Inspecting t(24, 100, inspect_made, {GetParam().first, "C.UTF-8", {}});
    EXPECT_EQ(cpu_ink(t), GetParam().second) << t.text();
    t.press("?{Esc}n:q{Esc}2{Tab}1Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
    EXPECT_TRUE(t.is_cooked());
}
INSTANTIATE_TEST_SUITE_P(Of, Colours,
                         ::testing::Values(std::pair{"linux", "6"}, std::pair{"screen", "6"}, std::pair{"screen-256color", "74"},
                                           std::pair{"tmux-256color", "74"}, std::pair{"xterm-256color", "74"},
                                           std::pair{"xterm-16color", "6"}, std::pair{"vt100", ""}));

TEST_F(Comfort, DirectColourIsExact) {
    if (!test::has_terminfo("xterm-direct"))
        GTEST_SKIP() << "ncurses-term is not installed";
    Inspecting t(24, 100, inspect_made, {"xterm-direct", "C.UTF-8", {}});
    EXPECT_TRUE(t.has_written("38:2::86:180:233m")) << "sky blue, as in the pictures";
}

TEST_F(Comfort, ALightBackgroundGetsDarkInks) {
    Terminal dark(24, 100, inspect_made, {"xterm-256color", "C.UTF-8", {{"COLORFGBG", "15;0"}}});
    Terminal light(24, 100, inspect_made, {"xterm-256color", "C.UTF-8", {{"COLORFGBG", "0;default;15"}}});
    ASSERT_TRUE(dark.shows("q quit"));
    ASSERT_TRUE(light.shows("q quit"));
    EXPECT_EQ(cpu_ink(dark), "74");
    EXPECT_EQ(cpu_ink(light), "25");
    EXPECT_EQ(dark.text(), light.text());
    EXPECT_FALSE(dark.has_written("\x1b]11;?")) << "no terminal is asked for what is known";
    set("background light\n");
    Inspecting wanted(24, 100, inspect_made, here);
    EXPECT_EQ(cpu_ink(wanted), "25");
}

TEST_F(Comfort, TheTerminalIsAskedForItsBackgroundAndNotWaitedFor) {
    Inspecting t(24, 100, inspect_made);
    EXPECT_TRUE(t.has_written("\x1b]11;?"));
    EXPECT_EQ(cpu_ink(t), "74") << "without an answer";
    t.write_all("\x1b]11;rgb:ffff/ffff");
    t.write_all("/dddd\x1b\\");
    ASSERT_TRUE(t.wait_until([&] { return cpu_ink(t) == "25"; })) << t.text();
    EXPECT_NE(t.text().find("? shows the keys"), std::string::npos) << "none of it was taken for keys\n" << t.text();
    t.press("n");
    EXPECT_TRUE(t.hides("? shows the keys"));

    Inspecting linux_console(24, 100, inspect_made, {"linux", "C.UTF-8", {}});
    EXPECT_FALSE(linux_console.has_written("\x1b]11;?")) << "it would show the question";
}

TEST_F(Comfort, NamesOfOtherScriptsLineUp) {
    Terminal t(24, 80, [] {
        auto store = std::make_shared<LiveStore>();
        test::MadeRun run(2);
        run.rename("attn_norm-0", "正規化-0");
        run.rename("norm-0", "e\xcc\x81te\xcc\x81-0");
        run.record(*store, 1);
        return run_inspector(store, {});
    });
    ASSERT_TRUE(t.shows("正規化-0")) << t.text();
    ASSERT_TRUE(t.shows("e\xcc\x81te\xcc\x81-0") || t.shows("été-0")) << t.text();
    for (int row = 4; row < 20; ++row)
        EXPECT_EQ(t.cell(row, 79), "│") << "line " << row << "\n" << t.text();
    const int middle = t.find("┬").second;
    for (int row = 4; row < 20; ++row)
        EXPECT_EQ(t.cell(row, middle), "│") << "line " << row << "\n" << t.text();
}

TEST_F(Comfort, TheListGoesToTheClipboard) {
    Inspecting t(24, 100, inspect_made);
    t.press("&op=GET_ROWS\n");
    ASSERT_TRUE(t.shows("filtered"));
    t.press("y");
    ASSERT_TRUE(t.shows("sent to the clipboard: ")) << t.text();
    EXPECT_TRUE(t.has_written("\x1b]52;c;bWFkZS50cmFjZSw")) << "made.trace, in base64";
    EXPECT_FALSE(t.has_written("\x1bPtmux;"));
    Inspecting in_tmux(24, 100, inspect_made, {"tmux-256color", "C.UTF-8", {{"TMUX", "/tmp/tmux,1,0"}}});
    in_tmux.press("Y");
    ASSERT_TRUE(in_tmux.shows("sent to the clipboard: the details")) << in_tmux.text();
    EXPECT_TRUE(in_tmux.has_written("\x1bPtmux;\x1b\x1b]52;c;"));
}

TEST_F(Comfort, TheListIsWrittenToAFileOnce) {
    Inspecting t(24, 120, inspect_made, here);
    const std::string file = (folder / "list.txt").string();
    t.press(":write " + file + "\n");
    ASSERT_TRUE(t.shows("and the details are written")) << t.text();
    const std::string text = read(file);
    EXPECT_EQ(text.find("made.trace, evaluation 0 (0…"), 0u) << text;
    EXPECT_NE(text.find("kq_soft_max-3"), std::string::npos) << text;
    EXPECT_NE(text.find("story"), std::string::npos) << text;
    t.press(":write " + file + "\n");
    ASSERT_TRUE(t.shows("overwrites it")) << t.text();
    t.press("&op=ROPE\n:write! " + file + "\n");
    ASSERT_TRUE(t.shows("8 lines and the details are written")) << t.text();
    EXPECT_LT(read(file).size(), text.size());
}

TEST_F(Comfort, WhatCanNotBeWrittenIsThereStill) {
    const fs::path closed = folder / "closed";
    fs::create_directories(closed);
    std::ofstream(closed / "list.txt") << "precious";
    const auto on_a_full_disk = [] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit little{1000, 1000};
        return setrlimit(RLIMIT_FSIZE, &little) == 0 ? inspect_made() : 99;
    };
    Inspecting t(24, 140, on_a_full_disk, here);
    t.press(":write! " + (closed / "list.txt").string() + "\n");
    ASSERT_TRUE(t.shows("can't be written: File too large")) << t.text();
    EXPECT_EQ(read(closed / "list.txt"), "precious");
    EXPECT_EQ(std::distance(fs::directory_iterator(closed), {}), 1) << "nothing else is left there";
}

TEST_F(Comfort, ATildeIsTheHomeOfTheOtherTrace) {
    here.environment.emplace_back("HOME", folder.string());
    Inspecting t(24, 140, inspect_made, here);
    t.press(":diff ~/other.trace\n");
    EXPECT_TRUE(t.shows(folder.string() + "/other.trace")) << t.text();
}

TEST_F(Comfort, WhatIsSetHoldsAtOnce) {
    here.environment.emplace_back("NO_COLOR", "1");
    InspectorOptions kept;
    kept.trace_path = (folder / "made.trace").string();
    Inspecting t(
        24, 120, [&] { return test::inspect_made_with(kept); }, here);
    ASSERT_FALSE(t.colored());
    t.press(":set color 256\n");
    ASSERT_TRUE(t.shows("set color 256")) << t.text();
    EXPECT_TRUE(t.wait_until([&] { return t.colored(); })) << "asked for, it goes before NO_COLOR";
    t.press(":set view splits\n");
    EXPECT_TRUE(t.shows("├ splits ")) << t.text();
    t.press("a");
    ASSERT_TRUE(t.shows("leave the selection where it is")) << t.text();
    t.press(":set\n");
    EXPECT_TRUE(t.shows("follow            off")) << t.text();
    t.press("{Esc}:set restore off\n");
    ASSERT_TRUE(t.shows("set restore off")) << t.text();
    t.press("Q");
    ASSERT_EQ(t.wait_for_exit(), 0);
    EXPECT_FALSE(fs::exists(folder / "state/schedscope/sessions")) << "nothing is kept";
}

TEST_F(Comfort, APictureIsDrawnWhileKeysGoOn) {
    Inspecting t(24, 120, inspect_made, here);
    const std::string file = (folder / "now.dot").string();
    t.press(":dot splits " + file + "\n");
    ASSERT_TRUE(t.shows(file + " is written")) << t.text();
    EXPECT_EQ(read(file).find("digraph"), 0u);
    t.press(":dot splits " + file + "\n");
    EXPECT_TRUE(t.shows("exists: :dot! ")) << t.text();
    t.press(":dot! /dev/null/now.dot\n");
    EXPECT_TRUE(t.shows("/dev/null/now.dot")) << t.text();
}

TEST(Settings, AreListedAsTheyCome) {
    unsetenv("SSH_CONNECTION"); // over a network Escape waits longer
    unsetenv("SSH_TTY");
    std::vector<std::string> listed;
    for (const tui::SettingEntry& entry : tui::all_settings()) {
        if (entry.name != "key") {
            listed.push_back(std::string(entry.name) + " " + std::string(entry.value));
        }
    }
    EXPECT_EQ(listed, tui::Settings().lines());
}

TEST_F(Comfort, SettingsAreReadFromTheirFile) {
    set("# mine\nview splits\nlist-width 70   # wide\nkey Ctrl-N next-step\nkey n next-match\nkey # sort\nfollow off\n");
    Terminal t(24, 100, inspect_made, here);
    ASSERT_TRUE(t.shows("├ splits ")) << t.text();
    EXPECT_NE(t.text().find("Ctrl-N/p step"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("selection stays"), std::string::npos) << t.text();
    EXPECT_EQ(t.find("┬").second, 1 + 98 * 70 / 100);
    t.press(":step 500\n");
    ASSERT_TRUE(t.shows("step 500/"));
    t.press("{Ctrl-N}");
    ASSERT_TRUE(t.shows("step 501/")) << t.text();
    t.press("n");
    ASSERT_TRUE(t.shows("nothing was searched yet")) << t.text();
    t.press("1#");
    ASSERT_TRUE(t.shows("ordered by")) << t.text();
    t.press(":set\n");
    EXPECT_TRUE(t.shows("list-width        70")) << t.text();
}

TEST_F(Comfort, ABadSettingIsToldAndTheRestHolds) {
    set("view splits\nfrobnicate 3\nlist-width 1000\n");
    Terminal t(24, 140, inspect_made, here);
    ASSERT_TRUE(t.shows("├ splits ")) << t.text();
    EXPECT_NE(t.text().find("settings:2: no setting 'frobnicate'"), std::string::npos) << t.text();
}

TEST_F(Comfort, SettingsThatAreNoFileAreToldToo) {
    fs::create_directories(folder / "config/schedscope/settings");
    Terminal t(24, 140, inspect_made, here);
    ASSERT_TRUE(t.shows("settings can't be read: it is no file")) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST_F(Comfort, ATraceIsGoneOnWithWhereItWasLeft) {
    InspectorOptions kept;
    kept.trace_path = (folder / "made.trace").string();
    const auto inspect = [&] { return test::inspect_made_with(kept); };
    {
        Inspecting t(24, 140, inspect, here);
        t.press(":step 700\n2mb1&op=ROPE\nbkind=token\nbop=ADD\nB{Down}\n{Esc}:tensor q_rope-3\n");
        ASSERT_TRUE(t.shows("┬ q_rope-3 ")) << t.text();
        t.press("Q");
        ASSERT_EQ(t.wait_for_exit(), 0);
    }
    Terminal t(24, 140, inspect, here);
    ASSERT_TRUE(t.shows("as it was left")) << t.text();
    EXPECT_NE(t.text().find("step 700/"), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("┬ q_rope-3 "), std::string::npos) << t.text();
    EXPECT_NE(t.text().find("only op=ROPE · 1 of 2 breakpoints"), std::string::npos) << t.text();
    t.press(">'b");
    ASSERT_TRUE(t.shows("mark b")) << t.text();
    EXPECT_NE(t.text().find("├ splits"), std::string::npos) << t.text();
    t.press("&{Ctrl-U}{Up}");
    EXPECT_TRUE(t.shows("show only op=ROPE")) << t.text();
    t.press("{Esc}B");
    EXPECT_TRUE(t.shows("1  enabled   met 0     kind=token")) << t.text();
    EXPECT_TRUE(t.shows("2  disabled  met 0     op=ADD")) << t.text();
}

TEST_F(Comfort, WhatTheUserAsksForGoesBeforeWhatWasLeft) {
    InspectorOptions kept;
    kept.trace_path = (folder / "made.trace").string();
    {
        Inspecting t(
            24, 140, [&] { return test::inspect_made_with(kept); }, here);
        t.press(":step 700\nmb0&op=ROPE\n");
        ASSERT_TRUE(t.shows("match op=ROPE")) << t.text();
        t.press("Q");
        ASSERT_EQ(t.wait_for_exit(), 0);
    }
    {
        InspectorOptions asked = kept;
        asked.evaluation = 2;
        Terminal t(
            24, 140, [&] { return test::inspect_made_with(asked); }, here);
        ASSERT_TRUE(t.shows("eval 2 (0…2)")) << t.text();
        EXPECT_EQ(t.text().find("only op=ROPE"), std::string::npos) << t.text();
        EXPECT_NE(t.text().find("▸1 nodes"), std::string::npos) << t.text();
        t.press("'b");
        EXPECT_TRUE(t.shows("step 700/")) << "marks are there still\n" << t.text();
        t.press("0");
        ASSERT_TRUE(t.shows("├ values ")) << t.text();
        t.press("Q");
        ASSERT_EQ(t.wait_for_exit(), 0);
    }
    Terminal t(
        24, 140, [&] { return test::inspect_made_with(kept); }, here);
    ASSERT_TRUE(t.shows("as it was left")) << t.text();
    EXPECT_NE(t.text().find("├ values "), std::string::npos) << "the tenth view is one, too\n" << t.text();
}

TEST_F(Comfort, WhatWasKeptMayBeBrokenOrOfAnotherTrace) {
    InspectorOptions kept;
    kept.trace_path = (folder / "made.trace").string();
    const auto inspect = [&] { return test::inspect_made_with(kept); };
    {
        Inspecting t(24, 140, inspect, here);
        t.press("Q");
        ASSERT_EQ(t.wait_for_exit(), 0);
    }
    const fs::path file = fs::directory_iterator(folder / "state/schedscope/sessions")->path();
    const std::string good = read(file);
    const auto opens_with = [&](const std::string& text, const char* says) {
        std::ofstream(file) << text;
        Terminal t(24, 140, inspect, here);
        EXPECT_TRUE(t.shows("q quit")) << t.text();
        EXPECT_NE(t.text().find(says), std::string::npos) << t.text();
        t.send_signal(SIGKILL); // keeps nothing
        t.wait_for_exit();
    };
    opens_with("\x7f"
               "ELF nothing of ours\n",
               "can't be read: it starts over");
    opens_with("", "can't be read: it starts over");
    std::string other = good;
    other.insert(other.find("steps ") + 6, "9");
    opens_with(other, "another than the one that was looked at");
    opens_with(good + "mark a 999999999 1 1\nplace -3 x\nfrob\n", "some of what was kept");
    opens_with(good + "filter frob=1\n", "can't be read: query: 'frob' is no field");
    opens_with(std::string(1 << 20, 'x'), "can't be read: it is too large");
    opens_with(good, "as it was left");
    opens_with(good + "break kind=token\n", "break kind=token"); // as there was one of them once
    std::ofstream(folder / "config/schedscope/settings") << "restore off\n";
    opens_with(good, "? shows the keys");
}

TEST(AMessage, ThatDoesNotFitIsOpened) {
    Inspecting t(24, 80, [] { return inspect_made(); });
    const std::string field = "n" + std::string(60, 'o') + "thing";
    t.press(":search " + field + "=1\n");
    ASSERT_TRUE(t.shows("… :messages")) << t.text();
    t.press(":messages\n");
    ASSERT_TRUE(t.shows("─ messages ")) << t.text();
    EXPECT_TRUE(t.shows("shows the keys")) << "the first one: " << t.text();
    EXPECT_TRUE(t.shows(field)) << t.text();
    EXPECT_EQ(t.text().find("… "), t.text().find("… :messages")) << "nothing is cut: " << t.text();
}

} // namespace
} // namespace schedscope
