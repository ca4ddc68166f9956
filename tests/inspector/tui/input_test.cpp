// What is typed arrives: bytes that mean nothing are passed over alone, and the keys beside them are not.
#include "tests/inspector/tui/harness/inspecting.h"
#include "tests/inspector/tui/harness/programs.h"
#include "tests/support/terminal.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::Inspecting;

class NoCharacter : public ::testing::TestWithParam<const char*> {};

TEST_P(NoCharacter, TakesNoKeysWithIt) {
    Inspecting t(24, 80, test::inspect_made);
    t.write_all(std::string(":one") + GetParam() + "two語" + GetParam() + "\x1bOD#"); // cursor left
    EXPECT_TRUE(t.shows(":onetwo#語")) << t.text();
    t.write_all(GetParam() + std::string("\x1b?")); // leave the prompt, show the keys
    EXPECT_TRUE(t.shows(" close ")) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Input, NoCharacter,
                         ::testing::Values("\xff", "\x80\xbf", "\xc3", "\xe8\xaa", "\xf0\x9f\x98", // no lead, or no end
                                           "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", // too long, surrogate, too high
                                           "\xc3\xe8\xaa\xff"));

TEST(Input, ACharacterMayArriveInPieces) {
    Inspecting t(24, 80, test::inspect_made);
    t.press(":one");
    for (const char* piece : {"\xe8", "\xaa", "\x9e", "\xc3", "\xb6"}) {
        t.write_all(piece);
        ASSERT_TRUE(t.settles());
    }
    t.write_all("!");
    EXPECT_TRUE(t.shows(":one語ö!")) << t.text();
}

TEST(Input, EscapeTakesNoKeyWithIt) {
    Inspecting t(24, 80, test::inspect_made);
    t.write_all(":one\x1b\x1bOP"); // Esc, F1
    EXPECT_TRUE(t.shows(" close ")) << t.text();
    t.write_all("\x1b:two\x1b[12\x1bODx"); // a sequence without an end, and Left
    EXPECT_TRUE(t.shows(":twxo")) << t.text();
}

TEST(Input, AKeyThatArrivesInPiecesIsOneKey) {
    Inspecting t(24, 80, test::inspect_made);
    t.press(":one");
    ASSERT_TRUE(t.shows(":one")) << t.text();
    for (const char* piece : {"\x1b[", "D", "\x1bO", "D", "\x1b[<0;3", "0;20M"}) {
        t.write_all(piece);
        ASSERT_TRUE(t.settles()); // it has taken the first part, and waits
    }
    t.write_all("!");
    EXPECT_TRUE(t.shows(":o!ne")) << t.text();
}

TEST(Input, TheEscapeKeyAloneNeedsNoOther) {
    Inspecting t(24, 80, test::inspect_made);
    t.press("?");
    ASSERT_TRUE(t.shows("keys that work here")) << t.text();
    t.press("{Esc}");
    EXPECT_TRUE(t.hides("keys that work here")) << t.text();
}

TEST(Input, AnotherMouseButtonDoesNotHoldTheInspector) {
    Inspecting t(24, 80, test::inspect_made);
    for (const char* event : {"\x1b[<1;5;5M", "\x1b[<1;5;5m", "\x1b[<2;5;5M", "\x1b[<2;5;5m", "\x1b[<66;5;5M"}) {
        t.write_all(event);
    }
    ASSERT_TRUE(t.settles());
    t.resize(30, 100);
    EXPECT_TRUE(t.wait_until([&] { return t.line(28).find("q quit") != std::string::npos; })) << t.text();
}

/// To scroll, curses saves the cursor in the terminal and restores it. Some terminals keep "hidden" with it, and the alternate
/// screen's end restores it again.
TEST(Input, QuittingShowsTheCursorAlsoWhenAListHasScrolled) {
    Inspecting t(24, 80, [] { return test::inspect_made(); });
    t.press("?");
    ASSERT_TRUE(t.shows("keys that work here")) << t.text();
    t.press("{Down}{Down}{Down}");
    ASSERT_TRUE(t.settles());
    ASSERT_TRUE(t.has_written("\x1b"
                              "7"))
        << "it has not scrolled";
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
    EXPECT_FALSE(t.alternate_screen());
    EXPECT_TRUE(t.cursor_visible());
}

} // namespace
} // namespace schedscope
