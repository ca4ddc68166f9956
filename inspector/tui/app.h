#pragma once

#include "inspector/tui/completion.h"
#include "inspector/tui/layout.h"
#include "inspector/tui/list.h"
#include "inspector/tui/pages.h"
#include "inspector/tui/picture_run.h"
#include "inspector/tui/prompt.h"
#include "inspector/tui/saved_session.h"
#include "inspector/tui/session.h"
#include "inspector/tui/settings.h"
#include "inspector/tui/terminal.h"
#include "inspector/tui/trail.h"
#include "inspector/tui/view.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace schedscope::tui {

/// The inspector on a terminal: a session, the view that is shown, and what the keys do with them.
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

    // Input (app.cpp)
    void on_input(const Input& input);
    void on_key(Key key);
    void on_click(int row, int col);
    void on_release(int row, int col);
    void on_click_in_page(int row, int col);
    void on_wheel(int row, int col, int lines);
    void on_interrupt();
    void on_program(bool ended);
    void on_ready(const Terminal::Woken& woken);
    void check_trace(const std::string& path);
    void perform(Action action);
    void move_cursor(Action action);
    Context context() const;

    // What the actions do (actions.cpp)
    std::string why_not(Action action) const; ///< why it can't work now; empty: it can
    void tell(std::string text, bool trouble = false);
    void open(Target target);
    void show_view(int number);
    void set_list_width(int percent);
    void resume(bool forward);
    void find(bool forward, bool from_here);
    void sort_by(int column); ///< −1: as they come
    void ask(std::string label, const std::string& text, std::vector<std::string>& history,
             std::function<void(const std::string&)> then, Completer completer = {});

    // What is typed shows at once what it will do (preview.cpp)
    void ask_filter();
    void ask_search();
    void preview_filter(const std::string& text);
    void preview_search(const std::string& text);
    bool parse_preview(Query& query, const std::string& text);
    void end_preview();
    int match_from(int shown, bool forward);
    Completions completions() { return {session_, view_->columns()}; }
    Completer query_completer();
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
    Place here() const { return {session_.step(), session_.selected(), view_number_}; }
    void go_to(Place place, const std::string& said);
    void jump_to(TensorId id, const std::string& said);
    bool hidden_by_filter(TensorId id); ///< the view that is shown has a line for it, which isn't
    void go_to_cause();
    void choose_of(const std::vector<TensorId>& tensors, const std::string& what);
    void on_letter(Action action, Key key);
    void set_mark(char letter);
    void go_to_mark(char letter);
    void show_page(Page page);
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

    // The list between the view's rows and the screen (rows.cpp)
    void update();
    void select_row_of_tensor();
    void follow_record(); ///< to the row that the record at the step is about
    int view_row() const; ///< the selected row as the view counts; −1: none
    int n_shown() const;
    int shown_row(int row) const; ///< the line of the list of a row as the view counts; −1: filtered out
    void select_shown(int row);
    void select_view_row(int row); ///< as the view counts; filtered out: nothing happens
    void zoom(Zoom how, int column);
    void update_detail();

    // Drawing (draw.cpp)
    void draw(bool with_details = true);
    void draw_header(const Canvas& page);
    void draw_cell(const Canvas& page, int row, int col, const Text& cell, int width, bool right,
                   const std::vector<Query::Sought>& sought) const;
    void draw_strip(const Canvas& page);
    void draw_drawing(const Canvas& page);
    void draw_list(const Canvas& page);
    void draw_emptiness(const Canvas& page);
    void draw_detail(const Canvas& page);
    void draw_status(const Canvas& page);
    int prompt_column();
    void draw_keys(const Canvas& page);
    void draw_candidates(const Canvas& page);
    void draw_page();
    void shape_page(); ///< makes the lines of the page on top fit the screen and the session

    Session& session_;
    Terminal& terminal_;
    std::string title_;
    int ended_fd_;
    Settings settings_;
    TerminalOptions terminal_options_;
    PictureRun picture_;
    std::string check_path_;                           ///< until that has begun
    BackgroundTask<std::optional<std::string>> check_; ///< of the trace: what is wrong with it
    bool damaged_ = false;                             ///< that found something
    Layout layout_;
    bool dirty_ = true;
    int exit_code_ = -1; ///< ≥ 0: leave

    int view_number_ = 1;
    std::vector<std::unique_ptr<View>> views_; ///< by index in views(); made when first shown
    View* view_ = nullptr;
    Pane pane_ = Pane::list;
    List list_, detail_list_;
    std::vector<Page> pages_; ///< the last one is shown
    Rect page_area_;
    Trail trail_;
    bool dragging_ = false;            ///< the line between the panes
    Action letter_for_ = Action::none; ///< the next key is a letter for it

    Step followed_ = no_step;  ///< whose row was selected
    bool interrupted_ = false; ///< the program was asked to hold
    uint64_t updated_ = 0;     ///< session version that the view was updated for
    std::vector<int> shown_;   ///< rows of the view, filtered and ordered; empty: all, as they are
    bool narrowed_ = false;    ///< shown_ is in force
    int sort_column_ = -1;
    Query filter_, search_, breakpoint_;
    std::vector<Line> detail_;
    uint64_t detail_version_ = 0;
    int detail_row_ = -1, detail_width_ = -1, detail_view_ = 0;

    std::string status_;
    bool trouble_ = false;
    std::optional<Prompt> prompt_;
    std::function<void(const std::string&)> prompt_then_;
    std::function<void(const std::string&)> prompt_preview_; ///< before each frame of the prompt; none: nothing is shown of it
    bool preview_due_ = false;                               ///< the prompt's text is another one than in the last frame
    std::string prompt_note_;                                ///< what its text comes to
    struct BeforePreview {
        Query filter, search;
        List list;
    };
    std::optional<BeforePreview> before_preview_;
    std::vector<std::string> searches_, filters_, breakpoints_, commands_, steps_, what_ifs_;

    std::vector<Button<std::function<void()>>> crumbs_; ///< the places in the top line
    std::vector<Button<Pass>> strip_buttons_;
    std::vector<Button<int>> tab_buttons_;
    std::vector<Button<Action>> key_buttons_;
};

} // namespace schedscope::tui
