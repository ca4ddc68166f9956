// Keys, mouse and sizes of the terminal, given to the inspector over a small trace. An input is what is typed, as a terminal
// sends it; the byte fe makes the terminal another size. Whatever it is, the inspector takes it all, draws its frame, and can be
// left.

#include "inspector/tui/app.h"
#include "runtime/scheduler/optimised_order.h"
#include "runtime/system/process/program_role.h"
#include "tests/fuzz/small_trace.h"
#include "traces/store/live_store.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <grp.h>
#include <memory>
#include <pty.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

namespace schedscope::fuzz {

namespace {

struct ScreenSize {
    unsigned short rows, cols;
};
/// In the order in which an input comes by them; most stay with the first, which takes little time to draw.
constexpr std::array<ScreenSize, 4> sizes{{{12, 50}, {24, 80}, {40, 130}, {5, 20}}};

/// A terminal that shows nothing to anybody, as standard input and output.
class NoScreen {
public:
    NoScreen() {
        int program = -1;
        if (openpty(&mine_, &program, nullptr, nullptr, nullptr) != 0) {
            std::abort();
        }
        resize(sizes[0]);
        dup2(program, STDIN_FILENO);
        dup2(program, STDOUT_FILENO);
        close(program);
        std::thread([mine = mine_] { // what is drawn is read, or the program would wait for that
            std::array<char, 65536> part{};
            while (read(mine, part.data(), part.size()) > 0 || errno == EINTR) {} // the fuzzer's alarm clock interrupts it
        })
            .detach();
    }
    void resize(ScreenSize to) const {
        const winsize size{to.rows, to.cols, 0, 0};
        ioctl(mine_, TIOCSWINSZ, &size);
    }

private:
    int mine_ = -1;
};

/// What is typed may be ":write FILE": where that leads, nothing may be that somebody wants.
void give_up_rights() {
    if (chdir(scratch_folder().c_str()) != 0 || (geteuid() == 0 && chown(scratch_folder().c_str(), 65534, 65534) != 0)) {
        std::abort();
    }
    if (geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)) {
        std::abort();
    }
    prctl(PR_SET_DUMPABLE, 1); // for the search for leaks
    for (const char* home : {"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
        setenv(home, scratch_folder().c_str(), 1);
    }
}

/// What is done in a crash is the fuzzer's to do, and not the terminal's.
class FatalSignals {
public:
    FatalSignals() {
        for (size_t i = 0; i < numbers.size(); ++i) {
            sigaction(numbers[i], nullptr, &actions_[i]);
        }
    }
    void restore() const {
        for (size_t i = 0; i < numbers.size(); ++i) {
            sigaction(numbers[i], &actions_[i], nullptr);
        }
    }

private:
    static constexpr std::array numbers{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT};
    std::array<struct sigaction, numbers.size()> actions_{};
};

void take_all(tui::App& app) {
    constexpr int most_rounds = 100'000; // a look through all steps takes some
    int rounds = 0;
    while (!app.is_left() && app.turn(false)) {
        if (++rounds > most_rounds) {
            std::fprintf(stderr, "it goes on and on\n");
            std::abort();
        }
    }
}

} // namespace

void run(std::string_view keys) {
    static const NoScreen screen;
    screen.resize(sizes[0]);
    static const auto source = [] {
        auto store = std::make_shared<LiveStore>();
        record_small_run(*store);
        return store;
    }();
    tui::InspectorSession session(source, nullptr, -1);
    session.plan_again_with({.optimise = optimised_nodes});
    tui::App::Options options;
    options.title = "small";
    options.settings.escape_delay = 0;
    options.terminal = {tui::Depth::automatic, tui::Background::dark, true, 0};
    const FatalSignals of_the_fuzzer;
    tui::Terminal terminal(options.terminal);
    of_the_fuzzer.restore();
    tui::App app(session, terminal, std::move(options));
    size_t next_size = 0;
    while (!keys.empty() && !app.is_left()) {
        const size_t n = keys.find('\xfe');
        terminal.type(keys.substr(0, n));
        take_all(app);
        keys.remove_prefix(std::min(n, keys.size()));
        if (!keys.empty()) {
            keys.remove_prefix(1);
            if (next_size == sizes.size()) {
                break; // a large screen takes longer than all the keys
            }
            screen.resize(sizes[++next_size % sizes.size()]);
            std::raise(SIGWINCH);
            take_all(app);
        }
    }
    // Out of letters, prompts, pages, searches, filters; then out of the inspector itself. Between them the terminal says that it
    // has the focus: an Escape and a letter that come at once are a key of their own.
    terminal.type("\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b[Iqqqqqqqq");
    take_all(app);
    if (!app.is_left()) {
        std::fprintf(stderr, "it can't be left\n");
        std::abort();
    }
}

} // namespace schedscope::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    if (const auto code = schedscope::play_role(*argc, *argv)) { // it draws a picture (":dot FILE.svg") by starting itself
        std::exit(*code);
    }
    schedscope::fuzz::give_sqlite_plain_memory();
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    schedscope::fuzz::give_up_rights();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    schedscope::fuzz::run({reinterpret_cast<const char*>(data), size});
    return 0;
}
