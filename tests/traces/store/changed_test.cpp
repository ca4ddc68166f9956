// A trace that was closed keeps a hash of each table's rows: what was changed since is told by its table.

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/traces/records_of_each_kind.h"
#include "tests/support/traces/sample_run.h"
#include "traces/format/row_hash.h"
#include "traces/format/schema.h"
#include "traces/import/import_log.h"
#include "traces/store/hashed_rows.h"
#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/writer.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Rows in every table.
class Written : public ::testing::Test {
protected:
    Written() {
        TraceWriter writer(path);
        SessionInfo info = session({"Vulkan0", "CPU"});
        info.settings.emplace();
        info.settings->placement.tensor_split = {3, 1};
        info.settings->placement.overrides = {{"ffn", "CPU"}};
        info.settings->laid_out = {{Type::Q8_0, 16, 0, true}};
        info.facts = {{"command", "schedscope run"}};
        info.models = std::make_shared<const std::vector<ModelHeader>>(
            1, ModelHeader{{{"llama.block_count", "u32", {int64_t{3}}}, {"llama.rope.freq_base", "f32", {1e4}}},
                           {{"output", Type::F32, {4, 8, 1, 1}, 128}}});
        OwnedGraph graph = blocks(3, 4, 2);
        const auto n_tensors = static_cast<int32_t>(graph.tensors.size()), n_nodes = static_cast<int32_t>(graph.nodes.size());
        SampleRun run(writer, info);
        run.evaluate(std::move(graph));
        EachKind(writer, 7, n_tensors, n_nodes, 2).add(3);
        writer.close();
    }
    void edit(const std::string& sql) const { sqlite::Database(path, sqlite::Database::Mode::edit).execute(sql); }

    Folder folder;
    const std::string path = folder.file("t.trace");
};

TEST_F(Written, IsAsItWasWritten) { EXPECT_EQ(find_changes(path), std::nullopt); }

TEST_F(Written, AnyCellOfAnyTableThatWasChangedIsToldByItsTable) {
    sqlite::Database database(path, sqlite::Database::Mode::edit);
    for (const schema::Entity& table : schema::tables()) {
        std::vector<std::string> columns;
        sqlite::Statement info(database, "SELECT name FROM pragma_table_info('" + table.name + "')");
        while (info.step()) {
            columns.emplace_back(info.bytes(0));
        }
        ASSERT_FALSE(columns.empty()) << table.name;
        // One row, which no constraint keeps from being changed.
        database.execute("CREATE TEMP TABLE one AS SELECT * FROM main." + table.name + " LIMIT 1");
        for (const std::string& column : columns) {
            database.execute("BEGIN");
            sqlite::Statement row(database, "SELECT count(*) FROM one");
            ASSERT_TRUE(row.step() && row.integer(0) == 1) << table.name << " has no row";
            row.reset();
            const bool is_key = [&] {
                sqlite::Statement key(database,
                                      "SELECT pk FROM pragma_table_info('" + table.name + "') WHERE name = '" + column + "'");
                return key.step() && key.integer(0) > 0;
            }();
            std::string same;
            for (const std::string& other : columns) {
                same += (same.empty() ? "" : " AND ") + other + " IS (SELECT " + other + " FROM one)";
            }
            database.execute("UPDATE " + table.name + " SET " + column + " = CASE typeof(" + column +
                             ") WHEN 'null' THEN 1 WHEN 'text' THEN " + column + " || '?' WHEN 'blob' THEN " + column +
                             " || x'01' ELSE " + column + (is_key ? " + 1000000" : " + 1") + " END WHERE " + same);
            sqlite::Statement changes(database, "SELECT changes()");
            ASSERT_TRUE(changes.step());
            ASSERT_GE(changes.integer(0), 1) << table.name << "." << column;
            changes.reset();
            EXPECT_THAT(changed_tables(database), ElementsAre(table.name)) << column;
            database.execute("ROLLBACK");
        }
        database.execute("DROP TABLE temp.one");
    }
    EXPECT_THAT(changed_tables(database), IsEmpty());
}

TEST_F(Written, ARowThatIsGoneOrNewIsToldAndValuesThatChangedPlaces) {
    sqlite::Database database(path, sqlite::Database::Mode::edit);
    for (const char* sql :
         {"DELETE FROM assign WHERE step = (SELECT min(step) FROM assign)",
          "INSERT INTO assign SELECT step + 1000000, evaluation, time_ns, pass, cause, source, before, after, tensor, by FROM "
          "assign LIMIT 1",
          "UPDATE assign SET tensor = by, by = tensor WHERE by >= 0",
          "UPDATE assign SET time_ns = (SELECT time_ns FROM assign a WHERE a.step > assign.step ORDER BY step LIMIT 1)"}) {
        database.execute("BEGIN");
        database.execute(sql);
        EXPECT_THAT(changed_tables(database), ElementsAre("assign")) << sql;
        database.execute("ROLLBACK");
    }
}

TEST_F(Written, WhatIsNotARowMayChange) {
    for (const char* sql : {"CREATE INDEX by_tensor ON assign (tensor)", "ANALYZE", "VACUUM", "PRAGMA page_size = 8192; VACUUM",
                            "REINDEX", "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('mine')",
                            "CREATE VIEW mine AS SELECT * FROM assign", "UPDATE assign SET tensor = tensor"}) {
        edit(sql);
        EXPECT_EQ(find_changes(path), std::nullopt) << sql;
    }
}

TEST_F(Written, TheSentenceNamesTheFileAndEachTable) {
    edit("UPDATE assign SET after = 0 WHERE step = (SELECT max(step) FROM assign WHERE after IS NOT 0)");
    EXPECT_EQ(find_changes(path), path + ": table assign: changed after it was written");
    edit("UPDATE meta SET value = 'another'");
    EXPECT_EQ(find_changes(path), path + ": tables meta, assign: changed after they were written");
}

TEST_F(Written, HashesThatWereTakenAwayAreToldToo) {
    edit("DELETE FROM row_hash");
    EXPECT_EQ(find_changes(path), path + ": table row_hash: changed after it was written");
}

TEST_F(Written, WhoeverAsksForAStopGetsNoAnswer) {
    edit("UPDATE meta SET value = 'another'");
    EXPECT_EQ(find_changes(path, [] { return true; }), std::nullopt);
}

TEST(Unclosed, ARecordingThatWasKilledHasNoHashesAndNothingIsSaid) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    SampleRun run(writer, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(3, 4, 2));
    writer.sync();
    for (const char* suffix : {"", "-wal"}) { // as it is left behind
        std::filesystem::copy_file(folder.file("t") + suffix, folder.file("killed") + suffix);
    }
    EXPECT_EQ(find_changes(folder.file("killed")), std::nullopt);
    {
        sqlite::Database edited(folder.file("killed"), sqlite::Database::Mode::edit);
        edited.execute("UPDATE tensor SET layer = 77");
    }
    EXPECT_EQ(find_changes(folder.file("killed")), std::nullopt);
}

/// Not every table has rows in it.
TEST(AnImportedTrace, IsAsItWasWritten) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    import_file(paths::log("2026-05"), writer);
    writer.close();
    EXPECT_EQ(find_changes(folder.file("t")), std::nullopt);
    sqlite::Database(folder.file("t"), sqlite::Database::Mode::edit)
        .execute("INSERT INTO model_value VALUES (0, 0, 0, 'k', 'u32', 1)");
    EXPECT_EQ(find_changes(folder.file("t")), folder.file("t") + ": table model_value: changed after it was written");
}

TEST(Samples, AreAsTheyWereWritten) {
    for (const auto& entry : std::filesystem::directory_iterator(paths::source("traces/samples"))) {
        if (entry.path().extension() == ".trace") {
            EXPECT_EQ(find_changes(entry.path()), std::nullopt);
        }
    }
}

/// Computed by a few lines of Python from what SCHEMA.md says.
TEST(HashOfRows, IsTheOneThatTheSchemaDescribes) {
    TableHash table;
    RowHash a, b;
    a.add(0, int64_t{1});
    a.add(1, std::string_view("twelve bytes"));
    a.add(2, 2.5);
    b.add(0, int64_t{-7});
    b.add(1, std::string_view(""));
    table.add(a);
    table.add(b);
    EXPECT_EQ(table.n_rows, 2);
    EXPECT_EQ(table.sum, 0x3045378584ae948U);
    TableHash turned;
    turned.add(b);
    turned.add(a);
    EXPECT_EQ(turned, table);
}

} // namespace
} // namespace schedscope
