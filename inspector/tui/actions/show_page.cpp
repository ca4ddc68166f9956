#include "inspector/tui/actions/show_page.h"

#include "inspector/tui/actions/actions.h"
#include "inspector/tui/actions/pages.h"
#include "inspector/tui/manual_tables.h"

namespace schedscope::tui {

void show_keys(App& app) {
    if (app.pages.size() > 1) { // of the page below it is known already
        app.pages.close();
        return;
    }
    const KeyContext where = app.context();
    if (where == in_popup && !app.pages.top().chooses && app.pages.top().title == "keys that work here") {
        app.pages.close();
        return;
    }
    std::vector<Line> lines = keys_page(app.settings.keys, where, [&app](Action action) { return why_not(app, action).empty(); });
    app.pages.open({"keys that work here", [lines = std::move(lines)](int) { return lines; }});
}

void show_messages(App& app) {
    if (app.messages.empty()) {
        app.tell("nothing was said yet", true);
        return;
    }
    std::vector<Line> lines;
    for (const Told& told : app.messages) {
        lines.push_back(line(told.text, told.trouble ? warning : Style{}));
    }
    Page page = {"messages", [lines = std::move(lines)](int) { return lines; }};
    page.grown = [] { return 0; }; // its end is shown
    app.pages.open(std::move(page));
}

void show_help(App& app, const std::string& name) {
    if (name.empty()) {
        app.pages.open({"the manual", [](int) { return topics_page(); }});
        return;
    }
    manual::Topic topic = manual::topic(name, manual_table);
    std::string title = topic.name;
    app.pages.open({std::move(title), [topic = std::move(topic)](int width) { return topic_page(topic, width); }});
}

void show_output(App& app) {
    if (!app.output) {
        app.tell(app.session.program() ? "the program writes to where it was started"
                                       : "no other program was started here, so there is none that writes",
                 true);
        return;
    }
    app.output->look();
    const ProgramOutput& output = *app.output;
    Page page = {"output of " + app.title, [&output](int) {
                     std::vector<Line> lines;
                     if (output.forgot_some()) {
                         lines.push_back(line("… lines before these are not kept", dim));
                     }
                     for (std::string& text : output.lines()) {
                         lines.push_back(line(std::move(text)));
                     }
                     if (lines.empty()) {
                         lines.push_back(line("nothing yet", dim));
                     }
                     return lines;
                 }};
    page.grown = [&output] { return output.version(); };
    app.pages.open(std::move(page));
}

} // namespace schedscope::tui
