#include "inspector/tui/inspector.h"

#include "inspector/tui/app.h"

#include <cstdlib>

namespace schedscope {

int run_inspector(std::shared_ptr<const RecordSource> source, const InspectorOptions& options) {
    const char* const no_color = std::getenv("NO_COLOR");
    tui::Session session(std::move(source), options.gate);
    if (options.evaluation >= 0 && options.evaluation < session.history().n_evaluations())
        session.go(session.history().evaluation(options.evaluation).end - 1);
    if (!options.diff.empty()) {
        session.start_diff(options.diff);
    }
    tui::Terminal terminal(options.color && !(no_color && *no_color));
    tui::App app(session, terminal, options.title.empty() ? "schedscope" : options.title, options.ended_fd);
    return app.run();
}

} // namespace schedscope
