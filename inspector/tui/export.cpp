// What leaves the inspector: text to the clipboard or to a file, pictures.
#include "inspector/tui/app.h"

#include "inspector/tui/clipboard.h"
#include "inspector/tui/text.h"
#include "inspector/tui/user_files.h"
#include "inspector/tui/view_text.h"
#include "runtime/error.h"
#include "viz/output_file.h"

#include <sys/stat.h>

namespace schedscope::tui {
namespace {

void refuse_existing(const std::string& path, std::string_view command) {
    struct stat about {};
    if (stat(path.c_str(), &about) == 0) {
        throw Error(ErrorKind::usage, joined({path, " exists: :", command, "! ", path, " overwrites it"}));
    }
}

} // namespace

/// Where the text was taken from.
std::string App::heading() const {
    const PlanState& state = session_.state();
    const std::string pass(pass_title(state.pass));
    return title_ + ", evaluation " + std::to_string(state.evaluation) + (pass.empty() ? "" : ", pass " + pass) + ", step " +
           grouped(state.step) + ", " + list_.view().title(session_) +
           (list_.filter().empty() ? "" : " that match " + list_.filter().text()) + "\n";
}

std::string App::list_as_text() {
    update();
    return heading() + list_text(session_, list_.view(), list_.rows());
}

std::string App::details_as_text() {
    update();
    update_detail();
    constexpr int wide = 120;
    const View& view = list_.view();
    const int row = list_.selected_row();
    return row < 0 ? std::string() : view.detail_title(session_, row) + "\n" + lines_text(view.detail(session_, row, wide));
}

void App::copy(const std::string& text, const std::string& what) {
    if (text.size() > longest_clipboard_text) {
        tell(what + ": " + bytes_text(static_cast<int64_t>(text.size())) +
                 " are more than terminals take into the clipboard: :write FILE, or a filter",
             true);
        return;
    }
    terminal_.send(clipboard_sequence(text, wrapping_of_environment()));
    tell("sent to the clipboard: " + what + ", " + bytes_text(static_cast<int64_t>(text.size())));
}

void App::write_to(const std::string& argument, bool overwrite) {
    const std::string path = expanded_path(argument);
    if (!overwrite) {
        refuse_existing(path, "write");
    }
    const std::string text = list_as_text() + "\n" + details_as_text();
    try {
        write_output_file(path, text);
    } catch (const Error& error) { // "PATH: why"
        tell(path + " can't be written" + std::string(error.what()).substr(path.size()), true);
        return;
    }
    tell(path + ": " + counted(list_.n_lines(), "line") + " and the details are written");
}

/// "FILE" or "VIEW FILE"; by default the picture that is most like the view that is shown.
void App::draw_picture(const std::string& argument, bool overwrite) {
    const size_t space = argument.find(' ');
    const std::optional<PictureView> named =
        space == std::string::npos ? std::nullopt : picture_view_from_name(argument.substr(0, space));
    const std::string path =
        expanded_path(named ? argument.substr(std::min(argument.find_first_not_of(' ', space), argument.size())) : argument);
    if (!picture_format_of(path)) {
        throw Error(ErrorKind::usage, path + ": a picture's name ends in .dot, .svg, .png or .pdf");
    }
    if (!overwrite) {
        refuse_existing(path, "dot");
    }
    PictureOptions options;
    options.step = session_.step();
    options.eval = session_.state().evaluation;
    const bool many = session_.graph() && session_.graph()->nodes.size() > max_nodes_view;
    options.view = named                          ? *named
                   : list_.id() == ViewId::nodes  ? (many ? PictureView::layers : PictureView::nodes)
                   : list_.id() == ViewId::memory ? PictureView::memory
                   : many                         ? PictureView::layers
                                                  : PictureView::splits;
    picture_.start(session_.shared_source(), options, path);
    tell("drawing " + path + " (" + std::string(picture_view_name(options.view)) + "): Esc stops it");
}

void App::change_setting(const std::string& argument) {
    const size_t space = std::min(argument.find(' '), argument.size());
    const std::string name = argument.substr(0, space);
    settings_.set(name, std::string_view(argument).substr(std::min(argument.find_first_not_of(' ', space), argument.size())));
    if (name == "follow") {
        session_.follow = settings_.follow;
    }
    if (name == "view") {
        show_view(settings_.view);
    }
    if (terminal_options_.depth != Depth::none || name == "colour" ||
        name == "color") { // asked for here, it goes before NO_COLOR
        terminal_options_.depth = settings_.colour;
    }
    terminal_options_.background = settings_.background;
    terminal_options_.mouse = settings_.mouse;
    terminal_options_.escape_delay = settings_.escape_delay;
    terminal_.apply(terminal_options_);
    tell("set " + argument + ", until you quit");
}

} // namespace schedscope::tui
