#include "tests/support/traces/sample_run.h"
#include "traces/history/accounts/values.h"
#include "traces/history/explain.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace schedscope {
namespace {

using namespace test;
using ::testing::ElementsAre;

/// Two evaluations of one plan, in each of which tensor 3 was watched; in the second it had gone bad.
class Values : public ::testing::Test {
protected:
    void SetUp() override {
        TraceWriter writer(folder.file("t"));
        TeeRecorder tee{store.get(), &writer};
        SampleRun run(tee, session({"CPU"}));
        run.evaluate(blocks(2, 8, 1));
        tee.add(record::Value{watched, 0, 5, 0, 0, -1.5, 2.5, 0.25, 3.0});
        tee.add(record::ValueElement{watched, 0, -1.5});
        tee.add(record::ValueElement{watched, 1, 2.5});
        tee.add(record::ValueBucket{watched, 0, 4});
        tee.add(record::ValueBucket{watched, 31, 1});
        run.evaluate_again();
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        tee.add(record::Value{watched, 0, 5, 4, 1, nan, nan, nan, nan});
        tee.add(record::ValueElement{watched, 0, nan});
        writer.close();
        file = std::make_shared<TraceReader>(folder.file("t"));
    }
    static constexpr TensorId watched = 3;
    Folder folder;
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    std::shared_ptr<TraceReader> file;
};

TEST_F(Values, AreReadWithTheirElementsAndBuckets) {
    for (const std::shared_ptr<const RecordSource>& source : {std::shared_ptr<const RecordSource>(store), {file}}) {
        History history(source);
        const auto rows = accounts::values(history, history.plan(0));
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows[0].eval, 0);
        EXPECT_EQ(rows[0].id, watched);
        EXPECT_EQ(rows[0].tensor, history.tensor_name(history.plan(0), watched));
        EXPECT_EQ(rows[0].value.n_elements, 5);
        EXPECT_EQ(rows[0].value.min, -1.5);
        EXPECT_EQ(rows[0].value.norm, 3.0);
        EXPECT_THAT(rows[0].first, ElementsAre(-1.5, 2.5));
        ASSERT_EQ(rows[0].histogram.size(), 32U);
        EXPECT_EQ(rows[0].histogram.front(), 4);
        EXPECT_EQ(rows[0].histogram.back(), 1);
        EXPECT_EQ(rows[0].histogram[1], 0);
    }
}

TEST_F(Values, OfTheWholeTraceAreThoseOfEveryEvaluation) {
    History history(file);
    PlanState all;
    all.evaluation = -1;
    const auto rows = accounts::values(history, all);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[1].eval, 1);
    EXPECT_EQ(rows[1].value.n_nan, 4);
    EXPECT_TRUE(std::isnan(rows[1].value.min));
    EXPECT_TRUE(std::isnan(rows[1].first.at(0)));
}

TEST_F(Values, BelongToTheStateOnceTheyWereRecorded) {
    History history(store);
    const Step first = store->next_of(-1, fact_bit<record::Value>());
    EXPECT_TRUE(accounts::values(history, history.state_at(first - 1)).empty());
    const auto early = accounts::values(history, history.state_at(first + 1));
    ASSERT_EQ(early.size(), 1U);
    EXPECT_THAT(early[0].first, ElementsAre(-1.5)); // the second element is the next record
    EXPECT_EQ(early[0].histogram.front(), 0);
}

TEST_F(Values, AreForgottenWhenTheNextEvaluationBegins) {
    History history(store);
    const auto again = history.evaluation(1);
    EXPECT_TRUE(accounts::values(history, history.state_at(again.first)).empty());
}

TEST_F(Values, AreToldInTheTensorsStoryOfTheirEvaluation) {
    History history(file);
    const auto told = [&](EvaluationId evaluation) {
        std::string text;
        for (const StoryLine& line : explain(history, evaluation, watched).lines) {
            text += line.kind == StoryKind::value ? line.text + ";" : "";
        }
        return text;
    };
    EXPECT_EQ(told(0), "from -1.5 to 2.5, mean 0.25, norm 3 of 5 elements;");
    EXPECT_EQ(told(1), "no finite element, 4 NaN and 1 infinite of 5 elements;");
}

} // namespace
} // namespace schedscope
