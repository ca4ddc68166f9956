// Kernels of a split share a row of the file, and are records of their own to whoever reads it.
#include "tests/support/traces/plan_rows.h"
#include "tests/support/traces/sample_run.h"
#include "tests/support/traces/sql_rows.h"
#include "traces/format/kernel_times.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <random>

namespace schedscope {
namespace {

using namespace test;
using ::testing::HasSubstr;

/// A run with a plan, and evaluations that run it again, each with other times, in memory and in a file.
class RowsOfSplits : public ::testing::Test {
protected:
    RowsOfSplits() {
        TraceWriter writer(path);
        TeeRecorder tee{store.get(), &writer};
        SampleRun run(tee, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(3, 4, 2));
        for (const KernelTimes times : {KernelTimes::kernels, KernelTimes::splits, KernelTimes::none}) {
            run.kernel_times = times;
            run.evaluate_again();
        }
        writer.close();
        file = std::make_shared<TraceReader>(path);
        store->read(0, store->n_steps(), records);
    }

    std::vector<std::string> rows(const std::string& sql) const { return sql_rows(path, sql); }
    template <typename T> std::vector<std::pair<Step, T>> all(EvaluationId evaluation) const {
        std::vector<std::pair<Step, T>> found;
        for (const Record& r : records) {
            if (const T* f = std::get_if<T>(&r.fact); f != nullptr && r.evaluation == evaluation) {
                found.emplace_back(r.step, *f);
            }
        }
        return found;
    }
    static std::string text(const record::Execute& f) {
        std::string t;
        for (const int64_t n : {int64_t{f.split}, int64_t{f.backend}, int64_t{f.count}, int64_t{f.first}, int64_t{f.last},
                                f.start_ns, f.end_ns, f.bytes, f.flops}) {
            t += " " + std::to_string(n);
        }
        return t;
    }

    Folder folder;
    std::string path = folder.file("t");
    std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
    std::shared_ptr<TraceReader> file;
    std::vector<Record> records; ///< as they are in memory
};

TEST_F(RowsOfSplits, OneRowHoldsASplitAndItsKernels) {
    const auto splits = all<record::SplitRun>(0);
    ASSERT_GT(splits.size(), 2U);
    EXPECT_GT(all<record::Execute>(0).size(), 2 * splits.size());
    EXPECT_EQ(rows("SELECT count(*) FROM split_run"), std::vector{std::to_string(4 * splits.size())});
    std::vector<std::string> steps;
    for (const auto& [step, split] : splits) {
        steps.push_back(std::to_string(step));
    }
    EXPECT_EQ(rows("SELECT step FROM split_run WHERE evaluation = 0 ORDER BY step"), steps);
}

TEST_F(RowsOfSplits, SqlShowsARowAKernel) {
    for (const EvaluationId timed : {0, 1}) {
        std::vector<std::string> expected;
        for (const auto& [step, kernel] : all<record::Execute>(timed)) {
            expected.push_back(std::to_string(step) + text(kernel) + " " + std::string(store->text(kernel.kernel)));
        }
        EXPECT_EQ(
            rows("SELECT x.step, split, backend, count, first, last, start_ns, end_ns, bytes, flops, t.value FROM execute x JOIN "
                 "text t ON t.id = x.kernel WHERE evaluation = " +
                 std::to_string(timed) + " ORDER BY x.step"),
            expected);
    }
}

TEST_F(RowsOfSplits, AKernelThatWasNotTimedIsThereWithoutATime) {
    EXPECT_TRUE(all<record::Execute>(2).empty()) << "nothing says when it ran: it has no record";
    std::vector<std::string> expected;
    for (const auto& [step, kernel] : all<record::Execute>(1)) {
        expected.push_back(std::to_string(kernel.split) + " " + std::to_string(kernel.first) + " - - " +
                           std::to_string(kernel.bytes));
    }
    for (const char* untimed : {"2", "3"}) {
        EXPECT_THAT(rows(std::string("SELECT split, first, start_ns, end_ns, bytes FROM execute WHERE evaluation = ") + untimed),
                    ::testing::UnorderedElementsAreArray(expected));
    }
    for (const RecordSource* source :
         {static_cast<const RecordSource*>(store.get()), static_cast<const RecordSource*>(file.get())}) {
        std::vector<Record> read;
        source->read(0, source->n_steps(), read);
        KernelList listed;
        for (const Record& r : read) {
            if (const auto* run = std::get_if<record::SplitRun>(&r.fact); run != nullptr && r.evaluation == 2) {
                const KernelList& part = source->kernels(run->kernels);
                listed.insert(listed.end(), part.begin(), part.end());
            }
        }
        KernelList ran;
        for (const auto& [step, k] : all<record::Execute>(1)) {
            ran.push_back({k.first, k.last, k.count, k.kernel, k.bytes, k.flops});
        }
        EXPECT_EQ(listed.size(), ran.size());
        for (size_t i = 0; i < std::min(ran.size(), listed.size()); ++i) {
            EXPECT_EQ(listed[i].first, ran[i].first);
            EXPECT_EQ(source->text(listed[i].kernel), store->text(ran[i].kernel));
        }
    }
}

TEST_F(RowsOfSplits, ASplitsTimeIsKnownUnlessNoneWasTaken) {
    EXPECT_THAT(rows("SELECT DISTINCT evaluation, start_ns IS NULL, times IS NULL FROM split_run ORDER BY 1"),
                ::testing::ElementsAre("0 0 0", "1 0 0", "2 0 1", "3 1 1"));
    for (const auto& [step, run] : all<record::SplitRun>(3)) {
        EXPECT_FALSE(run.start_ns || run.end_ns);
    }
    History history(file);
    for (const SplitState& split : history.plan(3).splits) {
        EXPECT_EQ(split.start_ns, std::nullopt);
        EXPECT_NE(split.ran, no_step) << "it ran all the same";
    }
    for (const SplitState& split : history.plan(2).splits) {
        EXPECT_GE(split.start_ns, 0);
    }
}

TEST_F(RowsOfSplits, ABreakdownByKernelNeverDividesTheTimeOfASplit) {
    EXPECT_EQ(rows("SELECT count(*) FROM kernel_time WHERE total_ns IS NOT NULL"), std::vector<std::string>{"0"})
        << "of each kernel some runs were not timed";
    History history(file);
    const auto timed = test::kernel_rows(history, history.plan(1)), untimed = test::kernel_rows(history, history.plan(2));
    ASSERT_EQ(timed.size(), untimed.size());
    for (size_t i = 0; i < timed.size(); ++i) {
        EXPECT_TRUE(timed[i].timed);
        EXPECT_FALSE(untimed[i].timed);
        EXPECT_EQ(timed[i].node, untimed[i].node);
        EXPECT_EQ(timed[i].kernel, untimed[i].kernel);
    }
}

TEST_F(RowsOfSplits, AnyStepsAreReadAlone) {
    const Step n = store->n_steps();
    const Step begin = all<record::PlanBegin>(0).front().first;
    std::mt19937 random(1);
    for (int i = 0; i < 3000; ++i) {
        const Step first = begin + static_cast<Step>(random() % static_cast<uint64_t>(n - begin));
        const Step end = std::min<Step>(n, first + 1 + static_cast<Step>(random() % 40));
        for (const FactSet kinds : {every_fact, fact_bit<record::Execute>(), fact_bit<record::SplitRun>()}) {
            std::vector<Record> expected, read;
            store->read_wanted(first, end, {kinds}, expected);
            file->read_wanted(first, end, {kinds}, read);
            ASSERT_EQ(read.size(), expected.size()) << first << " to " << end;
            for (size_t k = 0; k < read.size(); ++k) {
                ASSERT_EQ(read[k].step, expected[k].step);
                ASSERT_EQ(read[k].time_ns, expected[k].time_ns);
                ASSERT_EQ(read[k].fact.index(), expected[k].fact.index());
                if (const auto* kernel = std::get_if<record::Execute>(&read[k].fact)) {
                    ASSERT_EQ(text(*kernel), text(std::get<record::Execute>(expected[k].fact)));
                }
            }
        }
    }
}

TEST_F(RowsOfSplits, NeighboursOfAKindAreFoundFromEveryStep) {
    for (const FactSet kind : {fact_bit<record::Execute>(), fact_bit<record::SplitRun>()}) {
        EXPECT_EQ(file->count(kind), store->count(kind));
        for (Step from = -1; from <= store->n_steps(); ++from) {
            ASSERT_EQ(file->next_of(from, kind), store->next_of(from, kind)) << from;
            ASSERT_EQ(file->previous_of(from, kind), store->previous_of(from, kind)) << from;
        }
    }
}

TEST_F(RowsOfSplits, PiecesOfASplitNameTheSameList) {
    const std::string in_pieces = folder.file("pieces");
    {
        TraceWriter writer(in_pieces);
        writer.session(session({"CPU"}));
        writer.add(record::EvaluationBegin{});
        SplitPart part;
        part.backend = 0;
        part.kernels = std::make_shared<const KernelList>(KernelList(3, {-1, -1, 1, writer.intern("mul"), 8, 9}));
        part.last = false;
        const std::vector<KernelSpan> times{{100, 110}, {115, 120}, {90, 95}}; // a device's clock may be told later
        for (int32_t i = 0; i < 3; ++i) {
            part.first = i;
            part.count = 1;
            part.times = std::span(times).subspan(static_cast<size_t>(i), 1);
            part.start_ns = part.times[0].start_ns;
            part.end_ns = part.times[0].end_ns;
            writer.add(part);
        }
        writer.add(record::SplitRun{0, 0, 80, 130});
        writer.close();
    }
    path = in_pieces;
    EXPECT_THAT(rows("SELECT step, complete, kernels, first, count, times FROM split_run"),
                ::testing::ElementsAre("1 0 1 0 1 [[0,10]]", "2 0 1 1 1 [[0,5]]", "3 0 1 2 1 [[0,5]]", "4 1 - 0 0 -"));
    EXPECT_THAT(rows("SELECT step, start_ns, end_ns FROM execute ORDER BY step"),
                ::testing::ElementsAre("1 100 110", "2 115 120", "3 90 95"));
    EXPECT_THAT(rows("SELECT count(*) FROM kernel"), ::testing::ElementsAre("3"));
}

TEST_F(RowsOfSplits, WhatIsNoListOrNoTimesIsDamage) {
    const auto told = [&](const std::string& change) {
        const std::string changed = folder.file("changed");
        std::filesystem::copy_file(path, changed, std::filesystem::copy_options::overwrite_existing);
        sqlite::Database database(changed, sqlite::Database::Mode::edit);
        database.execute("UPDATE split_run SET " + change + " WHERE step = (SELECT min(step) FROM split_run WHERE count > 1)");
        return check_integrity(changed).value_or("");
    };
    EXPECT_EQ(told("times = times"), "");
    for (const char* times : {"'[]'", "'[[0,1]]'", "'[[0,1],'", "'[0,1]'", "replace(times, ',', ' ,')", "times || ' '", "NULL",
                              "17", "replace(times, '[[', '[[9223372036854775807')"}) {
        EXPECT_NE(told(std::string("times = ") + times), "") << times;
    }
    EXPECT_THAT(told("times = '[]'"), HasSubstr("(split_run): its times are none of"));
    EXPECT_THAT(told("kernels = 4000"), HasSubstr("there is no list 4000 of kernels"));
    EXPECT_THAT(told("count = count + 1"), HasSubstr("count is"));
    EXPECT_THAT(told("first = 1"), HasSubstr("count is"));
    EXPECT_THAT(told("complete = 0"), HasSubstr("is missing"));
    EXPECT_THAT(told("start_ns = NULL"), HasSubstr("one of its ends has no time"));
    EXPECT_THAT(told("start_ns = NULL, end_ns = NULL"), HasSubstr("its times are none of"));
}

TEST(KernelTimesText, GivesBackWhatItWasMadeOf) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<KernelSpan> times(random() % 20), read;
        const int64_t start = static_cast<int64_t>(random() % (uint64_t{1} << 60)) - (int64_t{1} << 59);
        for (KernelSpan& t : times) {
            t.start_ns = start + static_cast<int64_t>(random() % 2000) - 1000;
            t.end_ns = t.start_ns + static_cast<int64_t>(random() % (uint64_t{1} << (random() % 50)));
        }
        std::string text;
        write_times(times, start, text);
        ASSERT_TRUE(read_times(text, start, read)) << text;
        ASSERT_EQ(read.size(), times.size());
        for (size_t i = 0; i < times.size(); ++i) {
            EXPECT_EQ(read[i].start_ns, times[i].start_ns);
            EXPECT_EQ(read[i].end_ns, times[i].end_ns);
        }
    }
}

} // namespace
} // namespace schedscope
