#include "runtime/error.h"
#include "tests/support/sample.h"
#include "tests/support/traces/faces.h"
#include "tests/support/traces/perfetto_file.h"
#include "tests/support/traces/sample_run.h"
#include "traces/export/export_perfetto.h"
#include "traces/format/schema.h"
#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/writer.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <sstream>

namespace schedscope {
namespace {

using namespace test;
namespace fs = std::filesystem;
using files::read_bytes;
using files::write_bytes;

/// A small trace of each of the things that traces hold.
void make_trace(const std::string& path) {
    TraceWriter writer(path);
    SampleRun run(writer, session({"Vulkan0", "CPU"}), 4);
    run.evaluate(blocks(1, 40, 2));
    run.evaluate_again();
    run.evaluate(blocks(2, 2, 2));
    writer.add(record::Value{});
    writer.add(record::ValueElement{});
    writer.add(record::ValueBucket{});
    writer.add(record::Difference{});
    writer.close();
}

/// Looks at everything, in every way there is. The outcome: "" for none, else the sentence of the Error(input).
std::string read_everything(const std::string& path) {
    try {
        const auto reader = std::make_shared<TraceReader>(path);
        for (const schedscope::test::Face& face : schedscope::test::trace_faces()) {
            face.look(reader);
        }
        std::ostringstream timeline;
        export_perfetto(reader, timeline);
        const PerfettoFile well_formed(timeline.str()); // throws where it isn't
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        EXPECT_LT(std::string(error.what()).size(), path.size() + 200);
        return error.what();
    }
    return "";
}

class Corruption : public ::testing::Test {
protected:
    void SetUp() override {
        make_trace(folder.file("sound"));
        sound = read_bytes(folder.file("sound"));
        ASSERT_EQ(read_everything(folder.file("sound")), "");
        ASSERT_EQ(check_integrity(folder.file("sound")), std::nullopt);
    }
    /// The outcome of reading these bytes.
    std::string outcome(const std::string& bytes) {
        write_bytes(folder.file("t"), bytes);
        return read_everything(folder.file("t"));
    }
    /// The outcome after some SQL was done to a sound trace.
    std::string after(const std::string& sql) {
        write_bytes(folder.file("t"), sound);
        {
            sqlite::Database database(folder.file("t"), sqlite::Database::Mode::edit);
            database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
            database.execute(sql);
        }
        // What changed nothing is read as SetUp has read it.
        return read_bytes(folder.file("t")) == sound ? "" : read_everything(folder.file("t"));
    }
    Folder folder;
    std::string sound;
};

TEST_F(Corruption, AtWhateverSizeItIsCutOneLineSaysSo) {
    for (size_t size = 0; size < sound.size(); size += size < 200 ? 7 : 1000) {
        EXPECT_NE(outcome(sound.substr(0, size)), "") << size << " bytes";
    }
    EXPECT_THAT(outcome(sound.substr(0, sound.size() / 2)),
                ::testing::AllOf(::testing::HasSubstr("is truncated"), ::testing::EndsWith("; copy or record it again")));
    EXPECT_THAT(outcome(""), ::testing::EndsWith(": is empty"));
}

TEST_F(Corruption, WithBytesFlippedItIsReadOrRefusedAndNeverCrashes) {
    std::mt19937 random(20240607);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        std::string bytes = sound;
        for (unsigned k = 0; k <= random() % 8; ++k) {
            bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
        }
        refused += outcome(bytes).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 50);
}

TEST_F(Corruption, WithWholePagesExchangedOrBlankedItNeverCrashes) {
    constexpr size_t page = 4096;
    std::mt19937 random(5);
    const size_t n = sound.size() / page;
    for (size_t i = 1; i < n; i += 1 + n / 60) {
        std::string bytes = sound;
        bytes.replace(i * page, page, page, '\0');
        outcome(bytes);
        bytes = sound;
        bytes.replace(i * page, page, sound.substr(random() % n * page, page));
        outcome(bytes);
    }
}

TEST_F(Corruption, WhateverNumberStandsInAColumnTheCallerNeverSeesOneOutOfRange) {
    int n_refused = 0;
    Sample sample;
    for (const schema::Entity& table : schema::tables()) {
        std::vector<std::string> columns;
        {
            sqlite::Database database(folder.file("sound"), sqlite::Database::Mode::read);
            sqlite::Statement info(database, "SELECT name FROM pragma_table_info('" + table.name + "')");
            while (info.step()) {
                columns.emplace_back(info.bytes(0));
            }
        }
        ASSERT_FALSE(columns.empty());
        for (const std::string& column : columns) {
            for (const char* value : {"-7", "99", "100000", "9223372036854775807", "'word'", "1.5"}) {
                if (!sample.takes()) {
                    continue;
                }
                // One row in the middle; where the schema itself refuses, there is nothing to read.
                const std::string sql = "UPDATE OR IGNORE " + table.name + " SET \"" + column + "\" = " + value +
                                        " WHERE (SELECT count(*) FROM " + table.name + ") > 0 AND " + columns.front() +
                                        " = (SELECT " + columns.front() + " FROM " + table.name +
                                        " LIMIT 1 OFFSET (SELECT count(*) / 2 FROM " + table.name + "))";
                try {
                    n_refused += after(sql).empty() ? 0 : 1;
                } catch (const sqlite::Failure&) {}
            }
        }
    }
    EXPECT_GT(n_refused, sanitized ? 100 : 500);
}

TEST_F(Corruption, WrongIdsAreNamed) {
    EXPECT_THAT(after("UPDATE assign SET tensor = 5000 WHERE step = (SELECT max(step) FROM assign)"),
                ::testing::HasSubstr("(assign): tensor is 5000"));
    EXPECT_THAT(after("UPDATE assign SET cause = 77 WHERE step = (SELECT min(step) FROM assign)"),
                ::testing::HasSubstr("(assign): cause is 77"));
    EXPECT_THAT(after("UPDATE assign SET after = 2 WHERE step = (SELECT min(step) FROM assign)"),
                ::testing::HasSubstr("after is 2"));
    EXPECT_THAT(after("UPDATE fusion SET kernel = 4000"), ::testing::HasSubstr("kernel is text 4000"));
    EXPECT_THAT(after("DELETE FROM assign WHERE step = (SELECT max(step) FROM assign)"), ::testing::HasSubstr("is missing"));
    EXPECT_THAT(after("INSERT INTO pass VALUES ((SELECT min(step) FROM assign), 0, 0, 1)"),
                ::testing::HasSubstr("it is there twice"));
    EXPECT_THAT(after("UPDATE plan SET n_stages = 1000000"), ::testing::HasSubstr("stages is 1000000"));
    EXPECT_EQ(after("UPDATE tensor SET op = 'EXPLODE' WHERE graph = 1 AND id = 9"), ""); // another program's may be called so
    EXPECT_THAT(after("UPDATE tensor SET op = '' WHERE graph = 1 AND id = 9"), ::testing::HasSubstr("operator is ''"));
    for (const char* column :
         {"op", "type", "usage", "role"}) { // a name as it stands in one line, and not more of it than is read
        const std::string told =
            after("UPDATE tensor SET " + std::string(column) +
                  " = 'E' || char(10, 27, 0x9B, 0x202E) || printf('%.*c', 9999, 'x') WHERE graph = 1 AND id = 9");
        EXPECT_THAT(told, ::testing::HasSubstr("is 'E\\n???xxx"));
        EXPECT_LT(told.size(), 400U);
    }
    EXPECT_THAT(after("DELETE FROM tensor WHERE graph = 1 AND id = 9"), ::testing::HasSubstr("graph 1"));
    EXPECT_THAT(after("UPDATE edge SET source = 4000 WHERE graph = 0"), ::testing::HasSubstr("the source of an edge is 4000"));
    EXPECT_THAT(after("UPDATE tensor SET ne0 = 1 << 40, ne1 = 1 << 40 WHERE graph = 0 AND id = 3"),
                ::testing::HasSubstr("beyond all memory"));
    EXPECT_THAT(after("UPDATE capability SET answers = x'00' WHERE graph = 0"), ::testing::HasSubstr("answers about graph 0"));
    EXPECT_THAT(after("UPDATE placement SET first_use = -1 WHERE step = (SELECT max(step) FROM placement)"),
                ::testing::HasSubstr("its uses are -1 to"));
    EXPECT_THAT(after("UPDATE evaluation_begin SET planned_in = 2 WHERE evaluation = 1"), ::testing::HasSubstr("evaluation 2"));
}

TEST_F(Corruption, OtherTablesViewsAndTriggersAreRefusedOrIgnored) {
    EXPECT_THAT(after("DROP TABLE assign"), ::testing::HasSubstr("the table 'assign' is missing"));
    EXPECT_THAT(after("DROP TABLE assign; CREATE VIEW assign AS SELECT 1 AS step"),
                ::testing::HasSubstr("the table 'assign' is missing"));
    EXPECT_THAT(after("ALTER TABLE assign ADD COLUMN more INTEGER"), ::testing::HasSubstr("is not a trace's"));
    EXPECT_EQ(after("CREATE TABLE notes (words TEXT)"), "");
    EXPECT_EQ(after("CREATE TRIGGER t AFTER INSERT ON pass BEGIN DELETE FROM assign; END"), "");
}

TEST_F(Corruption, OtherVersionsAreToldApart) {
    const auto version = [](int major, int minor) { return "PRAGMA user_version = " + std::to_string(1000 * major + minor); };
    const auto text = [](int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); };
    const int major = schema::major_version, minor = schema::minor_version;
    for (const auto& [other, what_to_do] : {std::pair{major - 1, ": record it again (schedscope record, or import for a log)"},
                                            {major + 1, ": a newer schedscope reads it"}}) {
        EXPECT_THAT(after(version(other, 3)), ::testing::EndsWith(": has format " + text(other, 3) + ", and this program reads " +
                                                                  text(major, minor) + what_to_do));
    }
    EXPECT_THAT(after("PRAGMA user_version = 0"), ::testing::HasSubstr("has format 0.0"));
    EXPECT_EQ(after(version(major, minor + 1) + "; ALTER TABLE assign ADD COLUMN more INTEGER"), "");
    const TraceReader newer(folder.file("t"));
    EXPECT_THAT(newer.notes(),
                ::testing::ElementsAre(::testing::HasSubstr("newer program (format " + text(major, minor + 1) + ")")));
}

TEST_F(Corruption, WhatIsNotATraceIsCalledSo) {
    const auto why = [](const std::string& path) {
        try {
            const TraceReader reader(path);
            return std::string("was read");
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input);
            EXPECT_THAT(error.what(), ::testing::StartsWith(path + ": "));
            return std::string(error.what()).substr(path.size() + 2);
        }
    };
    EXPECT_EQ(why(folder.file("nothing")), "there is no such file");
    EXPECT_EQ(why(folder.path()), "is a directory, not a trace");
    write_bytes(
        folder.file("letter"),
        "Dear reader, this is a text and a rather longer one than a hundred bytes so that no header is missed in it at all.");
    EXPECT_EQ(why(folder.file("letter")), "is not a trace");
    {
        sqlite::Database other(folder.file("other.db"), sqlite::Database::Mode::create);
        other.execute("CREATE TABLE t (a)");
    }
    EXPECT_EQ(why(folder.file("other.db")), "is an SQLite file, but not a trace");
    EXPECT_EQ(why("/dev/null"), "is not a regular file");
}

TEST_F(Corruption, TheIntegrityCheckFindsWhatReadingInPassingMisses) {
    write_bytes(folder.file("t"), sound);
    {
        sqlite::Database database(folder.file("t"), sqlite::Database::Mode::edit);
        database.execute("UPDATE kernel SET first = 4000 WHERE list = (SELECT max(list) FROM kernel)");
    }
    const TraceReader reader(folder.file("t"));
    std::vector<Record> records;
    EXPECT_NO_THROW(reader.read(0, 100, records));
    EXPECT_THAT(check_integrity(folder.file("t")).value_or(""), ::testing::HasSubstr("first is 4000"));
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_EQ(check_integrity(folder.file("t"), stopped.get_token()), std::nullopt);
}

TEST_F(Corruption, AReaderNeedsNoWritePermission) {
    fs::permissions(folder.file("sound"), fs::perms::owner_read);
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(read_everything(folder.file("sound")), "");
    fs::permissions(folder.path(), fs::perms::owner_all);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
        names.push_back(entry.path().filename());
    }
    EXPECT_EQ(names, std::vector<std::string>{"sound"});
}

} // namespace
} // namespace schedscope
