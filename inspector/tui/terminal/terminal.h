#pragma once

#include "inspector/tui/terminal/canvas.h"
#include "inspector/tui/terminal/key_decoder.h"
#include "inspector/tui/terminal/style.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace schedscope::tui {

/// How the terminal is to be used.
struct TerminalOptions {
    Depth depth = Depth::automatic;
    Background background = Background::automatic;
    bool mouse = true;
    int escape_delay = 25; ///< ms after which the byte of the Escape key is that key, and not the beginning of another one
};

/// The type of terminal that standard input and output are. Throws Error(usage) when one is none; the sentence says what to use
/// instead.
const char* type_of_terminal();

/// The terminal while the inspector has it: alternate screen, keys unechoed, mouse reported. However the inspector is left, the
/// terminal is as it was: the destructor restores it, and so do the handlers of the signals that end a program. One at a time.
class Terminal {
public:
    /// Throws Error(usage) as type_of_terminal does, and where it can't move its cursor.
    explicit Terminal(const TerminalOptions& options);
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// From now on used like this.
    void apply(const TerminalOptions& options);

    int rows() const;
    int cols() const;

    static constexpr size_t most_watched = 8;
    /// Waits until there is input, a signal came, or one of `fds` (at most most_watched; −1: none) is readable; with `wait` false
    /// only looks.
    struct Woken {
        bool input = false, resized = false, interrupted = false;
        int ended_by = 0;                       ///< a signal that asks the program to end; 0: none
        std::array<bool, most_watched> ready{}; ///< by index into fds
    };
    Woken wait(std::span<const int> fds, bool wait);
    /// Without waiting, while something takes long: does the user want it to stop? By Ctrl-C or another signal, or where
    /// `letters` are keys, by 'q'. What was typed stays to be read.
    bool is_asked_to_stop(bool letters);
    /// As if this had been typed.
    void type(std::string_view bytes);
    /// The next key or mouse event; none when there is no more for now. Also none after the terminal went away.
    Input read();
    bool hung_up() const noexcept { return hung_up_; }

    /// Draws on this from an empty page, then `show` it. `popup`: a window above the page, for as long as it is drawn each time.
    Canvas page();
    Canvas popup(Rect area);
    /// The cursor is shown there; hidden when row is −1.
    void show(int cursor_row = -1, int cursor_col = 0);
    /// A sequence that is no drawing: the clipboard's.
    void send(std::string_view bytes);

private:
    bool take_size(); ///< as the terminal has it; false: it is known
    void take_notes();
    bool take_bytes();
    void learn_keys();
    void ask_background();
    int patience() const;

    void* screen_ = nullptr; ///< SCREEN
    void* popup_window_ = nullptr;
    void* popup_panel_ = nullptr;
    bool popup_drawn_ = false;
    KeyDecoder decoder_;
    Woken noted_;                                    ///< that was not told yet
    std::chrono::steady_clock::time_point taken_at_; ///< when the last bytes came
    bool hung_up_ = false;
    bool synchronised_ = false; ///< frames are told as such to the terminal
    TerminalOptions options_;
    Background found_ = Background::automatic; ///< what environment or terminal say of the background
    bool asked_ = false;                       ///< and it has not answered yet
    bool has_mouse_ = false;                   ///< it can report one
    bool reports_mouse_ = false;               ///< and was told to
};

} // namespace schedscope::tui
