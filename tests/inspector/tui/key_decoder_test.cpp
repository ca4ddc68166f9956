// The same keys, however their bytes are cut into pieces; and what is to be waited for.
#include "inspector/tui/terminal/key_decoder.h"

#include <gtest/gtest.h>

#include <clocale>
#include <vector>

namespace schedscope::tui {
namespace {

using Rest = KeyDecoder::Rest;

class Decoder : public ::testing::Test {
protected:
    void SetUp() override { std::setlocale(LC_CTYPE, "C.UTF-8"); }
    static std::vector<Input> all(KeyDecoder& decoder) {
        std::vector<Input> inputs;
        for (Input input = decoder.next(); input.kind != Input::Kind::none; input = decoder.next()) {
            inputs.push_back(input);
        }
        return inputs;
    }
    static std::string said(const std::vector<Input>& inputs) {
        std::string text;
        for (const Input& i : inputs) {
            text += text.empty() ? "" : " ";
            switch (i.kind) {
            case Input::Kind::key: text += i.key == ' ' ? "Space" : key_text(i.key); break;
            case Input::Kind::click: text += "click"; break;
            case Input::Kind::release: text += "release"; break;
            case Input::Kind::wheel_up: text += "wheel-up"; break;
            case Input::Kind::wheel_down: text += "wheel-down"; break;
            default: text += "answer"; break;
            }
            if (i.kind != Input::Kind::key && i.kind != Input::Kind::answer) {
                text += "@" + std::to_string(i.row) + "," + std::to_string(i.col);
            }
        }
        return text;
    }
    static std::string decoded(std::string_view bytes) {
        KeyDecoder decoder;
        decoder.take(bytes);
        return said(all(decoder));
    }
};

TEST_F(Decoder, KnowsKeysOfAllTerminals) {
    EXPECT_EQ(decoded("a\x1b[A\x1bOB\x1b[5~\x1b[Z\x1bOP\x1b[15~\r\x7f\tö語"),
              "a ↑ ↓ PgUp Shift-Tab F1 F5 Enter Backspace Tab ö 語");
}

TEST_F(Decoder, LearnsThoseOfThisTerminal) {
    KeyDecoder decoder;
    decoder.learn("\x1b[[A", key_f1); // of the console: without this it would be an unknown sequence and an A
    decoder.take("\x1b[[");
    EXPECT_EQ(said(all(decoder)), "");
    EXPECT_EQ(decoder.waits_for(), Rest::sequence);
    decoder.take("Ax");
    EXPECT_EQ(said(all(decoder)), "F1 x");
}

TEST_F(Decoder, PiecesMakeTheSameKeys) {
    const std::string bytes = "n\x1b[A語\x1b[1;5Cx\x1b[<0;12;7My\x1b[<0;12;7m\x1bOD\x1b[M !!z\x1b[3~";
    const std::string whole = decoded(bytes);
    EXPECT_EQ(whole, "n ↑ 語 x click@6,11 y release@6,11 ← click@0,0 z Del");
    for (size_t cut = 0; cut <= bytes.size(); ++cut) {
        KeyDecoder decoder;
        decoder.take(std::string_view(bytes).substr(0, cut));
        std::vector<Input> inputs = all(decoder);
        decoder.take(std::string_view(bytes).substr(cut));
        for (const Input& input : all(decoder)) {
            inputs.push_back(input);
        }
        EXPECT_EQ(said(inputs), whole) << "cut after " << cut;
    }
    KeyDecoder one_by_one;
    std::vector<Input> inputs;
    for (const char byte : bytes) {
        one_by_one.take({&byte, 1});
        for (const Input& input : all(one_by_one)) {
            inputs.push_back(input);
        }
    }
    EXPECT_EQ(said(inputs), whole);
}

TEST_F(Decoder, OnlyTheEscapeKeyIsWorthAShortWait) {
    KeyDecoder decoder;
    EXPECT_EQ(decoder.waits_for(), Rest::nothing);
    decoder.take("\x1b");
    EXPECT_EQ(said(all(decoder)), "");
    EXPECT_EQ(decoder.waits_for(), Rest::escape);
    decoder.give_up();
    EXPECT_EQ(said(all(decoder)), "Esc");
    EXPECT_EQ(decoder.waits_for(), Rest::nothing);
    decoder.take("\x1b[1;");
    EXPECT_EQ(said(all(decoder)), "");
    EXPECT_EQ(decoder.waits_for(), Rest::sequence);
    decoder.give_up();
    EXPECT_EQ(said(all(decoder)), "") << "its end was lost: it is no key, and not several";
    decoder.take("\x1b[");
    EXPECT_EQ(said(all(decoder)), "");
    decoder.give_up();
    EXPECT_EQ(said(all(decoder)), "Esc [") << "Alt and a bracket";
    decoder.take("\xe8\xaa");
    EXPECT_EQ(said(all(decoder)), "");
    EXPECT_EQ(decoder.waits_for(), Rest::nothing) << "a character waits as long as it takes";
}

TEST_F(Decoder, WhatCanNotBeTheBeginningOfASequenceIsTheEscapeKeyAtOnce) {
    EXPECT_EQ(decoded("\x1bx"), "Esc x");
    EXPECT_EQ(decoded("\x1b\x1b[A"), "Esc ↑");
    EXPECT_EQ(decoded("\x1b]11;"), "Esc ] 1 1 ;") << "it was not asked for";
}

TEST_F(Decoder, UnknownSequencesAreNoKeysAndTakeNoneWithThem) {
    EXPECT_EQ(decoded("a\x1b[99~b\x1bOxc\x1b[1;2;3;4zd\x1b[12\x1bODe\x1b[<1;5;5Mf"), "a b c d ← e f");
    EXPECT_EQ(decoded("\x1b[" + std::string(100, '1') + "~x").find("x") == std::string::npos, false);
}

TEST_F(Decoder, WheelsAndReleasesOfOldTerminals) {
    EXPECT_EQ(decoded("\x1b[<64;3;2M\x1b[<65;3;2M\x1b[<66;3;2M"), "wheel-up@1,2 wheel-down@1,2");
    EXPECT_EQ(decoded("\x1b[M`#\"\x1b[Ma#\"\x1b[M##\""), "wheel-up@1,2 wheel-down@1,2 release@1,2");
    EXPECT_EQ(decoded("\x1b[<32;3;2M"), "") << "a move";
}

TEST_F(Decoder, AnAnswerIsReadInPiecesAndOnlyWhenAskedFor) {
    KeyDecoder decoder;
    decoder.expect_answer();
    for (const char* piece : {"x\x1b", "]11;rgb:ffff/", "ffff/ffff\x1b", "\\y"}) {
        decoder.take(piece);
        const std::string text = said(all(decoder));
        EXPECT_EQ(text, *piece == 'x' ? "x" : *piece == '\\' ? "answer y" : "") << piece;
    }
    EXPECT_EQ(decoder.answer(), "rgb:ffff/ffff/ffff");
    decoder.expect_answer();
    decoder.take("\x1b]11;no");
    EXPECT_EQ(said(all(decoder)), "n o") << "that was typed";
}

} // namespace
} // namespace schedscope::tui
