#include "tests/viz/sketch.h"

#include "runtime/error.h"
#include "viz/pictures/layout_process.h"

#include <cerrno>
#include <gmock/gmock.h>
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
    for (const auto draw : {draw_splits, draw_layers, draw_nodes, +[](const Subject& s) { return draw_memory(s, {}); }}) {
        EXPECT_THAT(run_layout(draw(s.subject()), "svg", {}, "p"), HasSubstr("</svg>"));
    }
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
