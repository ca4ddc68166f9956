#pragma once

#include "inspector/tui/canvas.h"
#include "inspector/tui/keys.h"
#include "inspector/tui/style.h"

#include <array>
#include <cstdint>
#include <cwchar>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::tui {

/// A key or a mouse event.
struct Input {
    enum class Kind : uint8_t { none, key, click, release, wheel_up, wheel_down, restyled }; ///< restyled: colours are others now
    Kind kind = Kind::none;
    Key key = key_none;
    int row = 0, col = 0; ///< of a mouse event
};

/// How the terminal is to be used.
struct TerminalOptions {
    Depth depth = Depth::automatic;
    Background background = Background::automatic;
    bool mouse = true;
    int escape_delay = 25; ///< ms that the rest of a key's sequence may take
};

/// The terminal while the inspector has it: alternate screen, keys unechoed, mouse reported. However the inspector is left, the terminal
/// is as it was: the destructor restores it, and so do the handlers of the signals that end a program.
/// One at a time.
class Terminal {
public:
    /// Throws Error(usage) when standard input or output is no terminal or can't move its cursor; the sentence says what to use instead.
    explicit Terminal(const TerminalOptions& options);
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// From now on used like this.
    void apply(const TerminalOptions& options);

    int rows() const;
    int cols() const;

    /// Waits until there is input, a signal came, or one of `fds` (−1: none) is readable; with `wait` false only looks.
    struct Woken {
        bool input = false, resized = false, interrupted = false;
        int ended_by = 0; ///< a signal that asks the program to end; 0: none
        std::array<bool, 4> ready{};
    };
    Woken wait(std::array<int, 4> fds, bool wait);
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
    enum class Sequence : uint8_t { none, unknown, answer };
    void take_size();
    int next_code();
    void unread(int code) noexcept { unread_ = code; }
    Sequence skip_sequence();
    bool read_answer(Input& input);
    bool take_byte(int code, wchar_t& character);
    void ask_background();
    void take_mouse_events();

    void* screen_ = nullptr; ///< SCREEN
    void* popup_window_ = nullptr;
    void* popup_panel_ = nullptr;
    bool popup_drawn_ = false;
    int unread_ = -1;            ///< a code that was read and is to be read again; −1: none
    std::mbstate_t character_{}; ///< the bytes of a character whose rest has not come yet
    bool within_character_ = false;
    bool hung_up_ = false;
    bool synchronised_ = false; ///< frames are told as such to the terminal
    TerminalOptions options_;
    Background found_ = Background::automatic; ///< what environment or terminal say of the background
    bool asked_ = false;                       ///< and it has not answered yet
    bool answering_ = false;                   ///< its answer has begun to arrive, and is this far:
    std::string answer_;
    std::vector<Input> mouse_; ///< events that were read and not yet told, the newest first
};

} // namespace schedscope::tui
