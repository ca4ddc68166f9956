#include "traces/history/accounts/passes.h"
#include "viz/pictures/picture.h"

#include "runtime/error.h"
#include "tests/viz/parsed.h"
#include "tests/viz/recorded.h"
#include "traces/history/words/words.h"

#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sstream>
#include <unistd.h>

namespace schedscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

PictureOptions options_of(PictureView view, std::optional<Pass> pass = {}) {
    PictureOptions options;
    options.view = view;
    options.pass = pass;
    return options;
}

std::string error_of(const std::function<void()>& call, ErrorKind kind) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind);
        return error.what();
    }
    return "no error";
}

/// A file that is gone when the test ends.
struct TemporaryFile {
    std::string path;
    explicit TemporaryFile(const std::string& name)
        : path(::testing::TempDir() + "schedscope-" + std::to_string(getpid()) + "-" + name) {}
    ~TemporaryFile() { std::remove(path.c_str()); }
    std::string content() const {
        std::ostringstream bytes;
        bytes << std::ifstream(path, std::ios::binary).rdbuf();
        return bytes.str();
    }
};

class Picture : public ::testing::Test {
protected:
    Sketch sketch = llama(4, 3);
    std::shared_ptr<LiveStore> store = recorded(sketch);
    History history{store};
};

TEST_F(Picture, HasExactlyTheSplitsCopiesAndBytesOfTheRecordedPlan) {
    const Parsed parsed(make_dot(history, options_of(PictureView::splits)));
    const PlanState& plan = history.plan(0);
    ASSERT_GT(plan.splits.size(), 3U);
    std::map<std::string, int64_t> bytes, copies;
    for (const auto& edge : parsed.edges) {
        bytes[edge.to] += std::stoll(edge.values.at("bytes"));
        copies[edge.to] += std::stoll(edge.values.at("copies"));
    }
    for (const SplitState& split : plan.splits) {
        const std::string id = "split " + std::to_string(split.begin.index);
        EXPECT_EQ(parsed.nodes.at(id).at("backend"), history.backend_name(*split.begin.backend));
        EXPECT_EQ(parsed.nodes.at(id).at("first_node"), std::to_string(*split.begin.first_node));
        EXPECT_EQ(parsed.nodes.at(id).at("last_node"), std::to_string(split.end_node - 1));
        int64_t into = 0;
        for (const record::SplitInput& input : split.inputs) {
            into += *input.bytes;
        }
        EXPECT_EQ(bytes[id], into) << id;
        EXPECT_EQ(copies[id], static_cast<int64_t>(split.inputs.size())) << id;
    }
    EXPECT_EQ(parsed.nodes.count("split " + std::to_string(plan.splits.size())), 0U);
}

TEST_F(Picture, NodesReadWhatTheyWereRewiredTo) {
    const Parsed parsed(make_dot(history, options_of(PictureView::nodes)));
    const PlanState& plan = history.plan(0);
    ASSERT_FALSE(plan.rewires.empty());
    for (const record::Rewired& rewire : plan.rewires) {
        const std::string reader = history.tensor_name(plan, rewire.node), copy = history.tensor_name(plan, rewire.copy);
        bool found = false;
        for (const auto& edge : parsed.edges) {
            const bool same_reader = edge.to == reader || edge.to.starts_with(reader + "@");
            found |= same_reader && (edge.from == copy || edge.from.starts_with(copy + ">"));
        }
        EXPECT_TRUE(found) << reader << " reads " << copy;
    }
}

TEST_F(Picture, OfAPassMarksWhatThePassChanged) {
    for (const Pass pass : {Pass::place, Pass::gpu_down, Pass::rest_up, Pass::refine}) {
        const Parsed parsed(make_dot(history, options_of(PictureView::nodes, pass)));
        const PlanState state = history.state_at(accounts::end_of_pass(history, 0, pass));
        std::map<std::string, int> called;
        for (const TensorId node : state.order) {
            ++called[history.tensor_name(state, node)];
        }
        for (const TensorId node : state.order) {
            const std::string name = history.tensor_name(state, node);
            if (called[name] == 1) {
                const bool changed = state.tensors[node].pass == pass;
                EXPECT_EQ(parsed.label(name).find("● ") != std::string::npos, changed) << pass_name(pass) << ' ' << name;
                EXPECT_EQ(parsed.nodes.at(name).at("penwidth") == "3", changed) << pass_name(pass) << ' ' << name;
            }
        }
        EXPECT_THAT(parsed.graph.at("label"), HasSubstr("changed in this pass"));
    }
    EXPECT_THAT(make_dot(history, options_of(PictureView::nodes)), Not(HasSubstr("●"))) << "the whole plan: no pass is meant";
}

TEST_F(Picture, ShowsTheStateAtTheEndOfAnyPass) {
    for (const Pass pass :
         {Pass::place, Pass::gpu_down, Pass::gpu_up, Pass::rest_down, Pass::rest_up, Pass::refine, Pass::sources}) {
        const std::string dot = make_dot(history, options_of(PictureView::nodes, pass));
        const Parsed parsed(dot);
        EXPECT_THAT(parsed.graph.at("label"), HasSubstr("after " + words::pass(pass)));
        EXPECT_THAT(dot, Not(HasSubstr("subgraph"))) << "no splits before pass 5";
    }
    const Parsed first(make_dot(history, options_of(PictureView::nodes, Pass::place)));
    EXPECT_THAT(first.label("norm-3"), HasSubstr("unassigned"));
    const Parsed second(make_dot(history, options_of(PictureView::nodes, Pass::gpu_down)));
    EXPECT_THAT(second.label("norm-3"), HasSubstr("Vulkan0 by 2.sup"));
    const Parsed last(make_dot(history, options_of(PictureView::nodes, Pass::split)));
    EXPECT_EQ(last.clusters.count("split 0"), 1U);
}

TEST_F(Picture, TimesAreShownOnceItRanAndNotInThePlan) {
    EXPECT_THAT(make_dot(history, options_of(PictureView::splits)), HasSubstr("2.00 ms"));
    EXPECT_THAT(make_dot(history, options_of(PictureView::splits, Pass::split)), Not(HasSubstr("2.00 ms")));
}

TEST_F(Picture, AnyStepCanBeShown) {
    PictureOptions options = options_of(PictureView::nodes);
    int pictures = 0;
    for (Step step = 0; step < history.n_steps(); step += 37) {
        options.step = step;
        if (history.graph_of(history.state_at(step)) != nullptr) {
            EXPECT_FALSE(Parsed(make_dot(history, options)).nodes.empty()) << step;
            ++pictures;
        }
    }
    EXPECT_GT(pictures, 10);
    options.step = history.n_steps() - 1; // steps count from 0, as in the inspector's top line
    const std::string last = words::count(history.n_steps() - 1);
    EXPECT_THAT(make_dot(history, options), HasSubstr("after step " + last + " (0…" + last + ")"));
    options.step = history.n_steps();
    EXPECT_THAT(error_of([&] { make_dot(history, options); }, ErrorKind::usage),
                StartsWith("step " + std::to_string(history.n_steps()) + ": "));
}

TEST_F(Picture, AReusedPlanIsShownForItsEvaluation) {
    PictureOptions options = options_of(PictureView::splits);
    options.eval = 1;
    EXPECT_THAT(Parsed(make_dot(history, options)).graph.at("label"),
                HasSubstr("evaluation 1 (prefill, 16 tokens, plan of evaluation 0 used again)"));
    options.pass = Pass::split;
    EXPECT_THAT(make_dot(history, options), HasSubstr("split 0"));
    options.eval = 2;
    EXPECT_THAT(error_of([&] { make_dot(history, options); }, ErrorKind::usage), HasSubstr("the trace has evaluations 0…1"));
}

TEST_F(Picture, TwoRunsGiveTheSameTextUpToPassFive) {
    Sketch again = llama(4, 3);
    History other(recorded(again));
    for (const PictureView view : {PictureView::splits, PictureView::layers, PictureView::nodes}) {
        EXPECT_EQ(make_dot(history, options_of(view, Pass::split)), make_dot(other, options_of(view, Pass::split)));
    }
    EXPECT_EQ(make_dot(history, options_of(PictureView::memory)), make_dot(other, options_of(PictureView::memory)));
}

TEST_F(Picture, AViewWithNothingToShowSaysWhatToDo) {
    EXPECT_THAT(error_of([&] { make_dot(history, options_of(PictureView::splits, Pass::refine)); }, ErrorKind::usage),
                HasSubstr("splits are made in pass 5"));
    EXPECT_THAT(error_of([&] { make_dot(history, options_of(PictureView::memory, Pass::split)); }, ErrorKind::usage),
                HasSubstr("no placement"));
    EXPECT_THAT(error_of([&] { make_dot(history, options_of(PictureView::nodes, Pass::optimise)); }, ErrorKind::usage),
                StartsWith("pass optimise: not recorded"));
}

/// Graphviz places; what is placed is the allocator's, and no two tensors that are in use at the same time overlap.
TEST_F(Picture, MemoryIsNeverUsedTwiceAtATime) {
    const Parsed parsed(make_dot(history, options_of(PictureView::memory)));
    struct Box {
        std::string id;
        double left, bottom, right, top;
    };
    std::vector<Box> boxes;
    for (const auto& [id, values] : parsed.nodes) {
        if (values.at("offset").empty()) {
            continue;
        }
        const double x = std::stod(values.at("pos")), y = std::stod(values.at("pos").substr(values.at("pos").find(',') + 1));
        const double width = std::stod(values.at("width")) * 72, height = std::stod(values.at("height")) * 72;
        boxes.push_back({id, x - width / 2, y - height / 2, x + width / 2, y + height / 2});
    }
    ASSERT_GT(boxes.size(), 50U);
    constexpr double rounding = 0.2;
    for (size_t a = 0; a < boxes.size(); ++a) {
        for (size_t b = a + 1; b < boxes.size(); ++b) {
            const double wide = std::min(boxes[a].right, boxes[b].right) - std::max(boxes[a].left, boxes[b].left);
            const double high = std::min(boxes[a].top, boxes[b].top) - std::max(boxes[a].bottom, boxes[b].bottom);
            EXPECT_FALSE(wide > rounding && high > rounding) << boxes[a].id << " and " << boxes[b].id;
        }
    }
}

TEST_F(Picture, IsWrittenInEachFormat) {
    const std::pair<const char*, std::string> starts[] = {
        {"p.dot", "digraph \"splits\" {\n"}, {"p.svg", "<?xml"}, {"p.PNG", "\x89PNG"}, {"p.pdf", "%PDF-"}};
    for (const auto& [name, start] : starts) {
        const TemporaryFile file(name);
        write_picture(history, options_of(PictureView::splits), *picture_format_of(file.path), file.path);
        EXPECT_THAT(file.content(), StartsWith(start));
    }
}

TEST_F(Picture, AFailedLayoutLeavesTheFileAlone) {
    const TemporaryFile file("kept.svg");
    std::ofstream(file.path) << "before";
    PictureOptions options = options_of(PictureView::splits);
    options.layout_command = {"/proc/self/exe", "--crashing-child"};
    EXPECT_THAT(error_of([&] { write_picture(history, options, PictureFormat::svg, file.path); }, ErrorKind::device),
                StartsWith(file.path + ": Graphviz crashed"));
    EXPECT_EQ(file.content(), "before");
}

TEST_F(Picture, AFileThatCannotBeWrittenIsAnError) {
    EXPECT_THAT(error_of([&] { write_picture(history, options_of(PictureView::splits), PictureFormat::dot, "/nowhere/p.dot"); },
                         ErrorKind::device),
                "/nowhere/p.dot: No such file or directory");
    EXPECT_THAT(error_of([&] { write_picture(history, options_of(PictureView::splits), PictureFormat::dot, "/dev/full"); },
                         ErrorKind::device),
                "/dev/full: No space left on device");
}

TEST_F(Picture, SmallGraphsAreShownByNode) { EXPECT_EQ(default_view(history), PictureView::nodes); }

TEST(PictureSize, LargeGraphsAreShownByLayer) {
    Sketch sketch = llama(100, 90);
    ASSERT_GT(sketch.graph.nodes.size(), 2000U);
    History history(recorded(sketch));
    EXPECT_EQ(default_view(history), PictureView::layers);
}

TEST(PictureNames, AreTheCommandLines) {
    EXPECT_EQ(picture_view_from_name("layers"), PictureView::layers);
    EXPECT_EQ(picture_view_from_name("Layers"), std::nullopt);
    EXPECT_EQ(picture_view_name(PictureView::memory), "memory");
    EXPECT_EQ(picture_format_of("a.b/c.SVG"), PictureFormat::svg);
    EXPECT_EQ(picture_format_of("x.gv"), PictureFormat::dot);
    EXPECT_EQ(picture_format_of("svg"), std::nullopt);
    EXPECT_EQ(picture_format_of("x.jpeg"), std::nullopt);
}

TEST(PictureOfNothing, IsAnError) {
    History history(std::make_shared<LiveStore>());
    EXPECT_EQ(error_of([&] { make_dot(history, {}); }, ErrorKind::usage), "picture: nothing is planned in this trace");
}

} // namespace
} // namespace schedscope
