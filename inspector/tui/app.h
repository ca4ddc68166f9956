#pragma once

#include "inspector/tui/background/file_run.h"
#include "inspector/tui/background/program_output.h"
#include "inspector/tui/background/trace_check.h"
#include "inspector/tui/guide.h"
#include "inspector/tui/input/completion.h"
#include "inspector/tui/input/query_preview.h"
#include "inspector/tui/input/typed_line.h"
#include "inspector/tui/panes/detail_pane.h"
#include "inspector/tui/panes/list_pane.h"
#include "inspector/tui/panes/page_stack.h"
#include "inspector/tui/panes/screen.h"
#include "inspector/tui/state/inspector_session.h"
#include "inspector/tui/state/saved_session.h"
#include "inspector/tui/state/settings.h"
#include "inspector/tui/state/trail.h"
#include "inspector/tui/terminal/terminal.h"
#include "traces/store/stop_signal.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace schedscope::tui {

/// The inspector on a terminal: joins a session with what is on the screen, and takes what keys, mouse and program tell to it.
/// What the actions of the keys (actions.h) and the commands of ':' (commands.h) do with it are functions in files of their own.
class App {
public:
    struct Options {
        std::string title;
        std::string check_path; ///< of a trace that is read through in the background for damage; empty: none
        Settings settings;
        TerminalOptions terminal;             ///< as it was made: colour and mouse follow the settings from here on
        std::string note;                     ///< to begin with, in the status line: trouble with the settings; empty: none
        std::function<std::string()> changed; ///< as InspectorOptions have it
        std::shared_ptr<StopSignal> stop;
        std::vector<std::string> files_in_use; ///< as InspectorOptions have them
        std::string trace_path;                ///< of a recorded one; empty: what is looked at is in memory alone
        bool keeps_texts = true;               ///< as InspectorOptions have it
        bool guided = false;                   ///< as InspectorOptions have it
        std::shared_ptr<ProgramOutput> output;
        std::function<std::string()> how_ended;
        std::function<std::string()> why_nothing_yet;
    };
    App(InspectorSession& session, Terminal& terminal, Options options);
    App(const App&) = delete;
    App& operator=(const App&) = delete;
    /// Until the user quits. Returns the exit code.
    int run();
    /// One round of that: draws what changed and takes what came; without `wait` only what is there already. False: nothing was.
    bool turn(bool wait);
    bool is_left() const noexcept { return exit_code_ >= 0; } ///< the user quit

    /// Goes on where a trace was left; `asked_for_more`: the user said what to show, so of what was kept only marks and histories
    /// count.
    void restore(const SavedSession& saved, bool asked_for_more);
    /// What is to be kept for the next time.
    SavedSession saved() const;

    // What actions and commands say and ask
    void tell(std::string text, bool trouble = false); ///< in the status line
    /// What `then` throws as an error of usage is told.
    void ask(TypedLine::TypedQuestion question);
    Completions completions() { return {session, list.columns()}; } ///< what Tab can offer now
    void quit(int exit_code) { exit_code_ = exit_code; }
    KeyContext context() const; ///< where the keyboard is
    std::string key_of(Action action) const { return settings.keys.key_of(action, session.program() ? in_live : in_recorded); }

    // What they show
    enum class Pane : uint8_t { list, detail };
    void show_view(ViewId id);
    void update();        ///< the list follows the session
    void update_detail(); ///< and the details both
    void set_list_width(int percent);

    // From place to place
    TrailPlace here() const { return {session.step(), session.selected(), list.id()}; }
    /// After a move from there: that can be gone back to. One that led nowhere leaves the list of jumps as it is.
    void came_from(TrailPlace from) {
        if (from != here()) {
            trail.leave(from);
        }
    }
    /// A move that says what it did.
    template <class Move> void jump(Move&& move) {
        const TrailPlace from = here();
        std::string said = move();
        came_from(from);
        tell(std::move(said));
    }

    // The parts
    InspectorSession& session;
    Terminal& terminal;
    const std::string title; ///< of the trace or the program
    Settings settings;
    TerminalOptions terminal_options;
    std::vector<std::string> files_in_use; ///< none of which is written over
    const std::string trace_path;          ///< of a recorded one; empty: what is looked at is in memory alone
    const bool keeps_texts;                ///< in a trace that is saved
    Screen screen{terminal};
    ListPane list{session};
    DetailPane detail;
    Pane pane = Pane::list; ///< that has the keys
    PageStack pages{session, terminal};
    TypedLine typed;
    QueryPreview preview{session, list};
    Trail trail;
    Guide guide;
    std::deque<Told> messages; ///< what the status line said, oldest first
    FileRun picture{{"drawing", "the last picture is not done yet", "there is no"}};
    FileRun save{{"writing", "the last trace is not written yet", "there is no new"}};
    FileRun* running_file() noexcept;            ///< one of them; null: none is written
    const std::shared_ptr<ProgramOutput> output; ///< what the program writes; null: that goes elsewhere
    Action letter_for = Action::none;            ///< the next key is a letter for it

private:
    // Input (app.cpp, mouse.cpp)
    void on_input(const Input& input);
    void on_key(Key key);
    void on_click(int row, int col);
    void on_release(int row, int col);
    void on_wheel(int row, int col, int lines);
    void on_interrupt();
    void on_program(bool ended);
    void on_ready(const Terminal::Woken& woken);

    /// Does something that reads the trace. What goes wrong is told, and the inspector goes on. False: it went wrong.
    bool attempt(const std::function<void()>& what);
    void look_at_file();

    // A frame (draw.cpp)
    /// Where everything stands, from the state; the lines of the guide.
    std::vector<std::string> lay_out(bool with_details = true);
    void draw(bool with_details = true);
    void draw_frame();
    std::vector<std::string> standing() const; ///< what holds until it is taken back, for the status line

    TraceCheck check_;
    std::function<std::string()> changed_, how_ended_, why_nothing_yet_;
    std::shared_ptr<StopSignal> stop_;
    std::shared_ptr<void> looks_for_stop_; ///< as long as this is there, reading looks at the keyboard
    std::string file_changed_;             ///< "the file was replaced"; empty: it was not
    Told told_;
    bool dragging_ = false; ///< the line between the panes
    bool dirty_ = true;     ///< there is something to draw
    int exit_code_ = -1;    ///< ≥ 0: leave
};

} // namespace schedscope::tui
