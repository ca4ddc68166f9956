#pragma once

#include "inspector/tui/completion.h"
#include "inspector/tui/detail_pane.h"
#include "inspector/tui/list_pane.h"
#include "inspector/tui/page_stack.h"
#include "inspector/tui/picture_run.h"
#include "inspector/tui/query_preview.h"
#include "inspector/tui/saved_session.h"
#include "inspector/tui/screen.h"
#include "inspector/tui/session.h"
#include "inspector/tui/settings.h"
#include "inspector/tui/terminal.h"
#include "inspector/tui/trace_check.h"
#include "inspector/tui/trail.h"
#include "inspector/tui/typed_line.h"

#include <string>
#include <vector>

namespace schedscope::tui {

/// The inspector on a terminal: joins a session with what is on the screen, and does what keys, mouse and program ask for.
class App {
public:
    struct Options {
        std::string title;
        int ended_fd = -1;      ///< readable once the running program has ended; −1: none
        std::string check_path; ///< of a trace that is read through in the background for damage; empty: none
        Settings settings;
        TerminalOptions terminal; ///< as it was made: colour and mouse follow the settings from here on
        std::string note;         ///< to begin with, in the status line: trouble with the settings; empty: none
    };
    App(Session& session, Terminal& terminal, Options options);
    /// Until the user quits. Returns the exit code.
    int run();

    /// Goes on where a trace was left; `asked_for_more`: the user said what to show, so of what was kept only marks and histories count.
    void restore(const SavedSession& saved, bool asked_for_more);
    /// What is to be kept for the next time.
    SavedSession saved() const;
    bool keeps() const noexcept { return settings_.restore; } ///< is anything to be?

private:
    enum class Pane : uint8_t { list, detail };

    // Input (app.cpp, mouse.cpp)
    void on_input(const Input& input);
    void on_key(Key key);
    void on_click(int row, int col);
    void on_release(int row, int col);
    void on_wheel(int row, int col, int lines);
    void on_interrupt();
    void on_program(bool ended);
    void on_ready(const Terminal::Woken& woken);
    void perform(Action action);
    void move_cursor(Action action);
    Context context() const;

    // What the actions do (actions.cpp)
    std::string why_not(Action action) const; ///< why it can't work now; empty: it can
    void tell(std::string text, bool trouble = false);
    void open(Target target);
    void show_view(ViewId id);
    void set_list_width(int percent);
    void zoom(Zoom how, int column);
    void resume(bool forward);
    void find(bool forward, bool from_here);
    void sort_by(int column); ///< −1: as they come
    void ask(TypedLine::Question question);
    void ask_query(std::string label, Typed kind, const Query& now, void (App::*then)(const std::string&),
                   std::string (QueryPreview::*preview)(const std::string&) = nullptr);
    Completions completions() { return {session_, list_.view().columns()}; }
    void search_for(const std::string& text);
    void start_what_if(const std::string& text);
    void stop_comparison();
    void set_breakpoint(const std::string& text);
    void set_filter(const std::string& text);
    void leave();

    // The line of ':' (run_command.cpp)
    friend struct Commands;
    void run_command(const std::string& text);

    // From place to place (jumps.cpp)
    /// After a move from there: that can be gone back to. One that led nowhere leaves the list of jumps as it is.
    void came_from(Place from) {
        if (from != here()) {
            trail_.leave(from);
        }
    }
    /// A move that says what it did.
    template <class Move> void jump(Move&& move) {
        const Place from = here();
        std::string said = move();
        came_from(from);
        tell(std::move(said));
    }
    Place here() const { return {session_.step(), session_.selected(), list_.id()}; }
    void go_to(Place place, const std::string& said);
    void jump_to(TensorId id, const std::string& said);
    void go_to_cause();
    void choose_of(const std::vector<TensorId>& tensors, const std::string& what);
    void on_letter(Action action, Key key);
    void set_mark(char letter);
    void go_to_mark(char letter);
    void show_keys();
    void explain(TensorId id);

    // Out of the inspector (export.cpp)
    std::string list_as_text();
    std::string details_as_text();
    std::string heading() const;
    void copy(const std::string& text, const std::string& what);
    void write_to(const std::string& path, bool overwrite);
    void draw_picture(const std::string& argument, bool overwrite);
    void change_setting(const std::string& argument);

    // A frame (draw.cpp)
    void update(); ///< the list follows the session
    void update_detail();
    void draw(bool with_details = true);
    std::vector<std::string> standing() const; ///< what holds until it is taken back, for the status line

    Session& session_;
    Terminal& terminal_;
    std::string title_;
    int ended_fd_;
    Settings settings_;
    TerminalOptions terminal_options_;
    bool dirty_ = true;
    int exit_code_ = -1; ///< ≥ 0: leave

    // What is on the screen
    Screen screen_{terminal_};
    ListPane list_{session_};
    DetailPane detail_;
    Pane pane_ = Pane::list; ///< that has the keys
    PageStack pages_{session_, terminal_};
    TypedLine typed_;
    QueryPreview preview_{list_};
    Told told_;

    // What goes on
    Trail trail_;
    Query breakpoint_;
    bool interrupted_ = false; ///< the program was asked to hold
    PictureRun picture_;
    TraceCheck check_;
    bool dragging_ = false;            ///< the line between the panes
    Action letter_for_ = Action::none; ///< the next key is a letter for it
};

} // namespace schedscope::tui
