#include "inspector/tui/actions/export.h"

#include "inspector/tui/state/user_files.h"
#include "inspector/tui/terminal/clipboard.h"
#include "inspector/tui/terminal/text.h"
#include "runtime/error.h"
#include "runtime/system/files.h"
#include "runtime/system/joined.h"
#include "runtime/system/output_file.h"
#include "traces/history/words/words.h"
#include "viz/pictures/picture.h"
#include "viz/tables/text_table.h"

#include <sstream>
#include <sys/stat.h>

namespace schedscope::tui {
namespace {

/// Throws Error(usage) unless the user may write there: the file is in use, is one that would be waited for, or exists and was
/// not said to be overwritten.
void check_target(const App& app, const std::string& path, std::string_view command, bool overwrite) {
    struct stat about {};
    if (stat(path.c_str(), &about) != 0) {
        return;
    }
    for (const std::string& file : app.files_in_use) {
        for (const char* beside : {"", "-wal", "-shm", "-journal"}) {
            if (!file.empty() && FileIdentity::of(file + beside) == FileIdentity::of(about)) {
                throw Error(ErrorKind::usage, path + " is in use here: name another file");
            }
        }
    }
    if (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || S_ISDIR(about.st_mode)) {
        throw Error(ErrorKind::usage, path + " is not a regular file");
    }
    if (!overwrite) {
        throw Error(ErrorKind::usage, joined({path, " exists: :", command, "! ", path, " overwrites it"}));
    }
}

/// Where the text was taken from.
std::string heading(App& app) {
    const PlanState& state = app.session.state();
    return app.title + ", evaluation " + words::evaluation_of(state.evaluation, app.session.history().n_evaluations()) +
           (state.pass == Pass::none ? "" : ", " + words::pass(state.pass)) + ", step " + words::count(state.step) + ", " +
           app.list.view().title(app.session) + (app.list.filter().empty() ? "" : " that match " + app.list.filter().text()) +
           "\n";
}

std::string list_as_text(App& app) {
    app.update();
    std::ostringstream text;
    tables::print_rows(app.list.view().table(), app.list.rows(), text);
    return heading(app) + text.str();
}

std::string details_as_text(App& app) {
    app.update();
    app.update_detail();
    constexpr int wide = 120;
    const View& view = app.list.view();
    const int row = app.list.selected_row();
    return row < 0 ? std::string() : view.detail_title(app.session, row) + "\n" + lines_text(view.detail(app.session, row, wide));
}

void copy(App& app, const std::string& text, const std::string& what) {
    if (text.size() > longest_clipboard_text) {
        app.tell(what + ": " + words::bytes(text.size()) +
                     " are more than terminals take into the clipboard: :write FILE, or a filter",
                 true);
        return;
    }
    app.terminal.send(clipboard_sequence(text, wrapping_of_environment()));
    app.tell("sent to the clipboard: " + what + ", " + words::bytes(text.size()));
}

} // namespace

void copy_list(App& app) { copy(app, list_as_text(app), counted(app.list.n_lines(), "line")); }

void copy_details(App& app) { copy(app, details_as_text(app), "the details"); }

void write_text(App& app, const std::string& argument, bool overwrite) {
    const std::string path = expanded_path(argument);
    check_target(app, path, "write", overwrite);
    const std::string text = list_as_text(app) + "\n" + details_as_text(app);
    try {
        write_output_file(path, text);
    } catch (const Error& error) { // "PATH: why"
        app.tell(path + " can't be written" + std::string(error.what()).substr(path.size()), true);
        return;
    }
    app.tell(path + ": " + counted(app.list.n_lines(), "line") + " and the details are written");
}

void save_trace(App& app, const std::string& argument, bool overwrite) {
    if (!app.trace_path.empty()) {
        throw Error(ErrorKind::usage, "this is a recorded trace already: " + app.trace_path);
    }
    if (app.session.last_step() < 0) {
        throw Error(ErrorKind::usage, "nothing is recorded yet");
    }
    const std::string path = expanded_path(argument);
    check_target(app, path, "save", overwrite);
    start_save(app.save, app.session.shared_source(), path, app.keeps_texts);
    app.tell("writing " + path + ": Esc stops it");
}

void draw_picture(App& app, const std::string& argument, bool overwrite) {
    const size_t space = argument.find(' ');
    const std::optional<PictureView> named =
        space == std::string::npos ? std::nullopt : picture_view_from_name(argument.substr(0, space));
    const std::string path =
        expanded_path(named ? argument.substr(std::min(argument.find_first_not_of(' ', space), argument.size())) : argument);
    if (!picture_format_of(path)) {
        throw Error(ErrorKind::usage, path + ": a picture's name ends in .dot, .svg, .png or .pdf");
    }
    check_target(app, path, "dot", overwrite);
    PictureOptions options;
    options.step = app.session.step();
    options.eval = app.session.state().evaluation;
    const bool many = app.session.graph() && app.session.graph()->nodes.size() > max_nodes_view;
    options.view = named                             ? *named
                   : app.list.id() == ViewId::nodes  ? (many ? PictureView::layers : PictureView::nodes)
                   : app.list.id() == ViewId::memory ? PictureView::memory
                   : many                            ? PictureView::layers
                                                     : PictureView::splits;
    start_picture(app.picture, app.session.shared_source(), options, path);
    app.tell("drawing " + path + " (" + std::string(picture_view_name(options.view)) + "): Esc stops it");
}

} // namespace schedscope::tui
