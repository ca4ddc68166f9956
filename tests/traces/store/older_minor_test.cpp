// A file of an earlier minor version has fewer tables and columns: it is read as one without their records and values.

#include "runtime/error.h"
#include "tests/support/files.h"
#include "tests/support/traces/sample_run.h"
#include "traces/format/schema.h"
#include "traces/history/words/verdict_words.h"
#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

void record(const std::string& path) {
    TraceWriter writer(path);
    SampleRun run(writer, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(3, 4, 1));
    writer.close();
}

void make_older(const std::string& path) {
    sqlite::Database database(path, sqlite::Database::Mode::edit);
    for (const schema::Entity& table : schema::tables()) {
        if (table.since_minor > 0) {
            database.execute("DROP TABLE " + table.name);
        }
        for (const schema::Entity::Column& column : table.later) {
            database.execute("ALTER TABLE " + table.name + " DROP COLUMN " + column.name);
        }
    }
    database.execute("PRAGMA user_version = " + std::to_string(schema::major_version * 1000));
}

TEST(OlderMinor, IsRead) {
    const files::Folder folder;
    const std::string path = folder / "t.trace";
    record(path);
    const Step n = TraceReader(path).n_steps();
    make_older(path);
    const TraceReader reader(path);
    EXPECT_EQ(reader.n_steps(), n);
    std::vector<Record> all;
    reader.read(0, n, all);
    EXPECT_EQ(std::ssize(all), n);
    EXPECT_TRUE(verdicts_of(reader, n).empty());
    EXPECT_EQ(check_integrity(path), std::nullopt);
}

TEST(OlderMinor, ColumnsThatCameLaterAreZero) {
    const files::Folder folder;
    const std::string path = folder / "t.trace";
    {
        TraceWriter writer(path);
        SampleRun run(writer, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(3, 4, 1));
        writer.add(record::Wait{-1, 0, 5, 9, 7});
        writer.close();
    }
    const auto waits = [&] {
        const TraceReader reader(path);
        std::vector<Record> all;
        reader.read(0, reader.n_steps(), all);
        std::vector<int32_t> found;
        for (const Record& r : all) {
            if (const auto* wait = std::get_if<record::Wait>(&r.fact); wait != nullptr && wait->end_ns == 9) {
                found.push_back(wait->n_shaders);
            }
        }
        return found;
    };
    EXPECT_THAT(waits(), ::testing::ElementsAre(7));
    make_older(path);
    EXPECT_THAT(waits(), ::testing::ElementsAre(0));
}

/// Before 4.2 one topic was about memory that was planned and about buffers before planning.
TEST(OlderMinor, KnowsOfBuffersWhatItKnowsOfMemory) {
    for (const bool known : {true, false}) {
        const files::Folder folder;
        const std::string path = folder / "t.trace";
        record(path);
        make_older(path);
        sqlite::Database(path, sqlite::Database::Mode::edit)
            .execute("DELETE FROM knows WHERE topic = 'buffers'; UPDATE knows SET known = " + std::to_string(int{known}) +
                     " WHERE topic = 'memory'");
        const Knowledge knows = TraceReader(path).session().knows;
        EXPECT_EQ(knows.has(Topic::memory), known);
        EXPECT_EQ(knows.has(Topic::buffers), known);
        EXPECT_TRUE(knows.has(Topic::reuse));
    }
}

/// Before 4.4 one topic was about fusion and order, also of programs that do not say what they fuse.
TEST(OlderMinor, KnowsOfFusionWhereRowsOrSettingsTell) {
    const auto knows_fusion = [](const std::string& change) {
        const files::Folder folder;
        const std::string path = folder / "t.trace";
        record(path);
        make_older(path);
        sqlite::Database(path, sqlite::Database::Mode::edit).execute("DELETE FROM knows WHERE topic = 'fusion'; " + change);
        const Knowledge knows = TraceReader(path).session().knows;
        EXPECT_EQ(knows.has(Topic::order), change.find("UPDATE") == std::string::npos);
        return knows.has(Topic::fusion);
    };
    EXPECT_TRUE(knows_fusion(""));
    EXPECT_FALSE(knows_fusion("DELETE FROM fusion; DELETE FROM not_fused; DELETE FROM settings"));
    EXPECT_FALSE(knows_fusion("UPDATE knows SET known = 0 WHERE topic = 'order'"));
}

TEST(OlderMinor, MayLackNothingElse) {
    const files::Folder folder;
    const std::string path = folder / "t.trace";
    record(path);
    make_older(path);
    sqlite::Database(path, sqlite::Database::Mode::edit).execute("DROP TABLE assign");
    EXPECT_THROW(TraceReader{path}, Error);
}

TEST(OlderMinor, TablesOfThisVersionMustBeThere) {
    const files::Folder folder;
    const std::string path = folder / "t.trace";
    record(path);
    sqlite::Database(path, sqlite::Database::Mode::edit).execute("DROP TABLE verdict");
    EXPECT_THROW(TraceReader{path}, Error);
}

} // namespace
} // namespace schedscope::test
