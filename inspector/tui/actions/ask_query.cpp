#include "inspector/tui/actions/ask_query.h"

namespace schedscope::tui {

void ask_query(App& app, std::string label, Typed kind, const Query& now, void (*then)(App&, const std::string&),
               std::string (QueryPreview::*preview)(const std::string&)) {
    TypedLine::TypedQuestion question{std::move(label), kind, now.text(),
                                      [&app, then](const std::string& text) { then(app, text); },
                                      [&app](std::string_view before) { return app.completions().query(before); }};
    if (preview) {
        app.preview.begin();
        question.preview = [&app, preview](const std::string& text) { return (app.preview.*preview)(text); };
        question.end_preview = [&app] { app.preview.end(); };
    }
    app.ask(std::move(question));
}

} // namespace schedscope::tui
