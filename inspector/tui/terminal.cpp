#include "inspector/tui/terminal.h"

#include "inspector/tui/terminfo.h"
#include "inspector/tui/text.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <panel.h>
namespace schedscope::tui {
namespace {

// What signal handlers need: plain memory, set before they are installed.
int wake_pipe[2] = {-1, -1};
termios saved_terminal;
std::array<char, 512> leave_text{}; ///< what puts the terminal back
size_t leave_size = 0;

// Synchronised output: what is between these two appears at once, so that no half-drawn frame is seen. Terminals that don't know the mode ignore it.
constexpr std::string_view begin_of_frame = "\x1b[?2026h", end_of_frame = "\x1b[?2026l";

constexpr std::array<int, 4> noted_signals{SIGWINCH, SIGINT, SIGTERM, SIGHUP};
constexpr std::array<int, 6> fatal_signals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT};
std::array<struct sigaction, noted_signals.size()> noted_before;
std::array<struct sigaction, fatal_signals.size()> fatal_before;

extern "C" void note_signal(int number) {
    const int saved = errno;
    const char byte = static_cast<char>(number);
    [[maybe_unused]] const auto written = write(wake_pipe[1], &byte, 1);
    errno = saved;
}

extern "C" void restore_and_die(int number) {
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, leave_text.data(), leave_size);
    tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    signal(number, SIG_DFL);
    raise(number);
}

void install(int number, void (*handler)(int), struct sigaction& before) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, &before);
}

void note_leave_text() {
    std::string text;
    for (const char* name : {"rmcup", "rmkx", "cnorm", "sgr0"}) {
        // Delays ("$<5>") belong to tputs; terminals that need them are not driven from a signal handler.
        if (const std::string value = capability(name); value.find("$<") == std::string::npos)
            text += value;
    }
    text += "\x1b[?1000l\x1b[?1002l\x1b[?1006l";
    text += end_of_frame;
    leave_size = std::min(text.size(), leave_text.size());
    std::copy_n(text.data(), leave_size, leave_text.data());
}

void put(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR)
            return; // the terminal is gone; that is noticed where it is read
        bytes.remove_prefix(n < 0 ? 0 : static_cast<size_t>(n));
    }
}

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorKind::usage,
                "inspect: " + why + "; `schedscope show TRACE` and `schedscope explain TRACE TENSOR` print the same as text");
}

Key key_of_character(wchar_t c) {
    return c == L'\r' ? key_enter : c == 0x7f || c == 0x08 ? Key{key_backspace} : static_cast<Key>(c);
}

Key key_of_code(int code) {
    switch (code) {
    case KEY_UP: return key_up;
    case KEY_DOWN: return key_down;
    case KEY_LEFT: return key_left;
    case KEY_RIGHT: return key_right;
    case KEY_HOME:
    case KEY_A1: return key_home;
    case KEY_END:
    case KEY_C1: return key_end;
    case KEY_PPAGE:
    case KEY_A3: return key_page_up;
    case KEY_NPAGE:
    case KEY_C3: return key_page_down;
    case KEY_BACKSPACE: return key_backspace;
    case KEY_DC: return key_delete;
    case KEY_BTAB: return key_back_tab;
    case KEY_ENTER: return key_enter;
    default: return code >= KEY_F(1) && code <= KEY_F(12) ? key_f1 + static_cast<Key>(code - KEY_F(1)) : Key{key_none};
    }
}

/// Terminals that ignore questions that they don't know. Others might show them.
bool may_be_asked(std::string_view type) noexcept {
    constexpr std::array<std::string_view, 14> families{"xterm", "tmux",  "rxvt",    "foot",   "alacritty", "kitty",   "wezterm",
                                                        "vte",   "gnome", "konsole", "iterm2", "contour",   "ghostty", "mlterm"};
    return std::any_of(families.begin(), families.end(), [&](std::string_view family) { return type.starts_with(family); });
}

/// COLORFGBG is "FOREGROUND;BACKGROUND" or "FOREGROUND;default;BACKGROUND", in the numbers of 16 colours.
Background background_of_environment() {
    const char* const value = std::getenv("COLORFGBG");
    const std::string_view text = value ? value : "";
    const size_t last = text.rfind(';');
    if (last == std::string_view::npos) {
        return Background::automatic;
    }
    const std::string_view number = text.substr(last + 1);
    return number == "7" || number == "15" ? Background::light : number.empty() ? Background::automatic : Background::dark;
}

/// "rgb:RRRR/GGGG/BBBB", with one to four digits each: how bright? −1: it is not that.
double brightness(std::string_view text) {
    if (!text.starts_with("rgb:")) {
        return -1;
    }
    text.remove_prefix(4);
    constexpr std::array<double, 3> weights{0.299, 0.587, 0.114};
    double sum = 0;
    for (const double weight : weights) {
        const size_t n = std::min(text.find('/'), text.size());
        const std::string digits(text.substr(0, n));
        if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
            return -1;
        }
        const double most = static_cast<double>((1 << (4 * digits.size())) - 1);
        sum += weight * static_cast<double>(std::strtoul(digits.c_str(), nullptr, 16)) / most;
        text.remove_prefix(std::min(n + 1, text.size()));
    }
    return sum;
}

} // namespace

Terminal::Terminal(const TerminalOptions& options) {
    if (!isatty(STDIN_FILENO))
        refuse("standard input is not a terminal");
    if (!isatty(STDOUT_FILENO))
        refuse("standard output is not a terminal");
    const char* const type = std::getenv("TERM");
    if (!type || !*type)
        refuse("TERM is not set, so the terminal's abilities are unknown");
    if (!load_terminfo(type))
        refuse("the terminal '" + std::string(type) + "' is not known here");
    if (capability("cup").empty())
        refuse("the terminal '" + std::string(type) + "' can't move its cursor");

    std::setlocale(LC_CTYPE, "");
    set_unicode(std::string_view(nl_langinfo(CODESET)) == "UTF-8");
    tcgetattr(STDIN_FILENO, &saved_terminal);
    if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        throw Error(ErrorKind::device, std::string("inspect: no pipe for signals: ") + std::strerror(errno));
    note_leave_text();
    synchronised_ = capability("cup").starts_with("\x1b["); // else it isn't one of the family whose private modes can be ignored
    // Before curses begins, which then leaves the window-size signal to us.
    for (size_t i = 0; i < noted_signals.size(); ++i)
        install(noted_signals[i], note_signal, noted_before[i]);
    for (size_t i = 0; i < fatal_signals.size(); ++i)
        install(fatal_signals[i], restore_and_die, fatal_before[i]);

    screen_ = newterm(type, stdout, stdin);
    if (!screen_) {
        for (size_t i = 0; i < noted_signals.size(); ++i)
            sigaction(noted_signals[i], &noted_before[i], nullptr);
        for (size_t i = 0; i < fatal_signals.size(); ++i)
            sigaction(fatal_signals[i], &fatal_before[i], nullptr);
        refuse("the terminal '" + std::string(type) + "' can't be used");
    }
    cbreak();
    noecho();
    nonl();
    termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) == 0) { // Ctrl-S and Ctrl-Q are keys, and don't stop the screen
        modes.c_iflag &= ~static_cast<tcflag_t>(IXON);
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
        def_prog_mode();
    }
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    intrflush(stdscr, FALSE);
    leaveok(stdscr, FALSE);
    curs_set(0);
    mouseinterval(0);
    apply(options);
    take_size();
}

void Terminal::apply(const TerminalOptions& options) {
    options_ = options;
    set_escdelay(options.escape_delay);
    if (options.background == Background::automatic && found_ == Background::automatic) {
        found_ = background_of_environment();
    }
    if (options.background == Background::automatic && found_ == Background::automatic && options.depth != Depth::none) {
        ask_background();
    }
    start_styles(options.depth, options.background == Background::automatic ? found_ : options.background, has_direct_colour());
    mmask_t events = 0;
    for (int button = 1; button <= 5; ++button) {
        events |= NCURSES_MOUSE_MASK(button, NCURSES_BUTTON_PRESSED | NCURSES_BUTTON_RELEASED);
    }
    // Of all buttons, though few mean something: after an event that nobody asked for curses waits for the next, and holds the inspector until there is one.
    mousemask(options.mouse ? events : 0, nullptr);
}

/// Nobody waits for the answer: when it comes, it is read among the keys.
void Terminal::ask_background() {
    const char* const type = std::getenv("TERM");
    if (!asked_ && has_colors() && may_be_asked(type ? type : "")) {
        asked_ = true;
        put("\x1b]11;?\x1b\\");
    }
}

Terminal::~Terminal() {
    if (popup_panel_) {
        del_panel(static_cast<PANEL*>(popup_panel_));
        delwin(static_cast<WINDOW*>(popup_window_));
    }
    mousemask(0, nullptr);
    endwin();
    // Terminals that save "hidden" together with the cursor's place have just restored what curses saved to scroll.
    if (const std::string visible = capability("cnorm"); visible.find("$<") == std::string::npos) {
        put(visible);
    }
    delscreen(static_cast<SCREEN*>(screen_));
    // An answer that is still on its way is not for the shell.
    tcsetattr(STDIN_FILENO, asked_ ? TCSAFLUSH : TCSADRAIN, &saved_terminal);
    for (size_t i = 0; i < noted_signals.size(); ++i)
        sigaction(noted_signals[i], &noted_before[i], nullptr);
    for (size_t i = 0; i < fatal_signals.size(); ++i)
        sigaction(fatal_signals[i], &fatal_before[i], nullptr);
    close(wake_pipe[0]);
    close(wake_pipe[1]);
}

int Terminal::rows() const { return getmaxy(stdscr); }
int Terminal::cols() const { return getmaxx(stdscr); }

void Terminal::take_size() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
}

Terminal::Woken Terminal::wait(std::array<int, 4> others, bool wait) {
    std::array<pollfd, 6> fds{{{STDIN_FILENO, POLLIN, 0},
                               {wake_pipe[0], POLLIN, 0},
                               {others[0], POLLIN, 0},
                               {others[1], POLLIN, 0},
                               {others[2], POLLIN, 0},
                               {others[3], POLLIN, 0}}};
    Woken woken;
    if (poll(fds.data(), fds.size(), wait ? -1 : 0) < 0)
        return woken; // a signal: its note is read next time
    if ((fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        hung_up_ = true;
    woken.input = (fds[0].revents & POLLIN) != 0;
    for (size_t i = 0; i < others.size(); ++i)
        woken.ready[i] = others[i] >= 0 && (fds[i + 2].revents & (POLLIN | POLLHUP)) != 0;
    if ((fds[1].revents & POLLIN) != 0) {
        std::array<char, 64> notes{};
        const auto n = ::read(wake_pipe[0], notes.data(), notes.size());
        for (ssize_t i = 0; i < n; ++i) {
            switch (notes[static_cast<size_t>(i)]) {
            case SIGWINCH: woken.resized = true; break;
            case SIGINT: woken.interrupted = true; break;
            case SIGTERM:
            case SIGHUP: woken.ended_by = notes[static_cast<size_t>(i)]; break;
            default: break;
            }
        }
    }
    if (woken.resized)
        take_size();
    return woken;
}

/// A byte, or the code of a special key (KEY_MIN or more); ERR when there is no more for now. Not wget_wch: where a byte is no character, and where a special
/// key comes within a sequence, it gives nothing but an error, and what was typed there is lost.
int Terminal::next_code() { return unread_ != ERR ? std::exchange(unread_, ERR) : wgetch(stdscr); }

/// A sequence that terminfo doesn't know (ESC [ … letter, ESC O letter) is one key without a meaning, not many keys. What can't be part of it ends it.
Terminal::Sequence Terminal::skip_sequence() {
    int code = next_code();
    if (code == ']' && asked_) {
        return Sequence::answer;
    }
    if (code != '[' && code != 'O') {
        unread(code); // the Escape key alone
        return Sequence::none;
    }
    const bool parameters = code == '[';
    do {
        code = next_code();
    } while (parameters && code >= 0x20 && code < 0x40);
    if (code < 0x20 || code >= 0x7f) {
        unread(code);
    }
    return Sequence::unknown;
}

/// The terminal answers "ESC ] 11 ; rgb:… ESC \" (or BEL), maybe in pieces. True: it is complete, and the colours fit it. What can't be part of it ends it.
bool Terminal::read_answer(Input& input) {
    constexpr std::string_view begin = "11;rgb:";
    while (answering_) {
        int code = next_code();
        if (code == ERR) {
            return false;
        }
        if (code == 0x07 || code == 0x1b) {
            if (code == 0x1b && (code = next_code()) != '\\') {
                unread(code);
            }
            answering_ = asked_ = false;
            const double light = brightness(answer_.starts_with("11;") ? std::string_view(answer_).substr(3) : "");
            if (light < 0) {
                return false;
            }
            found_ = light > 0.5 ? Background::light : Background::dark;
            apply(options_);
            input = {Input::Kind::restyled, key_none, 0, 0};
            return true;
        }
        const bool fits =
            answer_.size() < begin.size()
                ? code == static_cast<unsigned char>(begin[answer_.size()])
                : code < 0x80 && answer_.size() < 40 &&
                      std::string_view("0123456789abcdefABCDEF/").find(static_cast<char>(code)) != std::string_view::npos;
        if (!fits) { // somebody typed that
            answering_ = false;
            unread(code);
        } else {
            answer_ += static_cast<char>(code);
        }
    }
    return false;
}

/// Takes a byte of a character in the locale's encoding. True: it is complete. A byte that is none is passed over, and so is a beginning that it does not
/// continue; it is then looked at once more, as a beginning.
bool Terminal::take_byte(int code, wchar_t& character) {
    const char byte = static_cast<char>(code);
    constexpr size_t invalid = static_cast<size_t>(-1), incomplete = static_cast<size_t>(-2);
    size_t taken = std::mbrtowc(&character, &byte, 1, &character_);
    if (taken == invalid && within_character_) {
        character_ = {};
        taken = std::mbrtowc(&character, &byte, 1, &character_);
    }
    if (taken == invalid) {
        character_ = {};
    }
    within_character_ = taken == incomplete;
    return taken != invalid && taken != incomplete;
}

/// Curses may have read several events for one KEY_MOUSE; it tells the newest one first.
void Terminal::take_mouse_events() {
    MEVENT event;
    while (getmouse(&event) == OK) {
        const auto kind = (event.bstate & BUTTON1_PRESSED) != 0    ? Input::Kind::click
                          : (event.bstate & BUTTON1_RELEASED) != 0 ? Input::Kind::release
                          : (event.bstate & BUTTON4_PRESSED) != 0  ? Input::Kind::wheel_up
                          : (event.bstate & BUTTON5_PRESSED) != 0  ? Input::Kind::wheel_down
                                                                   : Input::Kind::none;
        if (kind != Input::Kind::none) {
            mouse_.push_back({kind, key_none, event.y, event.x});
        }
    }
}

Input Terminal::read() {
    while (true) {
        if (Input restyled; answering_ && read_answer(restyled)) {
            return restyled;
        }
        if (!mouse_.empty()) {
            const Input event = mouse_.back();
            mouse_.pop_back();
            return event;
        }
        const int code = next_code();
        if (code == ERR) {
            return {};
        }
        if (code == 0x1b) {
            const Sequence sequence = skip_sequence();
            if (sequence == Sequence::answer) {
                answering_ = true;
                answer_.clear();
            }
            if (sequence != Sequence::none) {
                continue;
            }
        }
        if (code == KEY_MOUSE) {
            take_mouse_events();
        } else if (code >= KEY_MIN && code != KEY_RESIZE) {
            character_ = {}; // its rest does not come behind another key
            within_character_ = false;
            return {Input::Kind::key, key_of_code(code), 0, 0};
        } else if (wchar_t character = 0; code < KEY_MIN && take_byte(code, character)) {
            return {Input::Kind::key, key_of_character(character), 0, 0};
        }
    }
}

void Terminal::send(std::string_view bytes) { put(bytes); }

Canvas Terminal::page() {
    werase(stdscr);
    popup_drawn_ = false;
    return {stdscr, {0, 0, rows(), cols()}};
}

Canvas Terminal::popup(Rect area) {
    if (!popup_window_) {
        popup_window_ = newwin(area.height, area.width, area.row, area.col);
        popup_panel_ = new_panel(static_cast<WINDOW*>(popup_window_));
    } else {
        auto* const window = static_cast<WINDOW*>(popup_window_);
        if (getmaxy(window) != area.height || getmaxx(window) != area.width) {
            WINDOW* const fresh = newwin(area.height, area.width, area.row, area.col);
            replace_panel(static_cast<PANEL*>(popup_panel_), fresh);
            delwin(window);
            popup_window_ = fresh;
        } else {
            move_panel(static_cast<PANEL*>(popup_panel_), area.row, area.col);
        }
    }
    popup_drawn_ = true;
    werase(static_cast<WINDOW*>(popup_window_));
    show_panel(static_cast<PANEL*>(popup_panel_));
    return {popup_window_, {0, 0, area.height, area.width}};
}

void Terminal::show(int cursor_row, int cursor_col) {
    if (!popup_drawn_ && popup_panel_)
        hide_panel(static_cast<PANEL*>(popup_panel_));
    curs_set(cursor_row >= 0 ? 1 : 0);
    if (cursor_row >= 0)
        wmove(stdscr, cursor_row, cursor_col);
    wnoutrefresh(stdscr); // as long as there was no popup, panels know nothing of the page
    if (popup_drawn_)
        update_panels();
    // Past curses' own buffer, which is empty before and after.
    if (synchronised_)
        put(begin_of_frame);
    doupdate();
    if (synchronised_)
        put(end_of_frame);
}

} // namespace schedscope::tui
