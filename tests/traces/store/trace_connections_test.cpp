// What is read through two connections at once is what one reads.
#include "runtime/error.h"
#include "tests/support/traces/sample_run.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/reading/trace_connections.h"
#include "traces/store/sqlite.h"
#include "traces/store/tee.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

namespace schedscope {
namespace {

using namespace test;

/// A plan whose records and tensors are so many that their reading is shared.
class SharedReading : public ::testing::Test {
protected:
    SharedReading() {
        TraceWriter writer(path);
        TeeRecorder tee{store.get(), &writer};
        SampleRun run(tee, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(900, 40, 2));
        run.evaluate_again();
        writer.close();
    }

    const Folder folder;
    const std::string path = folder.file("t");
    const std::shared_ptr<LiveStore> store = std::make_shared<LiveStore>();
};

std::vector<std::pair<Step, Fact>> facts_of(const RecordSource& source, Step first, Step end) {
    std::vector<Record> records;
    source.read(first, end, records);
    std::vector<std::pair<Step, Fact>> facts;
    for (const Record& record : records) {
        facts.emplace_back(record.step, record.fact);
    }
    return facts;
}

TEST_F(SharedReading, RecordsAreTheSameInOneGoAndInSmallParts) {
    const TraceReader reader(path), in_parts(path);
    ASSERT_GT(reader.n_steps(), 20'000);
    const auto whole = facts_of(reader, 0, reader.n_steps());
    std::vector<Step> steps;
    constexpr Step part = 1000;
    for (Step first = 0; first < in_parts.n_steps(); first += part) {
        std::vector<Record> records;
        in_parts.read(first, std::min(first + part, in_parts.n_steps()), records);
        for (const Record& record : records) {
            ASSERT_EQ(whole[static_cast<size_t>(record.step)].second.index(), record.fact.index());
            ASSERT_EQ(subject(whole[static_cast<size_t>(record.step)].second), subject(record.fact)) << record.step;
            steps.push_back(whole[static_cast<size_t>(record.step)].first);
        }
    }
    ASSERT_EQ(steps.size(), whole.size());
    EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
}

TEST_F(SharedReading, AGraphIsTheOneThatWasPlanned) {
    const TraceReader reader(path);
    const OwnedGraph &read = reader.graph(0), &planned = store->graph(0);
    ASSERT_GT(planned.tensors.size(), 4096u);
    EXPECT_EQ(read.nodes, planned.nodes);
    EXPECT_EQ(read.leafs, planned.leafs);
    ASSERT_EQ(read.tensors.size(), planned.tensors.size());
    for (size_t i = 0; i < planned.tensors.size(); ++i) {
        const TensorInfo &a = read.tensors[i], &b = planned.tensors[i];
        ASSERT_EQ(a.name, b.name);
        ASSERT_EQ(a.op, b.op) << a.name;
        ASSERT_EQ(a.src, b.src) << a.name;
        ASSERT_EQ(a.ne, b.ne) << a.name;
        ASSERT_EQ(a.nb, b.nb) << a.name;
        ASSERT_EQ(a.params, b.params) << a.name;
        ASSERT_EQ(a.view_source, b.view_source) << a.name;
    }
}

TEST_F(SharedReading, EachPartIsReadOnceByWhicheverConnection) {
    TraceConnections connections(open_trace_file(path));
    std::array<int, 100> times{};
    connections.in_halves(0, 100, 10, [&](TraceConnection&, int64_t first, int64_t end) {
        for (int64_t i = first; i < end; ++i) {
            ++times[static_cast<size_t>(i)];
        }
    });
    EXPECT_THAT(times, ::testing::Each(1));
    int calls = 0;
    connections.in_halves(0, 9, 10, [&](TraceConnection& connection, int64_t, int64_t) {
        EXPECT_EQ(&connection, &connections.first());
        ++calls;
    });
    EXPECT_EQ(calls, 1) << "not worth another thread";
}

TEST_F(SharedReading, WhatEitherHalfThrowsIsPassedOn) {
    TraceConnections connections(open_trace_file(path));
    for (const int64_t bad : {10, 90}) {
        EXPECT_THROW(connections.in_halves(0, 100, 10,
                                           [&](TraceConnection&, int64_t first, int64_t end) {
                                               if (first <= bad && bad < end) {
                                                   throw Error(ErrorKind::input, "bad");
                                               }
                                           }),
                     Error);
    }
}

TEST_F(SharedReading, AFileThatTookThePlaceOfTheOneThatWasOpenedIsNotRead) {
    const TraceReader reader(path), other(path);
    const auto whole = facts_of(other, 0, other.n_steps());
    const std::string replacement = folder.file("other");
    {
        TraceWriter writer(replacement);
        SampleRun run(writer, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(1000, 40, 2)); // longer, and other tensors
        run.evaluate_again();
        writer.close();
    }
    std::filesystem::rename(replacement, path);
    const auto read = facts_of(reader, 0, reader.n_steps());
    ASSERT_EQ(read.size(), whole.size());
    for (size_t i = 0; i < read.size(); ++i) {
        ASSERT_EQ(read[i].second.index(), whole[i].second.index()) << i;
        ASSERT_EQ(subject(read[i].second), subject(whole[i].second)) << i;
    }
    std::filesystem::remove(path);
    EXPECT_EQ(reader.graph(0).tensors.size(), store->graph(0).tensors.size());
}

TEST_F(SharedReading, DamageIsFoundInBothHalves) {
    for (const char* which : {"min", "max"}) {
        const std::string damaged = folder.file(which);
        std::filesystem::copy_file(path, damaged);
        {
            sqlite::Database database(damaged, sqlite::Database::Mode::create);
            const std::string extreme = std::string("(SELECT ") + which + "(step) FROM assign)";
            database.execute("UPDATE assign SET cause = 77 WHERE step = " + extreme);
        }
        const TraceReader reader(damaged);
        try {
            facts_of(reader, 0, reader.n_steps());
            ADD_FAILURE() << which;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), ::testing::HasSubstr("(assign): cause is 77"));
        }
    }
}

} // namespace
} // namespace schedscope
