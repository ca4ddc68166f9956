#include "inspector/tui/actions/show_output.h"

namespace schedscope::tui {

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
