// What each command that works with traces does when SQLite's nth read, write, lock, … or the nth allocation fails, for n from 1
// on until the command comes to its end without: it ends by itself with one line and a documented exit code, or does all that it
// does otherwise; it leaks nothing, changes no file that it only reads, and what is left of a trace that it was writing can be
// read.
#include "inspector/cli/commands/commands.h"
#include "inspector/cli/line/app.h"
#include "runtime/system/sanitizers.h"
#include "tests/faults/faults.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" int __attribute__((weak)) __lsan_do_recoverable_leak_check();

namespace schedscope::test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr int exit_leaked = 99; // no exit code of the program's

/// What fails: the nth.
struct Nth {
    Fault fault = Fault::none;
    int64_t n = 0;
};

/// The program, in a process that was forked for it, with the fault once the command line is understood: CLI11 allocates in
/// functions that may not throw. Returns its exit code.
int be_program(Arguments arguments, Nth nth) noexcept {
    CLI::App program;
    CommandAction action;
    for (const Command& command : schedscope::commands()) {
        CLI::App* sub = program.add_subcommand(command.name);
        CommandOptions options(*sub);
        sub->final_callback([&action, own = command.add(options)] { action = own; });
    }
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    program.parse(arguments);
    arm(nth.fault, nth.n);
    const int code = perform(action);
    disarm();
    std::cout.flush();
    std::cerr.flush();
    return __lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0 ? exit_leaked : code;
}

struct Outcome {
    int code = -1; ///< 256 + n when signal n ended it
    std::string out, err;
};

std::string read_all(int file) {
    std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
    return pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) ? text : "";
}

Outcome run(const Arguments& arguments, Nth nth = {}) {
    const int out = memfd_create("out", 0), err = memfd_create("err", 0);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        _exit(be_program(arguments, nth));
    }
    int status = 0;
    waitpid(child, &status, 0);
    Outcome outcome{WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status), read_all(out), read_all(err)};
    close(out);
    close(err);
    return outcome;
}

std::string bytes_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// A folder with a small model, a trace of a run of it, and a log. All commands work in it.
class Files {
public:
    Files() {
        fs::create_directories(folder);
        setenv("SQLITE_TMPDIR", folder.c_str(), 1);
        EXPECT_EQ(run({"synth", "llama", "--preset", "tiny", "-o", model}).code, 0);
        const Outcome recorded = run(record(trace));
        EXPECT_EQ(recorded.code, 0) << recorded.err;
        fs::copy_file(paths::source("tests/fuzz/seeds/import/2026-05"), log);
        for (const fs::path path : {model, trace, log}) {
            kept_.emplace_back(path, bytes_of(path));
        }
    }
    ~Files() { fs::remove_all(folder); }
    Arguments record(const std::string& to) const {
        return {"record", "-m", model, "--tokens", "1,5", "-n", "2", "--temp", "0", "-t", "1", "--device", "cpu", "-o", to};
    }
    /// Those that are read are as they were, and beside what was written nothing is new.
    void expect_only(const Arguments& written) const {
        for (const auto& [path, bytes] : kept_) {
            EXPECT_TRUE(bytes_of(path) == bytes) << path << " was changed";
        }
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            const std::string path = entry.path().string();
            EXPECT_TRUE(std::any_of(kept_.begin(), kept_.end(), [&](const auto& kept) { return kept.first == path; }) ||
                        std::find(written.begin(), written.end(), path) != written.end())
                << path << " was left";
        }
    }
    void remove_written() const {
        for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
            fs::remove(written + suffix);
        }
    }

    const std::string folder = (fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) +
                               "/test-faults-" + std::to_string(getpid());
    const std::string model = folder + "/tiny.gguf", trace = folder + "/base.trace", log = folder + "/log.txt",
                      written = folder + "/written";

private:
    std::vector<std::pair<fs::path, std::string>> kept_;
};

const Files& files() {
    static const auto* const all = [] {
        install_faults();
        static Files made;
        return &made;
    }();
    return *all;
}

/// All n; or fewer and fewer of allocations, of which there are many thousands, and where a sanitizer makes each take long.
int64_t next(Fault fault, int64_t n) {
    static const bool each = std::getenv("SCHEDSCOPE_EACH_FAULT") != nullptr;
    if (each || (fault != Fault::allocation && !sanitized)) {
        return n + 1;
    }
    return n + 1 + n / (sanitized ? 4 : 12);
}

/// What the command says when nothing fails, and how it is found out what it left.
struct Tried {
    const char* name;
    std::function<Arguments()> arguments;
    enum class Leaves : uint8_t { nothing, a_trace, a_file } leaves = Leaves::nothing;
    bool writes_json = false; ///< with nlohmann's library: its destructors allocate, and end the program when they can't; some of
                              ///< its constructors leak then
};

void PrintTo(const Tried& command, std::ostream* out) { *out << command.name; }

const std::array tried{
    Tried{"record", [] { return files().record(files().written); }, Tried::Leaves::a_trace},
    Tried{"import",
          [] {
              return Arguments{"import", files().log, "-o", files().written};
          },
          Tried::Leaves::a_trace},
    Tried{"show",
          [] {
              return Arguments{"show", files().trace};
          }},
    Tried{"showSplits",
          [] {
              return Arguments{"show", files().trace, "--what", "splits"};
          }},
    Tried{"showAssignments",
          [] {
              return Arguments{"show", files().trace, "--what", "assignments", "--json"};
          },
          Tried::Leaves::nothing, true},
    Tried{"replay",
          [] {
              return Arguments{"replay", files().trace};
          }},
    Tried{"replayWhatIf",
          [] {
              return Arguments{"replay", files().trace, "--set", "ngl=0"};
          }},
    Tried{"exportLines",
          [] {
              return Arguments{"export", files().trace, "--jsonl", files().written};
          },
          Tried::Leaves::a_file, true},
    Tried{"exportTimeline",
          [] {
              return Arguments{"export", files().trace, "--perfetto", files().written};
          },
          Tried::Leaves::a_file},
    Tried{"exportReport",
          [] {
              return Arguments{"export", files().trace, "--html", files().written};
          },
          Tried::Leaves::a_file, true},
};

class EachFault : public ::testing::TestWithParam<std::tuple<Tried, Fault>> {};

/// One line for whoever runs the program.
void expect_a_line(const Outcome& outcome) {
    EXPECT_TRUE(outcome.code == 3 || outcome.code == 4) << outcome.code;
    EXPECT_THAT(outcome.err, ::testing::StartsWith("schedscope: "));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
}

TEST_P(EachFault, IsToldOrOvercome) {
    const auto& [command, fault] = GetParam();
    const Arguments arguments = command.arguments();
    using Leaves = Tried::Leaves;
    using Shown = std::map<std::string, std::string>;
    const auto what_it_left = [&]() -> Shown {
        if (command.leaves == Leaves::a_file) {
            return {{"file", fs::exists(files().written) ? bytes_of(files().written) : ""}};
        }
        Shown shown;
        if (command.leaves == Leaves::a_trace && fs::exists(files().written)) {
            for (const char* what : {"assignments", "splits", "tokens", "memory"}) {
                const Outcome seen = run({"show", files().written, "--what", what, "--eval", "0", "--json"});
                EXPECT_EQ(seen.code, 0) << what << ": " << seen.err;
                static const std::regex times("\"([a-z]+_ns|share)\":[0-9.e+-]+"); // which differ each time
                shown[what] = std::regex_replace(seen.out, times, "");
            }
        }
        return shown;
    };
    // A graph for which no memory could be reserved ahead is allocated when it is run, in as much as it takes; the trace says so.
    const auto without_memory_not_reserved = [](Shown shown, const Shown& after_a_fault) {
        const auto memory = after_a_fault.find("memory");
        if (memory != after_a_fault.end() && memory->second.find(R"({"error":"std::bad_alloc","graph")") != std::string::npos) {
            shown.erase("memory");
        }
        return shown;
    };
    files().remove_written();
    const Outcome sound = run(arguments);
    ASSERT_EQ(sound.code, 0) << sound.err;
    const Shown left = what_it_left();
    int64_t n = 1, times = 0, failed = 0;
    for (;; n = next(fault, n), ++times) {
        SCOPED_TRACE("fault " + std::to_string(n));
        files().remove_written();
        const Outcome outcome = run(arguments, {fault, n});
        const bool reached = was_reached();
        if (outcome.code == 0) {
            EXPECT_EQ(outcome.out, sound.out);
            if (command.leaves == Leaves::a_trace || !reached) { // a report goes on without a picture that failed
                const Shown now = what_it_left();
                EXPECT_EQ(without_memory_not_reserved(now, now), without_memory_not_reserved(left, now));
            }
        } else {
            ++failed;
            const bool by_library =
                command.writes_json && fault == Fault::allocation &&
                ((outcome.code == 256 + SIGABRT &&
                  outcome.err.starts_with("terminate called after throwing an instance of 'std::bad_alloc'")) ||
                 (outcome.code == exit_leaked && outcome.err.find("nlohmann") != std::string::npos));
            if (!by_library) {
                expect_a_line(outcome);
            }
            if (command.leaves == Leaves::a_trace && fs::exists(files().written)) {
                const Outcome seen = run({"show", files().written});
                EXPECT_EQ(seen.code, 0) << seen.err;
            }
            if (command.leaves == Leaves::a_file && outcome.code != exit_leaked) { // the report went on, after a picture leaked
                EXPECT_FALSE(fs::exists(files().written));
            }
        }
        Arguments may_be_there;
        if (command.leaves != Leaves::nothing) {
            may_be_there = {files().written, files().written + "-wal", files().written + "-shm", files().written + "-journal"};
        }
        files().expect_only(may_be_there);
        if (!reached || HasFailure()) {
            EXPECT_EQ(outcome.code, 0) << outcome.err;
            std::cout << command.name << ", " << fault_name(fault) << ": " << times << " faults, " << failed << " told, up to "
                      << n << '\n';
            if (fault == Fault::allocation || fault == Fault::read ||
                (command.leaves == Leaves::a_trace && (fault == Fault::write || fault == Fault::sync || fault == Fault::lock))) {
                EXPECT_GT(times, 0) << "nothing was made to fail";
            }
            break;
        }
    }
    files().remove_written();
}

std::vector<Fault> every_fault() {
    std::vector<Fault> all;
    for (auto fault = Fault::open; fault <= last_fault; fault = static_cast<Fault>(static_cast<int>(fault) + 1)) {
        all.push_back(fault);
    }
    return all;
}

std::string words_of(Fault fault) {
    std::string name = fault_name(fault);
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Of, EachFault, ::testing::Combine(::testing::ValuesIn(tried), ::testing::ValuesIn(every_fault())),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param).name) + "_" + words_of(std::get<1>(info.param));
                         });

/// The inspector: what fails is shown, and it stays open until it is left; or it ends with a line.
class EachFaultOfTheInspector : public ::testing::TestWithParam<Fault> {};

TEST_P(EachFaultOfTheInspector, IsToldOrOvercome) {
    const Fault fault = GetParam();
    for (int64_t n = 1, times = 0;; n = next(fault, n), ++times) {
        SCOPED_TRACE("fault " + std::to_string(n));
        const std::string path = files().trace;
        Terminal terminal(24, 80, [&] { return be_program({"inspect", path}, {fault, n}); });
        if (terminal.shows("q quit")) {
            terminal.press("2j>3<45");
            terminal.press("/norm\n");
            EXPECT_TRUE(terminal.settles()) << terminal.text();
            terminal.press("q");
            EXPECT_TRUE(terminal.settles()) << terminal.text();
            if (!terminal.ended()) {
                terminal.press("qq");
            }
        }
        const int code = terminal.wait_for_exit();
        EXPECT_TRUE(code == 0 || code == 3 || code == 4) << code << '\n' << terminal.text();
        EXPECT_TRUE(terminal.is_cooked());
        EXPECT_FALSE(terminal.alternate_screen());
        files().expect_only({});
        if (!was_reached() || HasFailure()) {
            EXPECT_EQ(code, 0) << terminal.text();
            std::cout << "inspect, " << fault_name(fault) << ": " << times << " faults, up to " << n << '\n';
            break;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Of, EachFaultOfTheInspector, ::testing::ValuesIn(every_fault()),
                         [](const auto& info) { return words_of(info.param); });

} // namespace
} // namespace schedscope::test
