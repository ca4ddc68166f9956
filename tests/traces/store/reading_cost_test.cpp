// What is read of a long trace is what was asked for.
#include "tests/support/traces/sample_run.h"
#include "traces/history/accounts/summary.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace schedscope {
namespace {

using namespace test;

std::string trace_of(const Folder& folder, int n_evaluations) {
    const std::string path = folder.file(std::to_string(n_evaluations));
    TraceWriter writer(path);
    SampleRun run(writer, session({"Vulkan0", "CPU"}));
    for (int i = 0; i < n_evaluations; ++i) {
        if (i % 100 == 0) {
            run.evaluate(blocks(4, 1, 2), GraphKind::decode);
        } else {
            run.evaluate_again();
        }
    }
    writer.close();
    return path;
}

int64_t pages_of(const std::string& path) { return static_cast<int64_t>(std::filesystem::file_size(path) / 4096); }

TEST(ReadingCost, OpeningReadsNoRecords) {
    const Folder folder;
    const std::string path = trace_of(folder, 3000);
    const TraceReader reader(path);
    EXPECT_EQ(reader.n_evaluations(), 3000);
    EXPECT_GT(reader.pages_read(), 0);
    EXPECT_LT(reader.pages_read(), pages_of(path) / 20) << "of " << pages_of(path);
}

TEST(ReadingCost, TheSummaryAndTheLastPlanReadAFewOfThem) {
    const Folder folder;
    const std::string path = trace_of(folder, 3000);
    const auto reader = std::make_shared<TraceReader>(path);
    History history(reader);
    EXPECT_GT(accounts::summary(history).tokens, 0);
    EXPECT_LT(reader->pages_read(), pages_of(path) / 6) << "of " << pages_of(path);
}

TEST(ReadingCost, CountsAreThoseOfReadingEverything) {
    const Folder folder;
    const TraceReader reader(trace_of(folder, 50));
    for (const FactSet kinds :
         {fact_bit<record::NextToken>(), fact_bit<record::PlanBegin>(), fact_set<record::Execute, record::Sample>()}) {
        EXPECT_EQ(reader.count(kinds), reader.RecordSource::count(kinds));
    }
    EXPECT_EQ(reader.count_failed(), reader.RecordSource::count_failed());
}

} // namespace
} // namespace schedscope
