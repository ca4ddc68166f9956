#include "inspector/tui/terminal/terminal.h"

#include "inspector/tui/terminal/terminfo.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/bus_error.h"

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

// Synchronised output: what is between these two appears at once, so that no half-drawn frame is seen. Terminals that don't know
// the mode ignore it.
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

extern "C" void restore_and_die(int number, siginfo_t* fault, void*) {
    if (number == SIGBUS && mend_bus_error(*fault)) {
        return; // a model was cut short: whoever reads it says so
    }
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, leave_text.data(), leave_size);
    tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    signal(number, SIG_DFL);
    raise(number);
}

void install(int number, struct sigaction action, struct sigaction& before) {
    sigemptyset(&action.sa_mask);
    action.sa_flags |= SA_RESTART;
    sigaction(number, &action, &before);
}

void install(int number, void (*handler)(int), struct sigaction& before) {
    struct sigaction action {};
    action.sa_handler = handler;
    install(number, action, before);
}

void install(int number, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    install(number, action, before);
}

void note_leave_text() {
    std::string text;
    for (const char* name : {"rmcup", "rmkx", "cnorm", "sgr0"}) {
        // Delays ("$<5>") belong to tputs; terminals that need them are not driven from a signal handler.
        if (const std::string value = capability(name); value.find("$<") == std::string::npos) {
            text += value;
        }
    }
    text += "\x1b[?1000l\x1b[?1002l\x1b[?1006l";
    text += end_of_frame;
    leave_size = std::min(text.size(), leave_text.size());
    std::copy_n(text.data(), leave_size, leave_text.data());
}

void put(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR) {
            return; // the terminal is gone; that is noticed where it is read
        }
        bytes.remove_prefix(n < 0 ? 0 : n);
    }
}

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorKind::usage,
                "inspect: " + why + "; `schedscope show TRACE` and `schedscope explain TRACE TENSOR` print the same as text");
}

/// Presses and releases of the buttons, in the form that has no end at column 223.
constexpr std::string_view mouse_on = "\x1b[?1000h\x1b[?1006h", mouse_off = "\x1b[?1006l\x1b[?1000l";

/// What bytes that are the beginning of a sequence, and no key, may wait for the rest.
constexpr int sequence_delay = 1000; // ms

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
        const double most = (1 << (4 * digits.size())) - 1;
        sum += weight * to_double(std::strtoul(digits.c_str(), nullptr, 16)) / most;
        text.remove_prefix(std::min(n + 1, text.size()));
    }
    return sum;
}

} // namespace

const char* type_of_terminal() {
    if (!isatty(STDIN_FILENO)) {
        refuse("standard input is not a terminal");
    }
    if (!isatty(STDOUT_FILENO)) {
        refuse("standard output is not a terminal");
    }
    const char* const type = std::getenv("TERM");
    if (!type || !*type) {
        refuse("TERM is not set, so the terminal's abilities are unknown");
    }
    return type;
}

Terminal::Terminal(const TerminalOptions& options) {
    const char* const type = type_of_terminal();
    if (!load_terminfo(type)) {
        refuse("the terminal '" + std::string(type) + "' is not known here");
    }
    if (capability("cup").empty()) {
        refuse("the terminal '" + std::string(type) + "' can't move its cursor");
    }

    std::setlocale(LC_CTYPE, "");
    set_unicode(std::string_view(nl_langinfo(CODESET)) == "UTF-8");
    tcgetattr(STDIN_FILENO, &saved_terminal);
    if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
        throw Error(ErrorKind::device, std::string("inspect: no pipe for signals: ") + std::strerror(errno));
    }
    note_leave_text();
    synchronised_ = capability("cup").starts_with("\x1b["); // else it isn't one of the family whose private modes can be ignored
    // Before curses begins, which then leaves the window-size signal to us.
    for (size_t i = 0; i < noted_signals.size(); ++i) {
        install(noted_signals[i], note_signal, noted_before[i]);
    }
    for (size_t i = 0; i < fatal_signals.size(); ++i) {
        install(fatal_signals[i], restore_and_die, fatal_before[i]);
    }

    screen_ = newterm(type, stdout, stdin);
    forget_terminfo();
    if (!screen_) {
        for (size_t i = 0; i < noted_signals.size(); ++i) {
            sigaction(noted_signals[i], &noted_before[i], nullptr);
        }
        for (size_t i = 0; i < fatal_signals.size(); ++i) {
            sigaction(fatal_signals[i], &fatal_before[i], nullptr);
        }
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
    keypad(stdscr, TRUE); // the terminal sends its keys as terminfo describes them; they are read here, not by curses
    typeahead(-1);
    intrflush(stdscr, FALSE);
    leaveok(stdscr, FALSE);
    curs_set(0);
    learn_keys();
    apply(options);
    take_size();
}

void Terminal::apply(const TerminalOptions& options) {
    options_ = options;
    if (options.background == Background::automatic && found_ == Background::automatic) {
        found_ = background_of_environment();
    }
    if (options.background == Background::automatic && found_ == Background::automatic && options.depth != Depth::none) {
        ask_background();
    }
    start_styles(options.depth, options.background == Background::automatic ? found_ : options.background, has_direct_colour());
    if (has_mouse_ && options.mouse != reports_mouse_) {
        reports_mouse_ = options.mouse;
        put(reports_mouse_ ? mouse_on : mouse_off);
    }
}

/// Nothing waits for the answer: when it comes, it is read among the keys.
void Terminal::ask_background() {
    const char* const type = std::getenv("TERM");
    if (!asked_ && has_colors() && may_be_asked(type ? type : "")) {
        asked_ = true;
        decoder_.expect_answer();
        put("\x1b]11;?\x1b\\");
    }
}

Terminal::~Terminal() {
    if (popup_panel_) {
        del_panel(static_cast<PANEL*>(popup_panel_));
        delwin(static_cast<WINDOW*>(popup_window_));
    }
    if (reports_mouse_) {
        put(mouse_off);
    }
    endwin();
    // Terminals that save "hidden" together with the cursor's place have just restored what curses saved to scroll.
    if (const std::string visible = capability("cnorm"); visible.find("$<") == std::string::npos) {
        put(visible);
    }
    delscreen(static_cast<SCREEN*>(screen_));
    // An answer that is still on its way is not for the shell.
    tcsetattr(STDIN_FILENO, asked_ ? TCSAFLUSH : TCSADRAIN, &saved_terminal);
    for (size_t i = 0; i < noted_signals.size(); ++i) {
        sigaction(noted_signals[i], &noted_before[i], nullptr);
    }
    for (size_t i = 0; i < fatal_signals.size(); ++i) {
        sigaction(fatal_signals[i], &fatal_before[i], nullptr);
    }
    close(wake_pipe[0]);
    close(wake_pipe[1]);
}

int Terminal::rows() const { return getmaxy(stdscr); }
int Terminal::cols() const { return getmaxx(stdscr); }

bool Terminal::take_size() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0 ||
        (size.ws_row == rows() && size.ws_col == cols())) {
        return false;
    }
    resizeterm(size.ws_row, size.ws_col);
    return true;
}

Terminal::Woken Terminal::wait(std::span<const int> others, bool wait) {
    std::array<pollfd, 2 + most_watched> fds{{{STDIN_FILENO, POLLIN, 0}, {wake_pipe[0], POLLIN, 0}}};
    for (size_t i = 0; i < others.size(); ++i) {
        fds[i + 2] = {others[i], POLLIN, 0};
    }
    const bool known = noted_.input || noted_.resized || noted_.interrupted || noted_.ended_by != 0;
    const int patience = this->patience();
    while (poll(fds.data(), 2 + others.size(), wait && !known ? patience : 0) < 0) {
        if (errno != EINTR) { // a signal that is ours has left its note, which ends the next one
            return {};
        }
    }
    if ((fds[1].revents & POLLIN) != 0) {
        take_notes();
    }
    Woken woken = std::exchange(noted_, {});
    if (!woken.input && patience >= 0 && (fds[0].revents & POLLIN) == 0 && this->patience() == 0) {
        decoder_.give_up();
        woken.input = true;
    }
    if ((fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
        hung_up_ = true;
    }
    woken.input = woken.input || (fds[0].revents & POLLIN) != 0;
    for (size_t i = 0; i < others.size(); ++i) {
        woken.ready[i] = others[i] >= 0 && (fds[i + 2].revents & (POLLIN | POLLHUP)) != 0;
    }
    // Keys mean what they mean on the screen of now: the signal of a new size may come behind them.
    if (woken.resized || woken.input) {
        woken.resized = take_size() || woken.resized;
    }
    return woken;
}

/// The signals that came.
void Terminal::take_notes() {
    std::array<char, 64> notes{};
    const auto n = ::read(wake_pipe[0], notes.data(), notes.size());
    for (ssize_t i = 0; i < n; ++i) {
        switch (notes[i]) {
        case SIGWINCH: noted_.resized = true; break;
        case SIGINT: noted_.interrupted = true; break;
        case SIGTERM:
        case SIGHUP: noted_.ended_by = notes[i]; break;
        default: break;
        }
    }
}

void Terminal::type(std::string_view bytes) {
    decoder_.take(bytes);
    taken_at_ = std::chrono::steady_clock::now();
    noted_.input = true;
}

bool Terminal::is_asked_to_stop(bool letters) {
    take_notes();
    noted_.input = take_bytes() || noted_.input;
    return noted_.interrupted || noted_.ended_by != 0 || hung_up_ ||
           (letters && (decoder_.has_byte('q') || decoder_.has_byte('Q')));
}

/// What this terminal sends for its keys; where it says nothing, it is as usual.
void Terminal::learn_keys() {
    for (const auto& [name, key] : {std::pair{"kcuu1", Key{key_up}},
                                    {"kcud1", key_down},
                                    {"kcub1", key_left},
                                    {"kcuf1", key_right},
                                    {"khome", key_home},
                                    {"ka1", key_home},
                                    {"kend", key_end},
                                    {"kc1", key_end},
                                    {"kpp", key_page_up},
                                    {"ka3", key_page_up},
                                    {"knp", key_page_down},
                                    {"kc3", key_page_down},
                                    {"kdch1", key_delete},
                                    {"kbs", key_backspace},
                                    {"kcbt", key_back_tab},
                                    {"kent", key_enter}}) {
        decoder_.learn(capability(name), key);
    }
    for (int n = 1; n <= 12; ++n) {
        decoder_.learn(capability(("kf" + std::to_string(n)).c_str()), key_f1 + n - 1);
    }
    has_mouse_ = !capability("kmous").empty();
}

/// False: there are none.
bool Terminal::take_bytes() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    std::array<char, 4096> bytes{};
    if (poll(&input, 1, 0) <= 0 || (input.revents & POLLIN) == 0) {
        return false;
    }
    const ssize_t n = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (n > 0) {
        decoder_.take({bytes.data(), static_cast<size_t>(n)});
        taken_at_ = std::chrono::steady_clock::now();
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        hung_up_ = true;
    }
    return n > 0;
}

/// Milliseconds until what has begun to arrive is given up; −1: nothing has.
int Terminal::patience() const {
    const KeyDecoder::Rest rest = decoder_.waits_for();
    if (rest == KeyDecoder::Rest::nothing) {
        return -1;
    }
    const int most = rest == KeyDecoder::Rest::escape ? options_.escape_delay : std::max(options_.escape_delay, sequence_delay);
    const auto waited =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - taken_at_).count();
    return int_of(std::clamp<int64_t>(most - waited, 0, most));
}

Input Terminal::read() {
    while (true) {
        Input input = decoder_.next();
        if (input.kind == Input::Kind::none) {
            if (!take_bytes()) {
                return {};
            }
            continue;
        }
        if (input.kind != Input::Kind::answer) {
            return input;
        }
        asked_ = false;
        if (const double light = brightness(decoder_.answer()); light >= 0) {
            found_ = light > 0.5 ? Background::light : Background::dark;
            apply(options_);
            return {Input::Kind::restyled, key_none, 0, 0};
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
    if (!popup_drawn_ && popup_panel_) {
        hide_panel(static_cast<PANEL*>(popup_panel_));
    }
    curs_set(cursor_row >= 0 ? 1 : 0);
    if (cursor_row >= 0) {
        wmove(stdscr, cursor_row, cursor_col);
    }
    wnoutrefresh(stdscr); // as long as there was no popup, panels know nothing of the page
    if (popup_drawn_) {
        update_panels();
    }
    // Past curses' own buffer, which is empty before and after.
    if (synchronised_) {
        put(begin_of_frame);
    }
    doupdate();
    if (synchronised_) {
        put(end_of_frame);
    }
}

} // namespace schedscope::tui
