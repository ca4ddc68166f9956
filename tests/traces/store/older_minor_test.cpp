// A file of an earlier minor version has fewer tables: it is read as one without their records.

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
