#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

struct VTerm;

namespace schedscope::test {

/// Is this type of terminal described on this machine?
bool has_terminfo(const std::string& type);

/// A terminal with a program in it: a pseudo-terminal whose other end is read by libvterm. Tests press keys and look at the
/// screen.
///
///     Terminal terminal(24, 80, {"schedscope", "inspect", "t.trace"});
///     terminal.press("/norm-3\n");
///     EXPECT_TRUE(terminal.shows("found norm-3")) << terminal.text();
///
/// Nothing here sleeps: `shows` reads what the program writes until the text is there. Its deadline only bounds a failure.
/// A screen that was waited for is complete: the program has gone back to waiting for input.
class Terminal {
public:
    struct Options {
        std::string term = "xterm-256color";
        std::string locale = "C.UTF-8";                               ///< LC_ALL
        std::vector<std::pair<std::string, std::string>> environment; ///< more of it
    };

    /// Runs a program. The first argument is its path.
    Terminal(int rows, int cols, const std::vector<std::string>& arguments, Options options);
    Terminal(int rows, int cols, const std::vector<std::string>& arguments) : Terminal(rows, cols, arguments, Options()) {}
    /// Runs a function in a child process; what it returns is the exit code.
    Terminal(int rows, int cols, const std::function<int()>& program, Options options);
    Terminal(int rows, int cols, const std::function<int()>& program) : Terminal(rows, cols, program, Options()) {}
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// Types: characters as they are, and special keys by name: "{Up}" "{Down}" "{Left}" "{Right}" "{Home}" "{End}" "{PgUp}"
    /// "{PgDn}" "{Enter}"
    /// "{Esc}" "{Tab}" "{BackTab}" "{Backspace}" "{F1}" "{Ctrl-D}" ….
    void press(std::string_view keys);
    void click(int row, int col); ///< button 1, as the program asked mouse events to be told
    void drag(int from_row, int from_col, int to_row, int to_col);
    void wheel(int row, int col, bool down);
    void write_all(std::string_view bytes); ///< as the terminal itself would: an answer, a key of its own
    void resize(int rows, int cols);
    void send_signal(int number);

    /// Waits until the screen contains the text; false after the deadline, or when the program ended without it.
    bool shows(std::string_view text);
    /// Waits until it no longer does.
    bool hides(std::string_view text);
    bool wait_until(const std::function<bool()>& holds);

    /// Waits until the program has taken all its input and sleeps, or has ended; false after the deadline. It may sleep a moment
    /// for the rest of a sequence, and then go on: whether a key has had its effect is told by the screen alone.
    bool settles();

    std::vector<std::string> lines(); ///< the screen, without spaces at the ends of lines
    std::string text();               ///< the same, joined by newlines
    std::string line(int row);
    /// Where the text stands: row and column of its first cell; {-1, -1}: nowhere.
    std::pair<int, int> find(std::string_view text);
    std::string cell(int row, int col); ///< the character drawn there, "" behind a wide one
    bool reverse_at(int row, int col);  ///< is the cell drawn in reverse?
    bool colored();                     ///< has any cell a colour of its own?
    /// The colour that a cell is written in: "7" of a table, "#rrggbb", "" for the terminal's own.
    std::string foreground(int row, int col);
    /// Which cells are reverse, bold or underlined: what `text` doesn't tell.
    std::string attributes();
    /// Has the program written these bytes (of its last megabyte)?
    bool has_written(std::string_view bytes) const { return written_.find(bytes) != std::string::npos; }
    bool ended() const noexcept { return status_ >= 0; }
    bool alternate_screen() const noexcept { return alternate_; }
    bool cursor_visible() const noexcept { return cursor_visible_; }
    bool mouse_reported() const noexcept { return mouse_; }

    /// Waits for the program's end; returns its exit code, 256 + n when signal n killed it, −1 after the deadline.
    int wait_for_exit();
    /// The terminal's modes: echo and line-wise input, as a shell wants them.
    bool is_cooked() const;

private:
    void start(int rows, int cols, const std::function<int()>& child, const Options& options);
    bool read_some(int timeout_ms); ///< false: nothing came, or the program closed its end
    void feed(std::string_view bytes);
    bool is_idle() const;

    int master_ = -1, slave_ = -1, child_descriptor_ = -1;
    pid_t child_ = -1;
    int status_ = -1;
    std::string written_;
    std::string unfinished_; ///< the beginning of a sequence whose rest was not read yet
    VTerm* vterm_ = nullptr;
    bool alternate_ = false, cursor_visible_ = true, mouse_ = false;
    bool in_frame_ = false; ///< the program has said that a frame begins, and not yet that it ends

    friend struct Callbacks;
};

} // namespace schedscope::test
