#pragma once

#include "inspector/tui/layout.h"
#include "inspector/tui/list.h"
#include "inspector/tui/prompt.h"
#include "inspector/tui/session.h"
#include "inspector/tui/terminal.h"
#include "inspector/tui/view.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace schedscope::tui {

/// The inspector on a terminal: a session, the view that is shown, and what the keys do with them.
class App {
public:
    /// `ended_fd`: readable once the running program has ended; −1: none.
    App(Session& session, Terminal& terminal, std::string title, int ended_fd = -1);
    /// Until the user quits. Returns the exit code.
    int run();

private:
    enum class Pane : uint8_t { list, detail };

    // Input (app.cpp)
    void on_input(const Input& input);
    void on_key(Key key);
    void on_click(int row, int col);
    void on_wheel(int row, int col, int lines);
    void on_interrupt();
    void on_program(bool ended);
    void perform(Action action);
    void move_cursor(Action action);
    Context context() const;

    // What the actions do (actions.cpp)
    std::string why_not(Action action) const; ///< why it can't work now; empty: it can
    void tell(std::string text, bool trouble = false);
    void open(Target target);
    void show_view(int number);
    void resume(bool forward);
    void find(bool forward, bool from_here);
    void sort_by(int column); ///< −1: as they come
    void ask(std::string label, const std::string& text, std::vector<std::string>& history,
             std::function<void(const std::string&)> then);
    void run_command(const std::string& text);
    void set_breakpoint(const std::string& text);
    void set_filter(const std::string& text);

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
    void draw_strip(const Canvas& page);
    void draw_drawing(const Canvas& page);
    void draw_list(const Canvas& page);
    void draw_detail(const Canvas& page);
    void draw_status(const Canvas& page);
    void draw_keys(const Canvas& page);
    void draw_help();
    std::vector<Line> help_lines() const;

    Session& session_;
    Terminal& terminal_;
    std::string title_;
    int ended_fd_;
    Layout layout_;
    bool dirty_ = true;
    int exit_code_ = -1; ///< ≥ 0: leave

    int view_number_ = 1;
    std::vector<std::unique_ptr<View>> views_; ///< by index in views(); made when first shown
    View* view_ = nullptr;
    Pane pane_ = Pane::list;
    List list_, detail_list_, help_list_;
    bool help_ = false;

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
    std::vector<std::string> searches_, filters_, breakpoints_, commands_, steps_, what_ifs_;

    std::vector<Button<Pass>> strip_buttons_;
    std::vector<Button<int>> tab_buttons_;
    std::vector<Button<Action>> key_buttons_;
};

} // namespace schedscope::tui
