#include "tests/inspector/tui/harness/random_keys.h"

#include "inspector/tui/inspector.h"
#include "runtime/scheduler/optimised_order.h"
#include "tests/support/terminal.h"
#include "traces/store/reading/reader.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>

#include <unistd.h>

namespace schedscope::test {
namespace {

/// Keys that mean something are pressed more often than those that don't. Not among them: what leaves the inspector.
constexpr std::array<const char*, 40> pieces{
    "{Up}",   "{Down}",   "{Left}", "{Right}",  "{Home}", "{End}",    "{PgUp}",    "{PgDn}",   "{Tab}",    "{BackTab}",
    "\n",     "\n",       "{Esc}",  "{Esc}",    "{Esc}",  "{Ctrl-D}", "{Ctrl-U}",  "{Ctrl-O}", "{Ctrl-W}", "{Backspace}",
    "{Del}",  "{F1}",     ":step ", ":tensor ", ":pass ", "/op=",     "&name~",    "bkind=",   "norm",     "MUL_MAT",
    ":view ", ":explain", ":sort ", "ma",       "'a",     "語",       "e\xcc\x81", "\x1b[99~", "\x1bOx",   "\xff"};

std::string random_key(std::mt19937& random) {
    const auto below = [&](uint32_t n) { return random() % n; };
    if (below(3) == 0)
        return pieces[below(pieces.size())];
    const char c = static_cast<char>(' ' + below(95));
    return c == 'q' || c == 'Q' ? std::string("n") : std::string(1, c);
}

/// Brings the inspector out of whatever is open, and has it show what is typed then: all keys before have been taken, none is
/// left over. It is left as it stands on its step and view, without a filter or a search.
void expect_all_keys_taken(Terminal& t, int n) {
    t.resize(24, 80);
    std::string leave;
    for (int i = 0; i < 12; ++i) { // a letter, a prompt, pages, a search, a filter; a look through all steps
        leave += "{Esc}";
    }
    const std::string typed = ":all " + std::to_string(n) + " 語";
    t.press(leave + typed);
    ASSERT_TRUE(t.shows(typed)) << "after " << n << " keys"
                                << (t.ended() ? ", exit code " + std::to_string(t.wait_for_exit()) : "") << ":\n"
                                << t.text();
    t.press("{Ctrl-U}{Esc}");
    ASSERT_TRUE(t.hides(typed)) << "after " << n << " keys"
                                << (t.ended() ? ", exit code " + std::to_string(t.wait_for_exit()) : "") << ":\n"
                                << t.text();
}

} // namespace

void press_random_keys(const std::string& sample, uint32_t seed, int n_keys) {
    namespace fs = std::filesystem;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed); // the same everywhere
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
    const fs::path folder =
        fs::temp_directory_path() / ("schedscope-random-keys-" + std::to_string(getpid()) + "-" + std::to_string(seed));
    fs::create_directories(folder);
    const auto program = [&] {
        fs::current_path(folder); // a :write that was typed by chance lands here
        InspectorOptions options;
        options.backends.optimise = optimised_nodes;
        options.title = "sample";
        options.trace_path = sample;
        return run_inspector(std::make_shared<TraceReader>(sample), options);
    };
    constexpr std::array<std::pair<int, int>, 6> sizes{{{24, 80}, {70, 240}, {12, 50}, {30, 100}, {5, 20}, {24, 80}}};
    int rows = 24, cols = 80;
    std::optional<Terminal> t;
    for (int pressed = 0; pressed < n_keys;) {
        if (!t) {
            Terminal::Options options;
            options.environment = {{"XDG_STATE_HOME", (folder / "state").string()}};
            t.emplace(rows, cols, program, options);
            ASSERT_TRUE(t->shows("step ")) << t->text();
        }
        const int batch = 1 + below(60);
        for (int i = 0; i < batch; ++i)
            t->press(random_key(random));
        pressed += batch;
        for (int i = below(3); i > 0; --i) {
            const int row = below(rows), col = below(cols);
            switch (below(4)) {
            case 0: t->click(row, col); break;
            case 1: t->drag(row, col, below(rows), below(cols)); break;
            default: t->wheel(row, col, below(2) == 0);
            }
        }
        if (below(20) == 0) {
            std::tie(rows, cols) = sizes[static_cast<size_t>(below(sizes.size()))];
            t->resize(rows, cols);
        }
        ASSERT_TRUE(t->settles()) << "after " << pressed << " keys it does not come to rest:\n" << t->text();
        if (t->ended()) { // Tab may have completed a command that quits, a click may have hit the key
            ASSERT_EQ(t->wait_for_exit(), 0) << "after " << pressed << " keys:\n" << t->text();
            t.reset();
        } else if (below(8) == 0) {
            std::tie(rows, cols) = sizes.front();
            ASSERT_NO_FATAL_FAILURE(expect_all_keys_taken(*t, pressed));
        }
    }
    if (t) {
        ASSERT_NO_FATAL_FAILURE(expect_all_keys_taken(*t, n_keys));
        t->press("Q");
        EXPECT_EQ(t->wait_for_exit(), 0) << t->text();
        EXPECT_TRUE(t->is_cooked());
        EXPECT_FALSE(t->alternate_screen());
        EXPECT_FALSE(t->mouse_reported());
        EXPECT_TRUE(t->cursor_visible());
    }
    fs::remove_all(folder);
}

} // namespace schedscope::test
