#include "tests/viz/sketch.h"

#include "runtime/error.h"
#include "viz/pictures/layout/layout_process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <gmock/gmock.h>
#include <map>
#include <regex>
#include <sys/wait.h>

namespace schedscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string splits_of_a_llama() {
    Sketch s = llama(3, 2);
    s.split_up();
    return draw_splits(s.subject());
}

PictureOptions with_child(const char* role) {
    PictureOptions options;
    options.layout_command = {"/proc/self/exe", role};
    return options;
}

/// The sentence of the error; no child may be left.
std::string error_of(const std::string& dot, const PictureOptions& options) {
    try {
        run_layout(dot, "svg", options, "plan.svg");
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
        EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
        EXPECT_EQ(errno, ECHILD);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "no error";
}

TEST(Layout, MakesEachKindOfPicture) {
    const std::string dot = splits_of_a_llama();
    EXPECT_THAT(run_layout(dot, "png", {}, "p"), StartsWith("\x89PNG\r\n"));
    EXPECT_THAT(run_layout(dot, "pdf", {}, "p"), StartsWith("%PDF-"));
    const std::string svg = run_layout(dot, "svg", {}, "p");
    EXPECT_THAT(svg, StartsWith("<?xml"));
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_THAT(svg, HasSubstr("stories260K&#45;f16.gguf")) << "Graphviz writes the hyphen so";
}

TEST(Layout, EveryViewCanBeLaidOut) {
    Sketch s = llama(3, 2);
    s.split_up();
    s.state.placements = {{s.state.order[0], no_tensor, 1, 0, 0, 3, 0, 4096}};
    for (const auto draw : {draw_splits, draw_layers, draw_nodes, +[](const Subject& s) { return draw_memory(s, 0, {}); }}) {
        EXPECT_THAT(run_layout(draw(s.subject()), "svg", {}, "p"), HasSubstr("</svg>"));
    }
}

/// Each text of the SVG says how long it is drawn, in whatever font: so lines stay within their boxes, and in their middles.
TEST(Layout, LinesStayInTheMiddleOfTheirBoxes) {
    const std::string svg = run_layout(splits_of_a_llama(), "svg", {}, "p");
    const std::regex group("<g id=\"node\\d+\"[^]*?</g>"), line("<text[^>]* x=\"([-.0-9]+)\" y=\"([-.0-9]+)\"[^>]*?>"),
        length("textLength=\"([.0-9]+)\""), number("([-.0-9]+),([-.0-9]+)");
    int n_lines = 0;
    for (std::sregex_iterator node(svg.begin(), svg.end(), group), end; node != end; ++node) {
        const std::string text = node->str();
        const size_t path = std::min(text.find(" d=\"M"), text.find(" points=\"")); // rounded, or with corners
        ASSERT_NE(path, std::string::npos) << text;
        const size_t first = text.find('"', path) + 1;
        const std::string outline = text.substr(first, text.find('"', first) - first);
        double left = 1e9, right = -1e9;
        for (std::sregex_iterator point(outline.begin(), outline.end(), number); point != end; ++point) {
            left = std::min(left, std::stod((*point)[1]));
            right = std::max(right, std::stod((*point)[1]));
        }
        std::map<std::string, std::pair<double, double>> lines; // by height
        for (std::sregex_iterator piece(text.begin(), text.end(), line); piece != end; ++piece) {
            const std::string tag = piece->str();
            std::smatch said;
            ASSERT_TRUE(std::regex_search(tag, said, length)) << tag;
            const double from = std::stod((*piece)[1]), to = from + std::stod(said[1]);
            const auto [known, is_new] = lines.try_emplace((*piece)[2], from, to);
            known->second = {std::min(known->second.first, from), std::max(known->second.second, to)};
        }
        for (const auto& [height, ends] : lines) {
            EXPECT_GE(ends.first, left) << text;
            EXPECT_LE(ends.second, right) << text;
            EXPECT_NEAR((ends.first + ends.second) / 2, (left + right) / 2, 3) << text;
            ++n_lines;
        }
    }
    EXPECT_GT(n_lines, 8);
}

TEST(Layout, IsTheSameWhereverMemoryLies) {
    Sketch s = llama(6, 3);
    s.split_up();
    const std::string dot = draw_nodes(s.subject());
    const std::string usual = run_layout(dot, "svg", {}, "p");
    // Each string in pages of its own, each below the one before.
    setenv("MALLOC_MMAP_THRESHOLD_", "16", 1);
    setenv("MALLOC_MMAP_MAX_", "100000", 1);
    const std::string otherwise = run_layout(dot, "svg", {}, "p");
    unsetenv("MALLOC_MMAP_THRESHOLD_");
    unsetenv("MALLOC_MMAP_MAX_");
    EXPECT_EQ(otherwise, usual);
}

TEST(Layout, AStuckChildIsEndedAtTheLimit) {
    PictureOptions options = with_child("--stuck-child");
    options.view = PictureView::nodes;
    for (const int seconds : {0, 1}) {
        options.layout_seconds = seconds;
        EXPECT_EQ(error_of("digraph {}", options), "plan.svg: the layout took more than " + std::to_string(seconds) +
                                                       " s and was ended; use --view layers, or write .dot");
    }
}

TEST(Layout, AChildThatHidesIsEndedAtTheLimit) {
    PictureOptions options = with_child("--silent-stuck-child");
    options.layout_seconds = 1;
    EXPECT_THAT(error_of("digraph {}", options), StartsWith("plan.svg: the layout took more than 1 s and was ended"));
}

TEST(Layout, IsTheSameWhereTheKernelHasNoFilters) {
    const std::string dot = splits_of_a_llama();
    for (const char* renderer : {"svg", "png", "json0"}) {
        EXPECT_EQ(run_layout(dot, renderer, with_child("--unfiltered-layout-child"), "p"), run_layout(dot, renderer, {}, "p"));
    }
}

TEST(Layout, WritesNoFiles) {
    const std::string error = error_of("digraph {}", with_child("--writing-child"));
    if (error.find("no filters") != std::string::npos) {
        GTEST_SKIP() << "this kernel has neither seccomp nor Landlock";
    }
    EXPECT_THAT(error, ::testing::AnyOf(HasSubstr("(Operation not permitted)"), HasSubstr("(Permission denied)")));
}

TEST(Layout, ACancelledChildIsEnded) {
    PictureOptions options = with_child("--stuck-child");
    options.cancelled = [asked = 0]() mutable { return ++asked == 2; };
    EXPECT_EQ(error_of("digraph {}", options), "plan.svg: the layout was interrupted");
}

TEST(Layout, ACrashIsOneSentence) {
    EXPECT_EQ(error_of("digraph {}", with_child("--crashing-child")),
              "plan.svg: Graphviz crashed while laying out (Segmentation fault); use --view layers, or write .dot");
}

TEST(Layout, CtrlCInTheChildIsAnInterruption) {
    EXPECT_EQ(error_of("digraph {}", with_child("--interrupted-child")), "plan.svg: the layout was interrupted");
}

TEST(Layout, AFailureTellsWhatGraphvizSaid) {
    EXPECT_EQ(error_of("digraph {}", with_child("--failing-child")),
              "plan.svg: Graphviz could not lay it out (no layout engine was found); use --view layers, or write .dot");
}

TEST(Layout, NoPictureIsAnError) {
    EXPECT_THAT(error_of("digraph {}", with_child("--silent-child")), HasSubstr("empty picture"));
}

TEST(Layout, TextThatIsNotGraphvizIsAnError) { EXPECT_THAT(error_of("digraph { a -> ", {}), HasSubstr("could not lay it out")); }

TEST(Layout, AProgramThatIsNotThereIsAnError) {
    PictureOptions options;
    options.layout_command = {"/nowhere/layout"};
    EXPECT_THAT(error_of("digraph {}", options), HasSubstr("can't be started: No such file or directory"));
}

TEST(Layout, TheChildRefusesOtherFormats) {
    char program[] = "p", child[] = "--layout-child", format[] = "exe";
    char* arguments[] = {program, child, format, nullptr};
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(layout_child_main(3, arguments), 2);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("usage"));
}

} // namespace
} // namespace schedscope
