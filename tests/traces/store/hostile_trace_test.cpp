// Traces that somebody made to harm: what lies beside them, what their tables compute, numbers that no program would write.

#include "runtime/error.h"
#include "runtime/system/visible_text.h"
#include "tests/support/traces/sample_run.h"
#include "tests/support/traces/super_journal.h"
#include "traces/format/schema.h"
#include "traces/history/explain.h"
#include "traces/history/history.h"
#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"
#include "traces/store/reading/trace_file.h"
#include "traces/store/sqlite.h"
#include "traces/store/writer.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace schedscope {
namespace {

using namespace test;
using ::testing::AnyOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using files::read_bytes;
using files::write_bytes;

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Reads all of it. The outcome: "" for none, else the sentence of the Error(input).
std::string read_all(const std::string& path) {
    try {
        const auto reader = std::make_shared<TraceReader>(path);
        History history(reader);
        for (EvaluationId e = 0; e < history.n_evaluations(); ++e) {
            history.plan(e);
        }
        reader->count(every_fact);
        reader->for_each(0, reader->n_steps(), [](const Record&) {});
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        return error.what();
    }
    return "";
}

class HostileTrace : public ::testing::Test {
protected:
    void SetUp() override {
        TraceWriter writer(path);
        SampleRun run(writer, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(2, 20, 2));
        run.evaluate_again();
        run.evaluate(blocks(3, 2, 2));
        run.evaluate_again();
        writer.close();
        ASSERT_EQ(read_all(path), "");
    }
    void edit(const std::string& sql) const {
        sqlite::Database database(path, sqlite::Database::Mode::edit);
        database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
        database.execute(sql);
    }
    /// Leaves the trace as a program that is killed in the middle of a change does: pages changed, and the journal to take that
    /// back beside it.
    void leave_a_journal() const {
        const std::string sound = read_bytes(path);
        const pid_t child = fork();
        if (child == 0) {
            sqlite::Database database(path, sqlite::Database::Mode::edit);
            database.execute("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; UPDATE tensor SET name = name || '?'");
            database.execute("UPDATE query SET time_ns = time_ns + 1");
            kill(getpid(), SIGKILL);
        }
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        ASSERT_GT(fs::file_size(path + "-journal"), 512u);
        ASSERT_NE(read_bytes(path), sound);
    }
    Folder folder;
    const std::string path = folder.file("t");
};

TEST_F(HostileTrace, AJournalIsWorkedInWithoutTouchingAFile) {
    const auto reader = std::make_shared<TraceReader>(path);
    const std::string name(reader->graph(0).tensors[3].name);
    leave_a_journal();
    const auto before = names_in(folder.path());
    const std::string trace = read_bytes(path), journal = read_bytes(path + "-journal");
    const TraceReader again(path);
    EXPECT_EQ(again.graph(0).tensors[3].name, name) << "as it was before the change that was not finished";
    EXPECT_EQ(read_all(path), "");
    EXPECT_EQ(names_in(folder.path()), before);
    EXPECT_EQ(read_bytes(path), trace);
    EXPECT_EQ(read_bytes(path + "-journal"), journal);
}

TEST_F(HostileTrace, AJournalThatNamesAnotherFileIsRefusedAndThatFileStays) {
    const std::string victim = folder.file("thesis.txt");
    write_bytes(victim, "years of work");
    leave_a_journal();
    write_bytes(path + "-journal", read_bytes(path + "-journal") + test::super_journal(victim, 4096));
    EXPECT_THAT(read_all(path), HasSubstr("t-journal: names another file"));
    EXPECT_EQ(check_integrity(path).value_or(""), path + "-journal: names another file, which no trace's journal does");
    EXPECT_EQ(read_bytes(victim), "years of work");
}

TEST_F(HostileTrace, AFileThatOnlyLooksLargeHasNoMoreRecordsThanItHolds) {
    edit("UPDATE assign SET step = 1 << 32 WHERE step = (SELECT max(step) FROM assign)");
    ASSERT_EQ(truncate(path.c_str(), off_t{1} << 36), 0); // 2^33 records would fit
    EXPECT_THAT(read_all(path), HasSubstr("its last record is 4294967296"));
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    for (off_t at = off_t{1} << 20; at < off_t{64} << 20; at += 8192) { // a few bytes here and there
        ASSERT_EQ(pwrite(file, "x", 1, at), 1);
    }
    close(file);
    EXPECT_THAT(read_all(path), HasSubstr("its last record is 4294967296"));
}

TEST_F(HostileTrace, WhatLiesBesideItAndIsNoFileIsRefused) {
    leave_a_journal();
    fs::remove(path + "-journal");
    ASSERT_EQ(mkfifo((path + "-journal").c_str(), 0600), 0);
    EXPECT_THAT(read_all(path), HasSubstr("t-journal: is not a regular file"));
}

TEST_F(HostileTrace, ATraceOfAKilledProgramWithTerabytesOfNothingTakesNoRoom) {
    const pid_t child = fork();
    if (child == 0) {
        TraceWriter writer(path);
        SampleRun run(writer, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(2, 20, 2));
        writer.sync();
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const Folder temporary;
    setenv("TMPDIR", temporary.path().c_str(), 1);
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY}, small{64 << 20, RLIM_INFINITY};
    ASSERT_EQ(truncate(path.c_str(), off_t{300} << 30), 0);
    setrlimit(RLIMIT_FSIZE, &small); // nothing is written that is larger
    EXPECT_EQ(read_all(path), "");
    setrlimit(RLIMIT_FSIZE, &unlimited);
    EXPECT_EQ(names_in(temporary.path()).size(), 0u);
    unsetenv("TMPDIR");
}

TEST_F(HostileTrace, ACopyOfWhatIsStillWrittenHasNoNameAndKeepsItsHoles) {
    const Folder temporary;
    setenv("TMPDIR", temporary.path().c_str(), 1);
    TraceWriter writer(path);
    SampleRun run(writer, session({"Vulkan0", "CPU"}));
    run.evaluate(blocks(2, 20, 2));
    writer.sync();
    ASSERT_EQ(truncate(path.c_str(), off_t{300} << 30), 0);
    {
        const TraceReader reader(path);
        EXPECT_EQ(reader.n_evaluations(), 1);
        EXPECT_EQ(names_in(temporary.path()).size(), 0u);
    }
    writer.close();
    unsetenv("TMPDIR");
}

TEST_F(HostileTrace, AWordThatStandsForNothingIsShownInOneShortLine) {
    const std::string sound = read_bytes(path), word = "none\n\x1b[2J" + std::string(400, 'x');
    int told = 0;
    for (const schema::Entity& table : schema::tables()) {
        std::vector<std::string> columns;
        {
            sqlite::Database database(path, sqlite::Database::Mode::read);
            sqlite::Statement info(database, "SELECT name FROM pragma_table_info('" + table.name + "')");
            while (info.step()) {
                columns.emplace_back(info.bytes(0));
            }
        }
        for (const std::string& column : columns) {
            write_bytes(path, sound);
            try {
                edit("UPDATE OR IGNORE " + table.name + " SET " + column + " = '" + word + "'");
            } catch (const sqlite::Failure&) { // the schema itself refuses
                continue;
            }
            const std::string sentence = read_all(path);
            told += sentence.empty() ? 0 : 1;
            EXPECT_EQ(visible(sentence), sentence) << table.name << '.' << column;
            EXPECT_LE(sentence.size(), path.size() + 300) << table.name << '.' << column;
        }
    }
    EXPECT_GT(told, 10);
}

TEST_F(HostileTrace, ANewerFormatMayNotComputeItsColumns) {
    const std::string newer = "PRAGMA user_version = " + std::to_string(schema::user_version + 1) + "; ";
    const std::string sound = read_bytes(path);
    for (const char* column : {"more AS (zeroblob(60000000))", "more INTEGER CHECK (length(zeroblob(60000000)) > step)",
                               "more GENERATED ALWAYS AS (step + 1) VIRTUAL"}) {
        write_bytes(path, sound);
        edit(newer + "ALTER TABLE assign ADD COLUMN " + column);
        EXPECT_THAT(read_all(path), HasSubstr("the table 'assign' is not a trace's")) << column;
    }
    write_bytes(path, sound);
    edit(newer + "ALTER TABLE assign ADD COLUMN more INTEGER DEFAULT 3");
    EXPECT_EQ(read_all(path), "");
}

TEST_F(HostileTrace, AnIndexMayNotComputeAnything) {
    const std::string sound = read_bytes(path);
    edit("CREATE INDEX i ON assign (tensor, step)");
    EXPECT_EQ(read_all(path), "");
    EXPECT_EQ(check_integrity(path), std::nullopt);
    for (const char* index :
         {"CREATE INDEX i ON assign (length(zeroblob(1000000)))", "CREATE INDEX i ON assign (tensor) WHERE tensor > 3"}) {
        write_bytes(path, sound);
        edit(index);
        EXPECT_THAT(read_all(path), HasSubstr("the index 'i' is computed")) << index;
    }
    // SQLite goes by the text, whatever the row claims to be.
    for (const char* type : {"INDEX", "view", "trigger", "table", "?"}) {
        write_bytes(path, sound);
        edit("CREATE INDEX i ON assign (length(zeroblob(1000000))); PRAGMA writable_schema = ON; "
             "UPDATE sqlite_schema SET type = '" +
             std::string(type) + "' WHERE name = 'i'");
        EXPECT_THAT(read_all(path), AnyOf(HasSubstr("the index 'i' is computed"), HasSubstr("is damaged"))) << type;
        EXPECT_THAT(check_integrity(path).value_or(""), HasSubstr("is damaged")) << type;
    }
    write_bytes(path, sound);
    edit("CREATE TABLE other (a, CHECK (length(zeroblob(1000000)) < a)); PRAGMA ignore_check_constraints = ON; "
         "INSERT INTO other VALUES (1)");
    EXPECT_EQ(check_integrity(path), std::nullopt) << "a table that no trace has is not looked at";
    write_bytes(path, sound);
    edit("CREATE INDEX \"i\n\x1b[2J\u202E" + std::string(9'999, 'x') + "\" ON assign (tensor) WHERE tensor > 3");
    EXPECT_THAT(read_all(path), HasSubstr("the index 'i\\n?[2J?xxx")) << "in one line";
    EXPECT_LT(read_all(path).size(), path.size() + 200);
}

TEST_F(HostileTrace, WhatAnalyzeFoundMayNotTakeLongToCompute) {
    edit("ANALYZE");
    EXPECT_EQ(read_all(path), "");
    const std::string sound = read_bytes(path);
    // SQLite reads all of them with the schema, before anybody can look at it; each of these would take it days.
    for (const char* computed : {"hex(zeroblob(30000000))", "instr(hex(zeroblob(10000)), hex(zeroblob(5000)) || 1)",
                                 "hex(zeroblob(10000)) LIKE ''%0%0%0%0%0%0%0%0%0%0%0%0%0%1''"}) {
        write_bytes(path, sound);
        edit("DROP TABLE sqlite_stat1; CREATE TABLE more (tbl, idx, x); INSERT INTO more WITH RECURSIVE n(i) AS (SELECT 1 UNION "
             "ALL "
             "SELECT i + 1 FROM n WHERE i < 300000) SELECT 'assign', 'i' || i, 0 FROM n; PRAGMA writable_schema = ON; "
             "UPDATE sqlite_schema SET name = 'sqlite_stat1', tbl_name = 'sqlite_stat1', "
             "sql = 'CREATE TABLE sqlite_stat1(tbl, idx, x, stat AS (" +
             std::string(computed) + "))' WHERE name = 'more'");
        EXPECT_EQ(read_all(path), "") << computed;
        EXPECT_EQ(check_integrity(path), std::nullopt) << computed;
    }
}

TEST_F(HostileTrace, AColumnThatRepeatsWhatTheStepSaysMustAgreeWithIt) {
    const std::string sound = read_bytes(path);
    int n_tables = 0;
    for (const schema::Entity& table : schema::tables()) {
        if (table.sql.find("(step INTEGER PRIMARY KEY, evaluation ") == std::string::npos) {
            continue;
        }
        write_bytes(path, sound);
        const std::optional<int64_t> last = [&]() -> std::optional<int64_t> {
            sqlite::Database database(path, sqlite::Database::Mode::read);
            sqlite::Statement row(database, "SELECT evaluation FROM " + table.name + " ORDER BY step DESC LIMIT 1");
            return row.step() ? std::optional(row.integer(0)) : std::nullopt;
        }();
        n_tables += last ? 1 : 0;
        for (int64_t value = 0; last && value < 4; ++value) {
            write_bytes(path, sound);
            edit("UPDATE " + table.name + " SET evaluation = " + std::to_string(value) + " WHERE step = (SELECT max(step) FROM " +
                 table.name + ")");
            const std::string outcome = read_all(path);
            if (value == *last) {
                EXPECT_EQ(outcome, "") << table.name;
            } else {
                EXPECT_THAT(outcome, HasSubstr("evaluation is " + std::to_string(value) + " and not " + std::to_string(*last)))
                    << table.name;
            }
        }
    }
    EXPECT_GT(n_tables, 4);
    write_bytes(path, sound);
    edit("UPDATE evaluation_begin SET evaluation = 2 WHERE evaluation = 1");
    EXPECT_THAT(read_all(path), HasSubstr("evaluation is 2 and not 1"));
    write_bytes(path, sound);
    edit("UPDATE evaluation_begin SET evaluation = 0 WHERE evaluation = 3");
    EXPECT_THAT(read_all(path), HasSubstr("evaluation is 0 and not 3"));
}

TEST_F(HostileTrace, AnEvaluationBeginsOnce) {
    // Each runs the plan of the one before, and says behind that that it made its own.
    edit("UPDATE evaluation_begin SET planned_in = max(evaluation - 1, 0)");
    edit("INSERT INTO evaluation_begin SELECT min(w.step), b.evaluation, b.time_ns, b.kind, b.reused, b.observed, b.n_tokens, "
         "b.n_sequences, b.n_outputs, b.evaluation, b.failed_check FROM evaluation_begin b JOIN pass_end w USING (evaluation) "
         "GROUP BY "
         "b.evaluation; DELETE FROM pass_end WHERE step IN (SELECT step FROM evaluation_begin)");
    EXPECT_THAT(read_all(path), HasSubstr("begins twice"));
}

TEST_F(HostileTrace, AStepBeyondWhatTheFileCanHoldIsDamage) {
    const std::string sound = read_bytes(path);
    for (const int64_t step : {int64_t{1} << 46, int64_t{1} << 62, static_cast<int64_t>(sound.size())}) {
        write_bytes(path, sound);
        edit("INSERT INTO pass VALUES (" + std::to_string(step) + ", 3, 0, 1)");
        EXPECT_THAT(read_all(path), HasSubstr("its last record is " + std::to_string(step)));
    }
}

std::string big_endian(size_t n, int size) {
    std::string text;
    for (int i = size - 1; i >= 0; --i) {
        text += static_cast<char>(n >> (8 * i));
    }
    return text;
}

/// The number of the page that a table's tree begins with.
size_t root_of(const std::string& path, const std::string& table) {
    sqlite::Database database(path, sqlite::Database::Mode::read);
    sqlite::Statement find(database, "SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'");
    EXPECT_TRUE(find.step());
    return static_cast<size_t>(find.integer(0));
}

/// A table's tree whose inner pages lead to the same page again and again, level upon level: a file of some pages with more rows
/// than could ever be counted.
void make_endless(const std::string& path, const std::string& table) {
    const size_t root = root_of(path, table);
    constexpr size_t page_bytes = 4096, n_levels = 8, n_cells = 400;
    std::string bytes = read_bytes(path);
    const size_t n_pages = bytes.size() / page_bytes;
    // The table's own page becomes the leaf of a tree of n_levels above it, the highest of which takes its place.
    const auto page_at = [&](size_t number) { return bytes.substr((number - 1) * page_bytes, page_bytes); };
    const std::string leaf = page_at(root);
    bytes += leaf;
    size_t below = n_pages + 1;
    for (size_t level = 0; level < n_levels; ++level) {
        const bool last = level + 1 == n_levels;
        std::string page(page_bytes, '\0');
        std::string header = "\x05" + big_endian(0, 2) + big_endian(n_cells, 2) + big_endian(page_bytes - n_cells * 5, 2) +
                             big_endian(0, 1) + big_endian(below, 4);
        page.replace(0, header.size(), header);
        for (size_t cell = 0; cell < n_cells; ++cell) {
            const size_t at = page_bytes - (cell + 1) * 5;
            page.replace(12 + 2 * cell, 2, big_endian(at, 2));
            page.replace(at, 5, big_endian(below, 4) + "\x01");
        }
        if (last) {
            bytes.replace((root - 1) * page_bytes, page_bytes, page);
        } else {
            bytes += page;
            below = bytes.size() / page_bytes;
        }
    }
    bytes.replace(28, 4, big_endian(bytes.size() / page_bytes, 4));
    write_bytes(path, bytes);
}

TEST_F(HostileTrace, ReadingThatWouldNotEndIsEnded) {
    const std::string sound = read_bytes(path);
    for (const char* table : {"assign", "query", "split_run", "kernel", "plan", "meta", "evaluation", "tensor", "split"}) {
        write_bytes(path, sound);
        make_endless(path, table);
        EXPECT_NE(read_all(path), "") << table;
        EXPECT_NE(check_integrity(path), std::nullopt) << table;
    }
    write_bytes(path, sound);
    make_endless(path, "query");
    const TraceReader reader(path);
    EXPECT_THROW(reader.count(fact_bit<record::BackendQuery>()), Error);
}

/// Replaces the page of the texts by one whose texts, of a megabyte each, all lie in the same pages behind it.
void make_texts_share_their_pages(const std::string& path, int n_texts) {
    constexpr size_t page_bytes = 4096, n_pages = 256;
    // As SQLite's file format has it: the least of a long payload that lies in its row, and full pages behind that; a header of
    // five bytes in front of the text.
    constexpr size_t in_row = (page_bytes - 12) * 32 / 255 - 23, payload = in_row + n_pages * (page_bytes - 4),
                     text_bytes = payload - 5;
    std::string bytes = read_bytes(path);
    const size_t root = root_of(path, "text"), first = bytes.size() / page_bytes + 1;
    const auto varint = [](size_t n) {
        std::string text(1, static_cast<char>(n & 0x7F));
        while ((n >>= 7) != 0) {
            text.insert(text.begin(), static_cast<char>(0x80 | (n & 0x7F)));
        }
        return text;
    };
    std::string page(page_bytes, '\0');
    size_t at = page_bytes;
    for (int i = 0; i < n_texts; ++i) {
        std::string row = varint(payload) + varint(static_cast<size_t>(i) + 1);
        std::string content = varint(5) + varint(0) + varint(2 * text_bytes + 13);
        content.resize(in_row, 'x');
        row += content + big_endian(first, 4);
        at -= row.size();
        page.replace(at, row.size(), row);
        page.replace(8 + 2 * static_cast<size_t>(i), 2, big_endian(at, 2));
    }
    page.replace(0, 8,
                 "\x0d" + big_endian(0, 2) + big_endian(static_cast<size_t>(n_texts), 2) + big_endian(at, 2) + big_endian(0, 1));
    bytes.replace((root - 1) * page_bytes, page_bytes, page);
    for (size_t i = 0; i < n_pages; ++i) {
        bytes += big_endian(i + 1 < n_pages ? first + i + 1 : 0, 4) + std::string(page_bytes - 4, 'x');
    }
    bytes.replace(28, 4, big_endian(bytes.size() / page_bytes, 4));
    write_bytes(path, bytes);
}

TEST_F(HostileTrace, WhatIsKeptOfItIsNoLongerThanTheFile) {
    make_texts_share_their_pages(path, 6);
    const TraceReader reader(path);
    EXPECT_GT(reader.text(1).size(), 1000000u);
    try {
        for (StringId id = 2; id <= 6; ++id) {
            reader.text(id);
        }
        FAIL() << "six times the file was kept";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("longer than the whole file"));
    }
}

TEST_F(HostileTrace, ReadingStopsWhenItIsAskedTo) {
    bool stop = false;
    const TraceReader reader(path, {.stop = [&] { return stop; }});
    EXPECT_GT(reader.n_steps(), 0);
    stop = true;
    std::vector<Record> records;
    EXPECT_THROW(reader.read(0, reader.n_steps(), records), Interrupted);
    EXPECT_THROW(TraceReader(path, {.stop = [] { return true; }}), Interrupted);
}

TEST_F(HostileTrace, OneThatBecomesShorterWhileItIsReadIsAnError) {
    const TraceReader reader(path);
    ASSERT_EQ(truncate(path.c_str(), 8192), 0);
    try {
        std::vector<Record> records;
        reader.read(0, reader.n_steps(), records);
        reader.graph(1);
        FAIL() << "nothing was missed";
    } catch (const Error& error) {
        EXPECT_EQ(error.what(), path + ": became shorter while it was read");
    }
}

TEST_F(HostileTrace, OneThatIsReplacedIsReadOnAsItWas) {
    const TraceReader reader(path);
    const Step n_steps = reader.n_steps();
    fs::remove(path);
    write_bytes(path, "something else");
    std::vector<Record> records;
    reader.read(0, n_steps, records);
    EXPECT_EQ(records.size(), static_cast<size_t>(n_steps));
}

} // namespace
} // namespace schedscope
