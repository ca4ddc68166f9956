// The values view on a trace with watched tensors.
#include "inspector/tui/inspector.h"
#include "tests/inspector/tui/harness/samples.h"
#include "tests/support/traces/made_trace.h"

#include <gtest/gtest.h>

namespace schedscope {
namespace {

using test::line_with;
using test::Terminal;

/// Behind what a made run records of an evaluation: the values of one of its tensors, 1000 elements from -2 to 6, and three that
/// are no number.
class WatchedRun {
public:
    std::shared_ptr<LiveStore> record() {
        auto store = std::make_shared<LiveStore>();
        test::MadeRun run(2);
        run.record(*store, 1);
        const auto& tensors = run.graph().tensors;
        const auto found = std::find_if(tensors.begin(), tensors.end(), [](const TensorInfo& t) { return t.name == "kq-1"; });
        const auto id = static_cast<TensorId>(found - tensors.begin());
        for (EvaluationId e = 1; e < 3; ++e) {
            store->set_evaluation(e);
            record::EvaluationBegin begin;
            begin.kind = GraphKind::decode;
            begin.reused = true;
            store->add(begin);
            store->add(record::Value{id, 0, 1003, 3, 0, -2, 6, 0.5 * e, 40});
            store->add(record::ValueElement{id, 0, 0.125});
            store->add(record::ValueElement{id, 1, -1.5});
            store->add(record::ValueBucket{id, 0, 100});
            store->add(record::ValueBucket{id, 8, 800});
            store->add(record::ValueBucket{id, 31, 100});
            store->add(record::EvaluationEnd{});
            store->flush();
        }
        return store;
    }
};

class Values : public ::testing::TestWithParam<std::pair<int, int>> {
protected:
    Terminal t{GetParam().first, GetParam().second, [] {
                   InspectorOptions options;
                   options.title = "watched";
                   return run_inspector(WatchedRun().record(), options);
               }};
};
INSTANTIATE_TEST_SUITE_P(At, Values, ::testing::Values(std::pair(24, 80), std::pair(40, 120), std::pair(80, 250)));

TEST_P(Values, AreStatisticsAndAHistogram) {
    ASSERT_TRUE(t.shows("q quit"));
    t.press(">0");
    ASSERT_TRUE(t.shows("├ values 1 ")) << t.text();
    const std::string row = line_with(t, "│▸ kq-1", " -2", " 6");
    EXPECT_NE(row, "") << t.text();
    if (GetParam().second >= 120) {
        EXPECT_NE(row.find(" 1 "), std::string::npos) << "the mean: " << row;
    }
    EXPECT_TRUE(t.shows("finite  1,000 of 1,003")) << t.text();
    EXPECT_TRUE(t.shows("3 NaN, 0 infinite")) << t.text();
    EXPECT_TRUE(t.shows("first   0.125 -1.5")) << t.text();
    // The histogram: the largest bucket reaches the top, those with an eighth of it a part of its height; 800 is named.
    EXPECT_NE(t.line(3).find("800"), std::string::npos) << t.text();
    const auto count = [](const std::string& line, std::string_view what) {
        int n = 0;
        for (size_t at = line.find(what); at != std::string::npos; at = line.find(what, at + 1)) {
            ++n;
        }
        return n;
    };
    const int bar = std::max(std::max((GetParam().second - 2 - 11) / 32, 1) - 1, 1);
    EXPECT_EQ(count(t.line(3), "█"), bar) << t.text();
    t.press("{Enter}");
    EXPECT_TRUE(t.shows("┬ kq-1 ")) << t.text();
}

TEST_P(Values, OfTheEvaluationsBeforeAreThere) {
    ASSERT_TRUE(t.shows("q quit"));
    t.press(">0{Tab}");
    ASSERT_TRUE(t.shows("in the evaluations before")) << t.text();
    if (t.text().find("-2 … 6, mean 0.5") == std::string::npos) { // the screen ends there
        t.press("{PgDn}");
    }
    EXPECT_TRUE(t.shows("-2 … 6, mean 0.5")) << t.text();
}

} // namespace
} // namespace schedscope
