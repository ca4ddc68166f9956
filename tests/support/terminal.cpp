#include "tests/support/terminal.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>
#include <vterm.h>

namespace schedscope::test {
namespace {

constexpr auto deadline = std::chrono::seconds(60); // only bounds a failure

struct TypedKey {
    std::string_view name;
    VTermKey key;
};
constexpr std::array<TypedKey, 13> named_keys{{{"Up", VTERM_KEY_UP},
                                               {"Down", VTERM_KEY_DOWN},
                                               {"Left", VTERM_KEY_LEFT},
                                               {"Right", VTERM_KEY_RIGHT},
                                               {"Home", VTERM_KEY_HOME},
                                               {"End", VTERM_KEY_END},
                                               {"PgUp", VTERM_KEY_PAGEUP},
                                               {"PgDn", VTERM_KEY_PAGEDOWN},
                                               {"Enter", VTERM_KEY_ENTER},
                                               {"Esc", VTERM_KEY_ESCAPE},
                                               {"Tab", VTERM_KEY_TAB},
                                               {"Backspace", VTERM_KEY_BACKSPACE},
                                               {"Del", VTERM_KEY_DEL}}};

} // namespace

bool has_terminfo(const std::string& type) {
    for (const char* folder : {"/etc/terminfo/", "/lib/terminfo/", "/usr/share/terminfo/"})
        if (access((folder + type.substr(0, 1) + "/" + type).c_str(), R_OK) == 0)
            return true;
    return false;
}

struct Callbacks {
    static void output(const char* bytes, size_t n, void* self) { static_cast<Terminal*>(self)->write_all({bytes, n}); }
    static int property(VTermProp property, VTermValue* value, void* self) {
        auto& terminal = *static_cast<Terminal*>(self);
        if (property == VTERM_PROP_ALTSCREEN)
            terminal.alternate_ = value->boolean != 0;
        else if (property == VTERM_PROP_CURSORVISIBLE)
            terminal.cursor_visible_ = value->boolean != 0;
        else if (property == VTERM_PROP_MOUSE)
            terminal.mouse_ = value->number != VTERM_PROP_MOUSE_NONE;
        return 1;
    }
    static constexpr VTermScreenCallbacks screen{nullptr, nullptr, nullptr, property, nullptr, nullptr, nullptr, nullptr};
};

Terminal::Terminal(int rows, int cols, const std::vector<std::string>& arguments, Options options) {
    start(
        rows, cols,
        [&] {
            std::vector<char*> argv;
            for (const std::string& argument : arguments)
                argv.push_back(const_cast<char*>(argument.c_str()));
            argv.push_back(nullptr);
            execv(argv[0], argv.data());
            std::perror(argv[0]);
            return 127;
        },
        options);
}

Terminal::Terminal(int rows, int cols, const std::function<int()>& program, Options options) {
    start(rows, cols, program, options);
}

void Terminal::start(int rows, int cols, const std::function<int()>& child, const Options& options) {
    winsize size{};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(cols);
    if (openpty(&master_, &slave_, nullptr, nullptr, &size) != 0)
        throw std::runtime_error("no pseudo-terminal");
    child_ = fork();
    if (child_ == 0) {
        close(master_);
        setenv("TERM", options.term.c_str(), 1);
        setenv("LC_ALL", options.locale.c_str(), 1);
        for (const char* of_the_user : {"NO_COLOR", "LINES", "COLUMNS", "COLORFGBG", "TMUX", "STY", "SSH_CONNECTION", "SSH_TTY"})
            unsetenv(of_the_user);
        // The user's own files are neither read nor written.
        setenv("XDG_CONFIG_HOME", "/dev/null/config", 1);
        setenv("XDG_STATE_HOME", "/dev/null/state", 1);
        for (const auto& [name, value] : options.environment)
            setenv(name.c_str(), value.c_str(), 1);
        login_tty(slave_);
        const int code = child();
        std::fflush(nullptr);
        _exit(code);
    }
    child_descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, child_, 0));
    // The other end stays open here, so that the modes that the program left can be looked at after it ended.
    vterm_ = vterm_new(rows, cols);
    vterm_set_utf8(vterm_, 1);
    vterm_output_set_callback(vterm_, Callbacks::output, this);
    VTermScreen* const screen = vterm_obtain_screen(vterm_);
    vterm_screen_enable_altscreen(screen, 1);
    vterm_screen_set_callbacks(screen, &Callbacks::screen, this);
    vterm_screen_reset(screen, 1);
}

Terminal::~Terminal() {
    if (child_ > 0 && status_ < 0) {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }
    vterm_free(vterm_);
    close(master_);
    close(slave_);
    close(child_descriptor_);
}

void Terminal::write_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = write(master_, bytes.data(), bytes.size());
        if (n <= 0)
            return;
        bytes.remove_prefix(static_cast<size_t>(n));
    }
}

bool Terminal::read_some(int timeout_ms) {
    // Its end of the terminal is open here too, so a program's end is not seen there.
    std::array<pollfd, 2> fds{{{master_, POLLIN, 0}, {child_descriptor_, POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), timeout_ms) <= 0)
        return false;
    if ((fds[0].revents & POLLIN) == 0 &&
        poll(fds.data(), 1, 0) == 0) { // ended, and all that it wrote is read: looked at after its end
        waitpid(child_, &status_, 0);
        return false;
    }
    std::array<char, 65536> bytes{};
    const ssize_t n = read(master_, bytes.data(), bytes.size());
    if (n <= 0)
        return false;
    feed({bytes.data(), static_cast<size_t>(n)});
    return true;
}

/// libvterm 0.1 takes only the first of several modes in one sequence ("ESC [ ? 1006 ; 1000 h"): they are given to it one by one.
void Terminal::feed(std::string_view bytes) {
    constexpr size_t kept = 1 << 20;
    written_ += bytes;
    if (written_.size() > 2 * kept)
        written_.erase(0, written_.size() - kept);
    unfinished_ += bytes;
    std::string out;
    size_t at = 0;
    while (at < unfinished_.size()) {
        const size_t begin = unfinished_.find("\x1b[?", at);
        const size_t end = begin == std::string::npos ? begin : unfinished_.find_first_not_of("0123456789;", begin + 3);
        if (begin == std::string::npos) {
            const size_t escape = unfinished_.rfind('\x1b');
            const bool cut = escape != std::string::npos && escape >= at && unfinished_.size() - escape < 3;
            const size_t whole = cut ? escape : unfinished_.size();
            out.append(unfinished_, at, whole - at);
            at = whole;
            break;
        }
        out.append(unfinished_, at, begin - at);
        at = begin;
        if (end == std::string::npos)
            break;
        for (size_t mode = begin + 3; mode <= end;) {
            const size_t stop = unfinished_.find_first_of(";hl", mode);
            if (stop == std::string::npos || stop > end)
                break;
            out.append("\x1b[?").append(unfinished_, mode, stop - mode).append(1, unfinished_[end]);
            if (unfinished_.compare(mode, stop - mode, "2026") == 0) // synchronised output: a frame begins or ends
                in_frame_ = unfinished_[end] == 'h';
            mode = stop + 1;
        }
        if (unfinished_[end] != 'h' && unfinished_[end] != 'l')
            out.append(unfinished_, begin, end + 1 - begin);
        at = end + 1;
    }
    unfinished_.erase(0, at);
    vterm_input_write(vterm_, out.data(), out.size());
    vterm_screen_flush_damage(vterm_obtain_screen(vterm_));
}

/// Has the program nothing to do until it is given more input? Then what it shows is complete.
bool Terminal::is_idle() const {
    if (in_frame_) // the system passes on what the program wrote a moment after the program has gone to sleep
        return false;
    // What was written here reaches the program's end a moment later. To poll that end waits for it; to count its bytes does not.
    int unread = 0;
    pollfd typed{slave_, POLLIN, 0}, drawn{master_, POLLIN, 0};
    if (poll(&typed, 1, 0) > 0 || ioctl(slave_, FIONREAD, &unread) != 0 || unread > 0 || poll(&drawn, 1, 0) > 0) {
        return false;
    }
    std::ifstream stat("/proc/" + std::to_string(child_) + "/stat");
    std::string text;
    std::getline(stat, text);
    const size_t name_end = text.rfind(')');
    const bool sleeps = name_end == std::string::npos || text.compare(name_end, 3, ") S") == 0;
    return sleeps && poll(&drawn, 1, 0) == 0; // it may have drawn between the two looks
}

void Terminal::press(std::string_view keys) {
    for (size_t at = 0; at < keys.size();) {
        constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
        const size_t end = keys[at] == '{' ? keys.find_first_not_of(letters, at + 1) : std::string_view::npos;
        const bool named = end != std::string_view::npos && end > at + 1 && keys[end] == '}';
        const size_t close = named ? end : std::string_view::npos; // else a brace is a brace
        if (close == std::string_view::npos) {
            const auto lead = static_cast<unsigned char>(keys[at]);
            const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
            write_all(keys[at] == '\n' ? "\r" : keys.substr(at, length));
            at += length;
            continue;
        }
        const std::string_view name = keys.substr(at + 1, close - at - 1);
        at = close + 1;
        if (name.starts_with("Ctrl-")) {
            vterm_keyboard_unichar(vterm_, static_cast<uint32_t>(name.back() | 0x20), VTERM_MOD_CTRL);
            continue;
        }
        if (name == "BackTab") {
            write_all("\x1b[Z");
            continue;
        }
        if (name == "F1") {
            vterm_keyboard_key(vterm_, static_cast<VTermKey>(VTERM_KEY_FUNCTION(1)), VTERM_MOD_NONE);
            continue;
        }
        bool known = false;
        for (const TypedKey& key : named_keys)
            if (key.name == name) {
                vterm_keyboard_key(vterm_, key.key, VTERM_MOD_NONE);
                known = true;
            }
        if (!known)
            throw std::runtime_error("no key is called " + std::string(name));
    }
}

void Terminal::click(int row, int col) {
    vterm_mouse_move(vterm_, row, col, VTERM_MOD_NONE);
    vterm_mouse_button(vterm_, 1, true, VTERM_MOD_NONE);
    vterm_mouse_button(vterm_, 1, false, VTERM_MOD_NONE);
}

void Terminal::drag(int from_row, int from_col, int to_row, int to_col) {
    vterm_mouse_move(vterm_, from_row, from_col, VTERM_MOD_NONE);
    vterm_mouse_button(vterm_, 1, true, VTERM_MOD_NONE);
    vterm_mouse_move(vterm_, to_row, to_col, VTERM_MOD_NONE);
    vterm_mouse_button(vterm_, 1, false, VTERM_MOD_NONE);
}

void Terminal::wheel(int row, int col, bool down) {
    vterm_mouse_move(vterm_, row, col, VTERM_MOD_NONE);
    vterm_mouse_button(vterm_, down ? 5 : 4, true, VTERM_MOD_NONE);
}

void Terminal::resize(int rows, int cols) {
    vterm_set_size(vterm_, rows, cols);
    winsize size{};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(cols);
    ioctl(master_, TIOCSWINSZ, &size); // the program is sent SIGWINCH
}

void Terminal::send_signal(int number) { kill(child_, number); }

bool Terminal::wait_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    const auto left = [&] {
        return static_cast<int>(
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count());
    };
    while (true) {
        // A frame comes in pieces: one of which a part is here is not looked at, or what a redrawing has cleared would count as
        // gone.
        while (in_frame_ || !holds()) {
            if (left() <= 0 || status_ >= 0 || !read_some(left())) {
                return holds();
            }
        }
        while (status_ < 0 && left() > 0 && !is_idle()) {
            read_some(1);
        }
        if (holds() || status_ >= 0 || left() <= 0) {
            return holds();
        }
    }
}

bool Terminal::settles() {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (status_ < 0 && !is_idle()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        read_some(1);
        pollfd gone{child_descriptor_, POLLIN, 0}, more{master_, POLLIN, 0};
        if (status_ < 0 && poll(&gone, 1, 0) > 0 && poll(&more, 1, 0) == 0)
            waitpid(child_, &status_, 0);
    }
    return true;
}

bool Terminal::shows(std::string_view wanted) {
    return wait_until([&] { return text().find(wanted) != std::string::npos; });
}

bool Terminal::hides(std::string_view unwanted) {
    return wait_until([&] { return text().find(unwanted) == std::string::npos; });
}

std::vector<std::string> Terminal::lines() {
    int rows = 0, cols = 0;
    vterm_get_size(vterm_, &rows, &cols);
    VTermScreen* const screen = vterm_obtain_screen(vterm_);
    std::vector<std::string> all;
    for (int row = 0; row < rows; ++row) {
        std::string line(static_cast<size_t>(cols) * 16, '\0');
        line.resize(vterm_screen_get_text(screen, line.data(), line.size(), VTermRect{row, row + 1, 0, cols}));
        while (line.ends_with(' '))
            line.pop_back();
        all.push_back(std::move(line));
    }
    return all;
}

std::string Terminal::text() {
    std::string all;
    for (const std::string& line : lines())
        all += line + "\n";
    return all;
}

std::string Terminal::line(int row) { return lines().at(static_cast<size_t>(row)); }

std::pair<int, int> Terminal::find(std::string_view wanted) {
    const std::vector<std::string> all = lines();
    for (size_t row = 0; row < all.size(); ++row) {
        const size_t at = all[row].find(wanted);
        if (at == std::string::npos)
            continue;
        int col = 0;
        for (size_t i = 0; i < at; ++i)
            col += (static_cast<unsigned char>(all[row][i]) & 0xc0) != 0x80; // one cell a character
        return {static_cast<int>(row), col};
    }
    return {-1, -1};
}

std::string Terminal::cell(int row, int col) {
    std::array<char, 64> text{};
    const size_t n =
        vterm_screen_get_text(vterm_obtain_screen(vterm_), text.data(), text.size(), VTermRect{row, row + 1, col, col + 1});
    return {text.data(), n};
}

bool Terminal::reverse_at(int row, int col) {
    VTermScreenCell cell{};
    vterm_screen_get_cell(vterm_obtain_screen(vterm_), VTermPos{row, col}, &cell);
    return cell.attrs.reverse != 0;
}

bool Terminal::colored() {
    int rows = 0, cols = 0;
    vterm_get_size(vterm_, &rows, &cols);
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col) {
            VTermScreenCell cell{};
            vterm_screen_get_cell(vterm_obtain_screen(vterm_), VTermPos{row, col}, &cell);
            if (!VTERM_COLOR_IS_DEFAULT_FG(&cell.fg) || !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg))
                return true;
        }
    return false;
}

std::string Terminal::foreground(int row, int col) {
    VTermScreenCell cell{};
    vterm_screen_get_cell(vterm_obtain_screen(vterm_), VTermPos{row, col}, &cell);
    if (VTERM_COLOR_IS_DEFAULT_FG(&cell.fg))
        return {};
    if (VTERM_COLOR_IS_INDEXED(&cell.fg))
        return std::to_string(cell.fg.indexed.idx);
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", cell.fg.rgb.red, cell.fg.rgb.green, cell.fg.rgb.blue);
    return text.data();
}

std::string Terminal::attributes() {
    int rows = 0, cols = 0;
    vterm_get_size(vterm_, &rows, &cols);
    std::string all;
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col) {
            VTermScreenCell cell{};
            vterm_screen_get_cell(vterm_obtain_screen(vterm_), VTermPos{row, col}, &cell);
            all += static_cast<char>('0' + cell.attrs.reverse + 2 * cell.attrs.bold + 4 * (cell.attrs.underline != 0 ? 1 : 0));
        }
    return all;
}

int Terminal::wait_for_exit() {
    wait_until([&] { return status_ >= 0; });
    if (status_ < 0)
        return -1;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 256 + WTERMSIG(status_);
}

bool Terminal::is_cooked() const {
    termios modes{};
    tcgetattr(slave_, &modes);
    return (modes.c_lflag & (ECHO | ICANON | ISIG)) == (ECHO | ICANON | ISIG) && (modes.c_iflag & ICRNL) != 0 &&
           (modes.c_oflag & OPOST) != 0;
}

} // namespace schedscope::test
