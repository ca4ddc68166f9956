// What a trace does not know is NULL in its file, and its table `knows` says which topics it lacks.

#include "runtime/error.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"
#include "tests/support/traces/records_of_each_kind.h"
#include "tests/support/traces/sample_run.h"
#include "tests/support/traces/sql_rows.h"
#include "traces/format/fields.h"
#include "traces/format/schema.h"
#include "traces/replay/replay.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/writer.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::Not;

/// A run of our own runtime's kind, closed properly.
void write_run(const std::string& path) {
    TraceWriter writer(path);
    SampleRun run(writer, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(3, 4, 2));
    writer.close();
}

class FileOfALog : public ::testing::TestWithParam<const char*> {
protected:
    FileOfALog() {
        TraceWriter writer(path);
        import_file(paths::log(GetParam()), writer);
        writer.close();
    }
    Folder folder;
    const std::string path = folder.file("trace");
};

TEST_P(FileOfALog, HoldsNullAndNoStandInForWhatTheLogDoesNotShow) {
    for (size_t kind = 0; kind < std::variant_size_v<Fact>; ++kind) {
        const std::string table(schema::table_of(kind));
        EXPECT_THAT(sql_rows(path, "SELECT DISTINCT time_ns FROM " + table), Each("-")) << table;
    }
    EXPECT_THAT(sql_rows(path, "SELECT DISTINCT kind FROM evaluation_begin"), Each(::testing::AnyOf("-", "0", "4")))
        << "sizes of embeddings tell a prompt, a line of its own a reserve";
    EXPECT_THAT(sql_rows(path, "SELECT DISTINCT n_leafs, n_stages, current_stage, op_offload FROM plan"), Each("- - - -"));
    EXPECT_THAT(
        sql_rows(path, "SELECT DISTINCT type, flags, usage, buffer_type, user_backend, view_source, view_offset, ne0, nb0, role, "
                       "layer FROM tensor"),
        Each("- - - - - - - - - - -"));
    EXPECT_THAT(sql_rows(path, "SELECT op FROM tensor"), Each(Not("NONE")));
    EXPECT_THAT(sql_rows(path, "SELECT op FROM tensor WHERE name = '' AND op IS NOT NULL"), ::testing::IsEmpty());
    EXPECT_THAT(sql_rows(path, "SELECT DISTINCT before FROM assign"), Each("-"));
    for (const char* column : {"bytes FROM split_input", "bytes FROM copy", "stage FROM copy", "first_node FROM split",
                               "backend FROM split", "end_node FROM split_end", "source_backend FROM split_input",
                               "after FROM assign", "memory_bytes FROM backend", "alignment FROM buffer_type"}) {
        EXPECT_THAT(sql_rows(path, std::string("SELECT DISTINCT ") + column), Each(Not("-1"))) << column;
    }
    EXPECT_THAT(sql_rows(path, "SELECT count(*) FROM knows WHERE known"), Each("0"));
}

TEST_P(FileOfALog, GivesBackWhatWasWrittenThere) {
    const Imported in_memory = Imported::file(paths::log(GetParam()));
    const TraceReader reader(path);
    ASSERT_EQ(reader.n_steps(), in_memory.store->n_steps());
    std::vector<Record> a, b;
    reader.read(0, reader.n_steps(), a);
    in_memory.store->read(0, reader.n_steps(), b);
    for (size_t i = 0; i < a.size(); ++i) {
        EXPECT_TRUE(same(
            a[i], b[i], [&](StringId id) { return reader.text(id); }, [&](StringId id) { return in_memory.store->text(id); }))
            << "record " << i << " (" << fact_name(a[i].fact) << ")";
    }
    for (int topic = 0; topic < static_cast<int>(Topic::count); ++topic) {
        EXPECT_FALSE(reader.session().knows.has(static_cast<Topic>(topic))) << topic_name(static_cast<Topic>(topic));
    }
}

INSTANTIATE_TEST_SUITE_P(Logs, FileOfALog, ::testing::Values("2023-10", "2026-05", "level-1", "several"), [](const auto& log) {
    std::string name = log.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(Knows, ATraceOfOurRuntimeHasEveryTopic) {
    const Folder folder;
    write_run(folder.file("t"));
    EXPECT_THAT(sql_rows(folder.file("t"), "SELECT DISTINCT known, closely FROM knows"), ::testing::ElementsAre("1 -"));
    EXPECT_EQ(sql_rows(folder.file("t"), "SELECT topic FROM knows").size(), static_cast<size_t>(Topic::count));
}

TEST(Knows, WhoWritesATraceSaysWhatItLacksAndHowCloselyItTookTimes) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    SessionInfo info = session({"CPU"});
    info.knows.lack(Topic::buffers);
    info.knows.closely = "one time a plan";
    SampleRun run(writer, info);
    run.evaluate(blocks(3, 4, 1));
    writer.close();
    const Knowledge knows = TraceReader(folder.file("t")).session().knows;
    EXPECT_FALSE(knows.has(Topic::buffers));
    EXPECT_TRUE(knows.has(Topic::memory));
    EXPECT_TRUE(knows.has(Topic::passes));
    EXPECT_EQ(knows.closely, "one time a plan");
    EXPECT_THAT(sql_rows(folder.file("t"), "SELECT DISTINCT flags, buffer_type FROM tensor"), Each("- -"));
    EXPECT_THAT(sql_rows(folder.file("t"), "SELECT DISTINCT usage FROM tensor"), ::testing::UnorderedElementsAre("-", "weights"));
}

TEST(Knows, AGraphThatLacksAShapeCantBePlannedAgain) {
    const Folder folder;
    write_run(folder.file("t"));
    {
        sqlite::Database edited(folder.file("t"), sqlite::Database::Mode::edit);
        edited.execute("UPDATE tensor SET ne0 = NULL, ne1 = NULL, ne2 = NULL, ne3 = NULL WHERE id = 3");
    }
    const TraceReader reader(folder.file("t"));
    EXPECT_EQ(reader.graph(0).tensors[3].ne, std::nullopt);
    EXPECT_TRUE(reader.graph(0).tensors[2].ne);
    try {
        replay(reader);
        FAIL() << "was planned";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "nothing can be planned again: of tensor 'token_embd.weight' the shape is not known");
    }
}

} // namespace
} // namespace schedscope
