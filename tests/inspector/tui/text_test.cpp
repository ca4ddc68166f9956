#include "inspector/tui/terminal/text.h"

#include "inspector/tui/input/prompt.h"

#include <gtest/gtest.h>

#include <clocale>

namespace schedscope::tui {
namespace {

class Text : public ::testing::Test {
protected:
    void SetUp() override {
        std::setlocale(LC_CTYPE, "C.UTF-8");
        set_unicode(true);
    }
    void TearDown() override { set_unicode(true); }
};

TEST_F(Text, NamesCanNotDriveTheTerminal) {
    EXPECT_EQ(to_utf8(printable("a\x1b[2Jb")), "a·[2Jb");
    EXPECT_EQ(to_utf8(printable("\x9b"
                                "31m")),
              "\xef\xbf\xbd"
              "31m");
    EXPECT_EQ(to_utf8(printable("\xc2\x9b"
                                "31m")),
              "·31m");
    EXPECT_EQ(to_utf8(printable("a\nb")), "a↵b");
    EXPECT_EQ(to_utf8(printable("\xe2\x80\xae"
                                "abc")),
              "·abc");
}

TEST_F(Text, BrokenUtf8IsMarked) {
    EXPECT_EQ(to_utf8(printable("a\xff"
                                "b")),
              "a\xef\xbf\xbd"
              "b");
    EXPECT_EQ(to_utf8(printable("\xe2\x82")), "\xef\xbf\xbd\xef\xbf\xbd") << "byte by byte";
    EXPECT_EQ(to_utf8(printable("\xc0\xaf")), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_F(Text, WithoutUnicodeItIsSpelled) {
    set_unicode(false);
    EXPECT_EQ(to_utf8(printable("CPU → GPU · 4×")), "CPU -> GPU - 4x");
    EXPECT_EQ(to_utf8(printable("é")), "?");
    EXPECT_EQ(to_utf8(fitted("norm-3", 4)), "nor~");
}

TEST_F(Text, WidthCountsCells) {
    EXPECT_EQ(text_width("norm-3"), 6);
    EXPECT_EQ(text_width("gpu↓"), 4);
    EXPECT_EQ(text_width("語"), 2);
}

TEST_F(Text, WhatIsTooLongEndsInAnEllipsis) {
    EXPECT_EQ(to_utf8(fitted("norm-3", 6)), "norm-3");
    EXPECT_EQ(to_utf8(fitted("norm-3", 5)), "norm…");
    EXPECT_EQ(to_utf8(fitted("語語語", 4)), "語…");
    EXPECT_EQ(to_utf8(fitted("abc", 0)), "");
}

TEST_F(Text, MarksStayWithTheirLetters) {
    EXPECT_EQ(text_width("e\xcc\x81"), 1);
    EXPECT_EQ(to_utf8(printable("\xcc\x81x")), "\xe2\x97\x8c\xcc\x81x") << "alone, it must not join what is drawn before";
    EXPECT_EQ(to_utf8(printable("a\xe2\x80\x8d"
                                "b\xef\xb8\x8f")),
              "ab")
        << "joiners and selectors are drawn in other widths by each terminal";
    EXPECT_EQ(to_utf8(fitted("e\xcc\x81"
                             "e\xcc\x81"
                             "e\xcc\x81",
                             2)),
              "e\xcc\x81…");
}

TEST_F(Text, LinesBreakAtSpaces) {
    EXPECT_EQ(wrapped("one two three", 9), (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(wrapped("abcdefghijkl", 10), (std::vector<std::string>{"abcdefghij", "kl"}));
    EXPECT_EQ(wrapped("", 10), (std::vector<std::string>{""}));
    EXPECT_EQ(wrapped("12345678 90", 8), (std::vector<std::string>{"12345678", "90"}));
}

TEST_F(Text, ASentenceIsShortenedByWhatMattersLeast) {
    const std::string sentence = "embd: CPU by 1.wgt0 because of token_embd.weight · u goes on · ( goes back";
    EXPECT_EQ(shortened(sentence, 80), sentence);
    EXPECT_EQ(shortened(sentence, 70), "embd: CPU by 1.wgt0 because of token_embd.weight · u goes on");
    EXPECT_EQ(shortened(sentence, 50), "embd: CPU by 1.wgt0 because of token_embd.weight");
    EXPECT_EQ(shortened(sentence, 40), "embd: CPU by 1.wgt0 because of…");
    EXPECT_EQ(shortened("abcdefghijklmnop", 10), "abcdefghi…") << "a long word is cut";
    EXPECT_EQ(shortened("", 5), "");
    for (int width = 10; width < 80; ++width) {
        EXPECT_LE(text_width(shortened(sentence, width)), width) << width;
    }
}

class Typing : public Text {
protected:
    static Prompt::Typing type(Prompt& prompt, std::string_view keys) {
        Prompt::Typing result = Prompt::Typing::editing;
        for (const char key : keys)
            result = prompt.handle(key);
        return result;
    }
    std::vector<std::string> history;
};

TEST_F(Typing, EnterAcceptsAndRemembers) {
    Prompt prompt("/", "", history);
    EXPECT_EQ(type(prompt, "norm"), Prompt::Typing::editing);
    EXPECT_EQ(prompt.handle(key_enter), Prompt::Typing::accepted);
    EXPECT_EQ(prompt.text(), "norm");
    EXPECT_EQ(history, std::vector<std::string>{"norm"});
}

TEST_F(Typing, EscAndBackspaceOnNothingCancel) {
    Prompt prompt("/", "", history);
    EXPECT_EQ(prompt.handle(key_backspace), Prompt::Typing::cancelled);
    EXPECT_EQ(prompt.handle(key_escape), Prompt::Typing::cancelled);
}

TEST_F(Typing, TheLineIsEditedInPlace) {
    Prompt prompt("/", "op=MUL", history);
    type(prompt, {"\x01x", 2}); // Ctrl-A
    EXPECT_EQ(prompt.text(), "xop=MUL");
    EXPECT_EQ(prompt.cursor_column(), 1);
    prompt.handle(key_delete);
    prompt.handle(key_end);
    prompt.handle(key_backspace);
    EXPECT_EQ(prompt.text(), "xp=MU");
    type(prompt, " name~a b");
    prompt.handle(ctrl('W'));
    EXPECT_EQ(prompt.text(), "xp=MU name~a ");
    prompt.handle(ctrl('U'));
    EXPECT_EQ(prompt.text(), "");
}

TEST_F(Typing, TheTextBeforeIsReplacedByWhatIsTypedFirst) {
    Prompt prompt("what if ", "ngl=2", history);
    EXPECT_TRUE(prompt.replaces());
    type(prompt, "fa=off");
    EXPECT_EQ(prompt.text(), "fa=off");
    EXPECT_FALSE(prompt.replaces());
    EXPECT_EQ(prompt.cursor_column(), 6);

    for (const Key erase : {Key{key_backspace}, Key{key_delete}, ctrl('W'), ctrl('U')}) {
        Prompt emptied("what if ", "ngl=2 fa=off", history);
        EXPECT_EQ(emptied.handle(erase), Prompt::Typing::editing);
        EXPECT_EQ(emptied.text(), "");
    }
    Prompt accepted("what if ", "ngl=2", history);
    EXPECT_EQ(accepted.handle(key_enter), Prompt::Typing::accepted);
    EXPECT_EQ(accepted.text(), "ngl=2");
    EXPECT_FALSE(Prompt(":", "", history).replaces());
}

TEST_F(Typing, ACursorKeyKeepsTheTextBefore) {
    for (const Key key : {Key{key_left}, Key{key_right}, Key{key_home}, Key{key_end}, ctrl('A'), ctrl('E'), key_tab}) {
        Prompt prompt("show only ", "op=MUL", history);
        prompt.handle(key);
        EXPECT_FALSE(prompt.replaces());
        type(prompt, "x");
        EXPECT_EQ(prompt.text().size(), 7U) << prompt.text();
    }
    history = {"one"};
    Prompt recalled("show only ", "op=MUL", history);
    recalled.handle(key_up);
    type(recalled, "!");
    EXPECT_EQ(recalled.text(), "one!");
}

TEST_F(Typing, WhatIsTooLongIsSeenAroundTheCursor) {
    Prompt prompt("", "abcdefghijklmnop", history);
    Prompt::Window window = prompt.window(8);
    EXPECT_EQ(window.text, "…klmnop");
    EXPECT_EQ(window.cursor, 7) << "behind the last character";
    for (int i = 0; i < 5; ++i) {
        prompt.handle(key_left);
    }
    window = prompt.window(8);
    EXPECT_EQ(window.text, "…klmnop") << "it stands as long as the cursor is seen";
    EXPECT_EQ(window.cursor, 2);
    prompt.handle(key_home);
    window = prompt.window(8);
    EXPECT_EQ(window.text, "abcdefg…");
    EXPECT_EQ(window.cursor, 0);
    for (int i = 0; i < 16; ++i) {
        prompt.handle(key_right);
        window = prompt.window(8);
        EXPECT_LE(text_width(window.text), 8);
        EXPECT_LT(window.cursor, 8);
        if (i < 15) { // the character under the cursor is the one that it stands on
            const char expected = static_cast<char>('b' + i);
            EXPECT_EQ(printable(window.text)[static_cast<size_t>(window.cursor)], static_cast<char32_t>(expected)) << i;
        }
    }
    prompt.handle(ctrl('U'));
    EXPECT_EQ(prompt.window(8).text, "");
}

TEST_F(Typing, UpAndDownWalkThroughWhatWasTypedBefore) {
    history = {"one", "two"};
    Prompt prompt("/", "", history);
    type(prompt, "thr");
    prompt.handle(key_up);
    EXPECT_EQ(prompt.text(), "two");
    prompt.handle(key_up);
    prompt.handle(key_up);
    EXPECT_EQ(prompt.text(), "one");
    prompt.handle(key_down);
    prompt.handle(key_down);
    EXPECT_EQ(prompt.text(), "thr");
}

TEST_F(Typing, TabCompletesAsFarAsAllAgreeAndThenGoesThroughThem) {
    const Completer names = [](std::string_view before) {
        return before.starts_with("x n") ? Completion{2, {"norm-1", "norm-2", "norm-10"}} : Completion{};
    };
    Prompt prompt(":", "x n", history, names);
    prompt.handle(key_tab);
    EXPECT_EQ(prompt.text(), "x norm-");
    EXPECT_EQ(prompt.candidates().size(), 3u);
    EXPECT_EQ(prompt.chosen(), -1);
    prompt.handle(key_tab);
    EXPECT_EQ(prompt.text(), "x norm-1");
    prompt.handle(key_tab);
    EXPECT_EQ(prompt.text(), "x norm-2");
    prompt.handle(key_back_tab);
    prompt.handle(key_back_tab);
    EXPECT_EQ(prompt.text(), "x norm-10") << "around the end";
    type(prompt, "!");
    EXPECT_EQ(prompt.text(), "x norm-10!");
    EXPECT_TRUE(prompt.candidates().empty());

    Prompt other(":", "y", history, names);
    other.handle(key_tab);
    EXPECT_EQ(other.text(), "y") << "nothing fits";
    Prompt none(":", "y", history);
    none.handle(key_tab);
    EXPECT_EQ(none.text(), "y");
}

TEST_F(Typing, TabCountsCharactersAndNotBytes) {
    Prompt prompt(":", "", history, [](std::string_view before) { return Completion{before.rfind(' ') + 1, {"norm"}}; });
    prompt.handle(U'\u0301'); // a mark that nothing stands before
    prompt.handle(U'語');
    type(prompt, " no");
    prompt.handle(key_tab);
    EXPECT_EQ(prompt.text(), "\xcc\x81語 norm");
}

TEST_F(Typing, TabKeepsWhatStandsBehindTheCursor) {
    Prompt prompt(":", "no rest", history, [](std::string_view) { return Completion{0, {"norm"}}; });
    prompt.handle(key_home);
    prompt.handle(key_right);
    prompt.handle(key_right);
    prompt.handle(key_tab);
    EXPECT_EQ(prompt.text(), "norm rest");
    EXPECT_EQ(prompt.cursor_column(), 4);
}

TEST_F(Text, TwoThatAreTooLongKeepWhatDiffers) {
    const std::string a = "node story.mjs stories260K-f32.gguf 3", b = "node story.mjs stories260K-f32.gguf 99";
    EXPECT_EQ(shortened_pair(a, b, 38), (std::pair{a, b}));
    EXPECT_EQ(shortened_pair(a, b, 10), (std::pair<std::string, std::string>("…2.gguf 3", "…2.gguf 99")));
    EXPECT_EQ(shortened_pair("語語語1", "語語語22", 5), (std::pair<std::string, std::string>("…語1", "…語22")));
    EXPECT_EQ(shortened_pair("abcdef", "xyz", 4), (std::pair<std::string, std::string>("ab…f", "xyz"))) << "they begin apart";
}

TEST(ANameThatIsTooLong, KeepsItsLayerAndItsEnd) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    EXPECT_EQ(shortened_name("blk.0.ffn_gate.weight", 17), "blk.0.ffn_gate.w…");
    EXPECT_EQ(shortened_name("blk.0.ffn_gate.weight", 15), "blk.0.ffn_gate…");
    EXPECT_EQ(shortened_name("blk.0.ffn_gate.weight", 14), "blk.0.ffn_gate") << "the mark would take its end";
    EXPECT_EQ(shortened_name("blk.0.attn_q.bias", 15), "blk.0.attn_q.b…");
    EXPECT_EQ(shortened_name("blk.0.ffn_gate.weight", 13), "blk.0…fn_gate");
    EXPECT_EQ(shortened_name("cache_k_l0 (view) (permuted)", 18), "cache_k_l0…rmuted)");
    EXPECT_EQ(shortened_name("cache_k_l0 (view) (permuted)", 20), "cache_k_l0…permuted)");
    EXPECT_EQ(shortened_name("cache_k_l0 (view)", 11), "cache_k_l0…");
    EXPECT_EQ(shortened_name("cache_v_l12 (view)", 9), "cach…_l12");
    EXPECT_EQ(shortened_name("ffn_moe_weights_norm-12", 12), "ffn_mo…rm-12");
    EXPECT_EQ(shortened_name("l_out-3", 7), "l_out-3");
    EXPECT_EQ(shortened_name("ä日本語の長い名前です", 9), "ä日…です");
    EXPECT_EQ(shortened_name("l_out-3", 1), "…");
    EXPECT_EQ(shortened_name("l_out-3", 0), "");
}

TEST(NamesThatAreTooLong, EachGiveSomeOrTheOthersAreCounted) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    const std::string pair = "norm-3@187 + ffn_norm-3";
    EXPECT_EQ(shortened_names(pair, 23), pair);
    EXPECT_EQ(shortened_names(pair, 21), "norm-3 + ffn_norm-3") << "the ids go first";
    EXPECT_EQ(shortened_names(pair, 15), "norm-3 + ffn…-3");
    EXPECT_EQ(shortened_names("ffn_gate-2 + ffn_up-2 + ffn_swiglu-2", 15), "ffn_gate-2 +2");
    EXPECT_EQ(shortened_names("ffn_gate-2 + ffn_up-2 + ffn_swiglu-2", 18), "ffn…-2 + ffn…-2 +1");
    EXPECT_EQ(shortened_names("blk.0.ffn_gate.weight", 13), "blk.0…fn_gate") << "one";
    EXPECT_EQ(shortened_names("norm-0 … ffn_out-3", 16), "norm-0…ffn_out-3") << "a range";
    EXPECT_EQ(shortened_names("norm-0 … ffn_out-3", 12), "norm-0…out-3") << "around its own mark";
    EXPECT_EQ(shortened_names("norm-0 … ffn_out-3", 1), "…");
    EXPECT_EQ(shortened_names(pair, 0), "");
}

} // namespace
} // namespace schedscope::tui
