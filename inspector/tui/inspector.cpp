#include "inspector/tui/inspector.h"

#include "inspector/tui/app.h"
#include "inspector/tui/state/user_files.h"

#include <cstdlib>
#include <filesystem>

namespace schedscope {
namespace {

std::string absolute_path(const std::string& path) {
    if (path.empty()) {
        return {};
    }
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, failed);
    return failed ? std::string() : whole.string();
}

/// What was kept of the trace; nothing, with a note if there is something to say about that.
std::optional<tui::SavedSession> saved_session(const std::string& file, const std::string& trace, Step n_steps,
                                               std::string& note) {
    std::string trouble;
    const std::optional<std::string> text = tui::read_small_file(file, trouble);
    if (!trouble.empty()) {
        note = file + " can't be read: " + trouble;
    }
    tui::SavedSession saved;
    return text && tui::SavedSession::parse(*text, trace, n_steps, saved, note) ? std::optional(saved) : std::nullopt;
}

} // namespace

void check_terminal() { tui::type_of_terminal(); }

int run_inspector(std::shared_ptr<const RecordSource> source, const InspectorOptions& options) {
    const char* const no_color = std::getenv("NO_COLOR");
    tui::InspectorSession session(std::move(source), options.gate, options.ended_fd);
    if (options.evaluation >= 0 && options.evaluation < session.history().n_evaluations()) {
        session.go(session.history().evaluation(options.evaluation).end - 1);
    }
    session.plan_again_with(options.backends);
    if (!options.diff.empty()) {
        session.start_diff(options.diff);
    }
    tui::App::Options app_options;
    app_options.title = options.title.empty() ? "schedscope" : options.title;
    app_options.check_path = options.check ? options.trace_path : std::string();
    app_options.note = options.note;
    app_options.changed = options.changed;
    app_options.stop = options.stop;
    app_options.files_in_use = options.files_in_use;
    app_options.trace_path = options.trace_path;
    app_options.keeps_texts = options.keeps_texts;
    app_options.guided = options.guided;
    app_options.output = options.output;
    app_options.how_ended = options.how_ended;
    app_options.why_nothing_yet = options.why_nothing_yet;
    for (const std::string& file : {options.trace_path, options.diff}) {
        app_options.files_in_use.push_back(file);
    }
    app_options.settings = tui::read_settings(tui::settings_path(), app_options.note);

    const std::string trace = absolute_path(options.trace_path);
    const std::string kept_in = tui::session_path(trace);
    const auto saved =
        app_options.settings.restore ? saved_session(kept_in, trace, session.last_step() + 1, app_options.note) : std::nullopt;

    const tui::Settings& settings = app_options.settings;
    const bool color = options.color && !(no_color && *no_color);
    app_options.terminal = {color ? settings.colour : tui::Depth::none, settings.background, settings.mouse,
                            settings.escape_delay};
    tui::Terminal terminal(app_options.terminal);
    tui::App app(session, terminal, std::move(app_options));
    if (saved) {
        app.restore(*saved, !options.diff.empty() || options.evaluation >= 0);
    }
    const int code = app.run();
    if (app.settings.restore && !trace.empty() && session.step() != no_step) {
        tui::SavedSession kept = app.saved();
        kept.trace = trace;
        tui::replace_file(kept_in, kept.text()); // without a place for it nothing is kept
    }
    return code;
}

} // namespace schedscope
