#include "runtime/error.h"
#include "tests/support/traces/sample_run.h"
#include "traces/store/output.h"
#include "traces/store/reading/integrity.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <atomic>
#include <barrier>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace schedscope {
namespace {

using namespace test;
namespace fs = std::filesystem;
using files::read_bytes;

/// Runs something in a child process that ends without any cleaning up, and returns its exit code.
template <typename F> int in_child(F&& f) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(f());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void put_trace(const std::string& path, int n_evaluations) {
    TraceWriter writer(path);
    SampleRun run(writer, session({"CPU"}));
    run.evaluate(blocks(2, 2, 1));
    for (int i = 1; i < n_evaluations; ++i) {
        run.evaluate_again();
    }
    writer.close();
}

TEST(Writer, AfterAKillWhatWasCommittedIsThere) {
    const Folder folder;
    const std::string path = folder.file("t");
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        TraceWriter writer(path);
        SampleRun run(writer, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(4, 8, 2));
        run.evaluate_again();
        writer.sync();
        char c = 'r';
        if (write(ready[1], &c, 1) != 1) {
            _exit(1);
        }
        for (;;) { // records on, so that the kill comes in the middle of something
            run.evaluate(blocks(4, 8, 2));
        }
    }
    char c = 0;
    ASSERT_EQ(read(ready[0], &c, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);

    ASSERT_TRUE(fs::exists(path + "-wal"));
    const std::string before = read_bytes(path), journal = read_bytes(path + "-wal");
    {
        const TraceReader reader(path);
        EXPECT_THAT(reader.notes(), ::testing::ElementsAre(::testing::HasSubstr("was not closed")));
        ASSERT_GE(reader.n_evaluations(), 2);
        EXPECT_TRUE(reader.evaluation(0).complete);
        EXPECT_TRUE(reader.evaluation(1).complete);
        std::vector<Record> records;
        reader.read(0, reader.n_steps(), records); // each one is checked
        EXPECT_EQ(records.size(), static_cast<size_t>(reader.n_steps()));
    }
    EXPECT_EQ(check_integrity(path), std::nullopt);
    EXPECT_EQ(read_bytes(path), before); // a reader leaves both alone
    EXPECT_EQ(read_bytes(path + "-wal"), journal);
}

TEST(Writer, KilledAtAnyMomentTheFileOpens) {
    const Folder folder;
    for (int records = 0; records < 400; records += 23) {
        const std::string path = folder.file(std::to_string(records));
        const int code = in_child([&] {
            TraceWriter writer(path);
            writer.session(session({"CPU"}));
            for (int i = 0; i < records; ++i) {
                writer.add(record::PassBegin{Pass::place});
                if (i % 50 == 49) {
                    writer.sync();
                }
            }
            kill(getpid(), SIGKILL);
            return 0;
        });
        ASSERT_EQ(code, 128 + SIGKILL);
        const TraceReader reader(path);
        EXPECT_EQ(reader.n_steps() >= records / 50 * 50 && reader.n_steps() <= records, true)
            << reader.n_steps() << " of " << records;
    }
}

TEST(Writer, AFileThatIsThereIsATraceFromTheBeginning) {
    const Folder folder;
    if (const int nameless = open(folder.file("").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); nameless >= 0) {
        close(nameless);
    } else {
        GTEST_SKIP() << "files here have a name from the beginning";
    }
    for (const bool older : {false, true}) {
        for (int i = 0; i < 20; ++i) {
            const std::string path = folder.file(std::to_string(i));
            if (older) {
                put_trace(path, 1);
            }
            std::atomic<bool> made = false;
            std::thread looks([&] {
                while (!made) {
                    struct stat status = {};
                    EXPECT_TRUE(stat(path.c_str(), &status) != 0 || status.st_size > 0);
                }
            });
            TraceWriter writer(path);
            SampleRun run(writer, session({"CPU"}));
            made = true;
            looks.join();
            EXPECT_TRUE(is_trace(path));
            writer.close();
        }
    }
}

TEST(Writer, ATraceCanBeReadWhileItIsWritten) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    SampleRun run(writer, session({"Vulkan0", "CPU"}));
    for (int i = 1; i <= 3; ++i) {
        run.evaluate(blocks(2, 2, 2));
        writer.sync();
        const TraceReader reader(folder.file("t"));
        EXPECT_EQ(reader.n_evaluations(), i);
        EXPECT_TRUE(reader.evaluation(i - 1).complete);
    }
    writer.close();
}

TEST(Writer, WithoutTextsNoPromptAndNoTokenIsInTheFile) {
    const Folder folder;
    TraceWriter::Options options;
    options.texts = false;
    TraceWriter writer(folder.file("t"), options);
    SampleRun run(writer, session({"CPU"}));
    run.evaluate(blocks(1, 2, 1));
    writer.close();
    EXPECT_EQ(read_bytes(folder.file("t")).find("secret"), std::string::npos);

    const TraceReader reader(folder.file("t"));
    EXPECT_THAT(reader.session().facts, ::testing::Contains(::testing::Pair("model", "made-up.gguf")));
    std::vector<Record> records;
    reader.read(0, reader.n_steps(), records);
    int tokens = 0;
    for (const Record& r : records) {
        if (const auto* token = std::get_if<record::NextToken>(&r.fact)) {
            EXPECT_EQ(token->token, std::nullopt);
            EXPECT_EQ(token->text, std::nullopt);
            EXPECT_EQ(token->host_bytes, 160);
            ++tokens;
        } else if (const auto* ubatch = std::get_if<record::UbatchToken>(&r.fact)) {
            EXPECT_EQ(ubatch->token, std::nullopt);
        }
    }
    EXPECT_EQ(tokens, 1);
}

TEST(Writer, WithTextsTheyAre) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    SampleRun run(writer, session({"CPU"}));
    run.evaluate(blocks(1, 2, 1));
    writer.close();
    EXPECT_NE(read_bytes(folder.file("t")).find(" secret"), std::string::npos);
}

TEST(Writer, AFullQueueMakesTheRuntimeWaitAndDropsNothing) {
    const Folder folder;
    TraceWriter::Options options;
    options.queue_records = 16;
    TraceWriter writer(folder.file("t"), options);
    writer.session(session({"CPU"}));
    constexpr int n = 20000;
    for (int i = 0; i < n; ++i) {
        writer.add(record::UbatchToken{i, 0, i, false});
    }
    writer.close();
    const TraceReader reader(folder.file("t"));
    std::vector<Record> records;
    reader.read(0, reader.n_steps(), records);
    int32_t next = 0, waits = 0;
    for (const Record& r : records) {
        if (const auto* wait = std::get_if<record::Wait>(&r.fact)) {
            EXPECT_EQ(wait->backend, no_backend);
            EXPECT_GE(wait->end_ns, wait->start_ns);
            ++waits;
        } else {
            ASSERT_EQ(std::get<record::UbatchToken>(r.fact).token, next++);
        }
    }
    EXPECT_EQ(next, n);
    EXPECT_GT(waits, 0);
}

TEST(Writer, WhenFilesMayNotGrowTheRunGoesOnAndCloseSaysWhy) {
    const Folder folder;
    const std::string path = folder.file("t");
    const int code = in_child([&] {
        const rlimit limit{1 << 19, 1 << 19}; // enough for the tables
        setrlimit(RLIMIT_FSIZE, &limit);
        TraceWriter writer(path);
        SampleRun run(writer, session({"Vulkan0", "CPU"}));
        run.evaluate(blocks(6, 8, 2));
        writer.sync();
        for (int i = 1; i < 60; ++i) {
            run.evaluate(blocks(6, 8, 2));
        }
        try {
            writer.close();
        } catch (const Error& error) {
            return error.kind() == ErrorKind::device && std::string(error.what()).starts_with(path + ": ") ? 7 : 2;
        }
        return 1;
    });
    EXPECT_EQ(code, 7);
    const TraceReader reader(path); // what came before is there
    std::vector<Record> records;
    reader.read(0, reader.n_steps(), records);
    EXPECT_EQ(records.size(), static_cast<size_t>(reader.n_steps()));
    ASSERT_GE(reader.n_evaluations(), 1);
    EXPECT_TRUE(reader.evaluation(0).complete);
    EXPECT_LT(reader.n_evaluations(), 60);
}

TEST(Writer, AFileThatIsRemovedIsAnError) {
    const Folder folder;
    TraceWriter writer(folder.file("t"));
    SampleRun run(writer, session({"CPU"}));
    run.evaluate(blocks(1, 2, 1));
    writer.sync();
    fs::remove(folder.file("t"));
    run.evaluate(blocks(1, 2, 1));
    writer.sync();
    ASSERT_TRUE(writer.error().has_value());
    EXPECT_THAT(*writer.error(), ::testing::HasSubstr("was removed"));
    run.evaluate(blocks(1, 2, 1)); // goes on
    EXPECT_THROW(writer.close(), Error);
    EXPECT_NO_THROW(writer.close());
}

TEST(Writer, WhereNoFileCanBeMadeItSaysSoAtOnce) {
    const Folder folder;
    for (const std::string& path : {folder.file("no/such/folder/t"), folder.path()}) {
        try {
            TraceWriter writer(path);
            writer.session(session({"CPU"}));
            FAIL() << path;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::device);
            EXPECT_THAT(error.what(), ::testing::StartsWith(path + ": "));
        }
    }
    EXPECT_TRUE(fs::is_directory(folder.path()));
}

TEST(Writer, AFolderThatMayNotBeWrittenIsAnError) {
    const Folder folder;
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    const int code = in_child([&] {
        if (geteuid() == 0 && setuid(65534) != 0) { // root may write everywhere
            return 9;
        }
        try {
            TraceWriter writer(folder.file("t"));
            writer.session(session({"CPU"}));
            return 1;
        } catch (const Error& error) {
            return error.kind() == ErrorKind::device ? 7 : 2;
        }
    });
    if (code == 9) {
        GTEST_SKIP() << "runs as root and may not become another user";
    }
    EXPECT_EQ(code, 7);
}

TEST(Writer, LeavesAnOlderTraceAsItWasUntilTheSessionBegins) {
    const Folder folder;
    std::ofstream(folder.file("t")) << "an older trace";
    { TraceWriter writer(folder.file("t")); }
    EXPECT_EQ(read_bytes(folder.file("t")), "an older trace");
}

TEST(Writer, ReplacesATraceAndItsJournal) {
    const Folder folder;
    std::ofstream(folder.file("t-wal")) << "left over";
    for (int n = 1; n <= 2; ++n) {
        TraceWriter writer(folder.file("t"));
        SampleRun run(writer, session({"CPU"}));
        for (int i = 0; i < n; ++i) {
            run.evaluate(blocks(1, 2, 1));
        }
        writer.close();
        EXPECT_EQ(TraceReader(folder.file("t")).n_evaluations(), n);
    }
}

TEST(Writer, TheSecondAtOnePathIsRefusedAndTheFirstOneIsWhole) {
    const Folder folder;
    const std::string path = folder.file("t");
    put_trace(path, 1);
    TraceWriter first(path), second(path);
    SampleRun run(first, session({"CPU"}));
    run.evaluate(blocks(2, 2, 1));
    first.sync();
    try {
        second.session(session({"CPU"}));
        FAIL() << "both have it";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::device);
        EXPECT_EQ(error.what(), path + ": can't be written: another program is recording to it");
    }
    EXPECT_THROW(put_trace(path, 1), Error);
    run.evaluate_again();
    first.close();
    EXPECT_EQ(TraceReader(path).n_evaluations(), 2);
    EXPECT_EQ(check_integrity(path), std::nullopt);
    put_trace(path, 3); // which is free again
    EXPECT_EQ(TraceReader(path).n_evaluations(), 3);
}

TEST(Writer, OfManyThatBeginAtOnceOneHasTheTrace) {
    const Folder folder;
    constexpr int n_writers = 8, n_rounds = 12;
    for (int round = 0; round < n_rounds; ++round) {
        const std::string path = folder.file("t");
        if (round % 3 == 1) {
            fs::remove(path);
        } else if (round % 3 == 2) { // as a killed one leaves it
            std::ofstream(path + "-wal") << "old";
        }
        std::barrier all_there(n_writers), all_tried(n_writers);
        std::atomic<int> n_refused = 0, n_whole = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < n_writers; ++i) {
            threads.emplace_back([&] {
                TraceWriter writer(path);
                all_there.arrive_and_wait();
                bool mine = true;
                try {
                    writer.session(session({"CPU"}));
                } catch (const Error& error) {
                    mine = false;
                    n_refused += std::string(error.what()).ends_with("another program is recording to it") ? 1 : 0;
                }
                all_tried.arrive_and_wait();
                if (mine) {
                    SampleRun run(writer, session({"CPU"}));
                    run.evaluate(blocks(2, 2, 1));
                    writer.close();
                    ++n_whole;
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(n_whole, 1);
        EXPECT_EQ(n_refused, n_writers - 1);
        EXPECT_EQ(TraceReader(path).n_evaluations(), 1);
        EXPECT_EQ(check_integrity(path), std::nullopt);
        EXPECT_FALSE(fs::exists(path + "-wal"));
    }
}

TEST(Writer, AKilledOneLeavesNoLock) {
    const Folder folder;
    const std::string path = folder.file("t");
    EXPECT_EQ(in_child([&] {
                  TraceWriter writer(path);
                  writer.session(session({"CPU"}));
                  kill(getpid(), SIGKILL);
                  return 0;
              }),
              128 + SIGKILL);
    put_trace(path, 2);
    EXPECT_EQ(TraceReader(path).n_evaluations(), 2);
}

TEST(Writer, ALinkGoesOnLeadingToTheTrace) {
    const Folder folder;
    fs::create_directory(folder.file("elsewhere"));
    for (int round = 1; round <= 2; ++round) { // the first time there is nothing where it leads
        fs::remove(folder.file("t"));
        fs::create_symlink("elsewhere/real", folder.file("t"));
        put_trace(folder.file("t"), round);
        EXPECT_TRUE(fs::is_symlink(folder.file("t")));
        EXPECT_EQ(TraceReader(folder.file("elsewhere/real")).n_evaluations(), round);
    }
}

TEST(CheckOutput, RefusesWhatIsNotATrace) {
    const Folder folder;
    std::ofstream(folder.file("thesis.txt")) << "years of work";
    std::ofstream(folder.file("empty"));
    {
        TraceWriter writer(folder.file("t"));
        writer.session(session({"CPU"}));
    }
    EXPECT_THROW(check_output(folder.file("thesis.txt"), false), Error);
    EXPECT_NO_THROW(check_output(folder.file("thesis.txt"), true));
    EXPECT_THROW(check_output(folder.path(), true), Error);
    EXPECT_THROW(check_output("/dev/null", true), Error);
    EXPECT_NO_THROW(check_output(folder.file("empty"), false));
    for (const char* beside : {"new-journal", "new-wal", "new-shm"}) {
        std::ofstream(folder.file(beside)) << "years of work";
        EXPECT_THROW(check_output(folder.file("new"), false), Error) << beside;
        EXPECT_NO_THROW(check_output(folder.file("new"), true)) << beside;
        for (const auto* of_sqlite : {"\xd9\xd5\x05\xf9 and more", "\x37\x7f\x06\x82 and more", ""}) {
            std::ofstream(folder.file(beside)) << of_sqlite;
            EXPECT_NO_THROW(check_output(folder.file("new"), false)) << beside;
        }
    }
    EXPECT_NO_THROW(check_output(folder.file("none"), false));
    EXPECT_NO_THROW(check_output(folder.file("t"), false));
    EXPECT_TRUE(is_trace(folder.file("t")));
    EXPECT_FALSE(is_trace(folder.file("thesis.txt")));
    EXPECT_EQ(read_bytes(folder.file("thesis.txt")), "years of work");
}

} // namespace
} // namespace schedscope
