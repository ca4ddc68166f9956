// kill -9 at any moment: what was promised is in the trace, a file is whole or not there, and the next start leaves nothing of
// the one that was killed.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "traces/history/accounts/tokens.h"
#include "traces/history/history.h"
#include "traces/store/reading/reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <random>

#include <poll.h>
#include <pty.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

microseconds since(Clock::time_point begin) { return std::chrono::duration_cast<microseconds>(Clock::now() - begin); }

/// What a program has printed, and when it was read.
class Printed {
public:
    explicit Printed(int file) : file_(file) {}
    /// Reads until this long after `begin`.
    void read_until(Clock::time_point begin, microseconds end) {
        for (microseconds now = since(begin); now < end; now = since(begin)) {
            const timespec wait{0, (end - now).count() % 1'000'000 * 1000};
            if (!read(begin, &wait)) {
                return;
            }
        }
    }
    /// Reads until there is a text, however long it takes.
    void read_first(Clock::time_point begin) {
        while (text.empty() && read(begin, nullptr)) {}
    }
    /// When the first byte came that is not among the first n; the end: none.
    microseconds when_beyond(size_t n, microseconds end) const {
        const auto at = std::find_if(sizes_.begin(), sizes_.end(), [n](const auto& s) { return s.second > n; });
        return at == sizes_.end() ? end : at->first;
    }

    std::string text;

private:
    /// What comes within `wait` (null: whenever it comes). False: nothing comes any more.
    bool read(Clock::time_point begin, const timespec* wait) {
        pollfd source{file_, POLLIN, 0};
        std::array<char, 4096> part{};
        if (ppoll(&source, 1, wait, nullptr) > 0) {
            const ssize_t n = ::read(file_, part.data(), part.size());
            if (n <= 0) {
                return false;
            }
            std::copy_if(part.begin(), part.begin() + n, std::back_inserter(text),
                         [](char c) { return c != '\r'; }); // which the terminal adds
            sizes_.emplace_back(since(begin), text.size());
        }
        return true;
    }

    int file_;
    std::vector<std::pair<microseconds, size_t>> sizes_;
};

/// As it would be printed.
std::string text_in(const std::string& trace) {
    const auto reader = std::make_shared<TraceReader>(trace);
    reader->for_each(0, reader->n_steps(), [](const Record&) {}); // throws when one is missing
    History history(reader);
    std::string text;
    for (const accounts::TokenRow& token : accounts::tokens(history)) {
        text += token.text == "<s>" || token.text == "</s>" ? "" : token.text; // which are not printed
    }
    return text;
}

TEST(Killed, ARecordingHasAllButTheLastQuarterOfASecond) {
    constexpr int n_kills = 200;
    const Folder folder;
    const std::string trace = folder / "t.trace";
    std::mt19937_64 random(1);
    microseconds longest{};
    int n_empty = 0;
    for (int i = 0; i < n_kills; ++i) {
        SCOPED_TRACE(i);
        int terminal = -1, of_program = -1; // to a pipe the text goes as a whole
        ASSERT_EQ(openpty(&terminal, &of_program, nullptr, nullptr, nullptr), 0);
        Printed printed(terminal);
        microseconds killed{};
        {
            Start start;
            start.out_descriptor = of_program;
            Program program({"record", "-m", model(), "-p", "", "-n", "100000", "--ignore-eos", "--context-shift", "--temp", "0",
                             "-t", "1", "--device", "cpu", "-o", trace},
                            start);
            const auto begin = Clock::now();
            if (i % 2 != 0) { // half of them as they record, also where a busy machine takes long until the first token
                printed.read_first(begin);
            }
            killed = since(begin) + microseconds(std::uniform_int_distribution<int64_t>(0, 700'000)(random));
            printed.read_until(begin, killed);
            program.signal(SIGKILL);
            killed = since(begin);
            EXPECT_EQ(program.wait().code, 256 + SIGKILL);
        }
        close(of_program);
        close(terminal);
        if (printed.text.empty()) {
            ++n_empty;
        } else {
            const std::string text = text_in(trace);
            const size_t first = text.starts_with(' ') ? 1 : 0; // of the text, which is printed without
            const size_t n_both = std::min(text.size() - first, printed.text.size());
            EXPECT_EQ(text.substr(first, n_both), printed.text.substr(0, n_both));
            longest = std::max(longest, killed - printed.when_beyond(n_both, killed));
        }
        for (const std::string& name : folder.names()) {
            EXPECT_THAT(name, ::testing::AnyOf("t.trace", "t.trace-wal", "t.trace-shm", "t.trace-journal"));
        }
    }
    std::cout << n_kills << " recordings killed, " << n_empty << " before the first token; at most the last "
              << longest.count() / 1000.0 << " ms are missing\n";
    EXPECT_LT(n_empty, n_kills / 2) << "too few were killed while they recorded";
    EXPECT_LT(longest, std::chrono::seconds(1)) << "a quarter of it is promised; the rest is for other programs' turns";
    EXPECT_EQ(run({"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", trace}).code, 0);
    EXPECT_THAT(folder.names(), ::testing::ElementsAre("t.trace"));
}

/// Kills a command that writes a file again and again, and starts it once more in the end. `expect_sound` looks at what each
/// left.
void kill_often(const std::vector<std::string>& arguments, const std::string& output, const Folder& folder,
                const std::function<void()>& expect_sound) {
    constexpr int n_kills = 50;
    const std::vector<std::string> before = folder.names();
    const auto begin = Clock::now();
    ASSERT_EQ(run(arguments).code, 0);
    const microseconds duration = since(begin);
    std::mt19937_64 random(1);
    for (int i = 0; i < n_kills; ++i) {
        SCOPED_TRACE(i);
        unlink(output.c_str());
        Program program(arguments);
        const auto started = Clock::now();
        const microseconds moment(std::uniform_int_distribution<int64_t>(0, duration.count())(random));
        while (since(started) < moment) {}
        program.signal(SIGKILL);
        program.wait();
        expect_sound();
    }
    EXPECT_EQ(run(arguments).code, 0);
    std::vector<std::string> after = folder.names();
    std::erase(after, output.substr(folder.path().size() + 1));
    EXPECT_EQ(after, before);
}

TEST(Killed, AnImportLeavesWhatItHadImported) {
    const Folder folder;
    const std::string output = folder / "t.trace";
    std::string log;
    constexpr int n_graphs = 2000;
    for (int i = 0; i < n_graphs; ++i) {
        log += read_bytes(paths::source("tests/fuzz/seeds/import/2026-05"));
    }
    write_bytes(folder / "log", log);
    std::map<int64_t, int> n_left; // traces with so many evaluations
    kill_often({"import", folder / "log", "-o", output}, output, folder, [&] {
        int64_t n = 0;
        if (exists(output) && !read_bytes(output).empty()) {
            const auto reader = std::make_shared<TraceReader>(output);
            reader->for_each(0, reader->n_steps(), [](const Record&) {}); // throws when one is missing
            n = reader->n_evaluations();
        }
        EXPECT_LE(n, n_graphs);
        ++n_left[n];
    });
    std::cout << "evaluations left, and how often: " << ::testing::PrintToString(n_left) << '\n';
}

TEST(Killed, AnExportLeavesAWholeFileOrNone) {
    const Folder folder;
    const std::string whole = folder / "whole.jsonl", output = folder / "t.jsonl";
    ASSERT_EQ(run({"export", paths::sample("llava-1.6"), "--jsonl", whole}).code, 0);
    int n_whole = 0;
    kill_often({"export", paths::sample("llava-1.6"), "--jsonl", output}, output, folder, [&] {
        if (exists(output)) {
            ++n_whole;
            EXPECT_EQ(read_bytes(output), read_bytes(whole));
        }
    });
    std::cout << n_whole << " had their file\n";
}

} // namespace
} // namespace schedscope::test
