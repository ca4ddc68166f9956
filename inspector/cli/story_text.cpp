#include "inspector/cli/story_text.h"

#include "traces/story_words.h"
#include "traces/unknown.h"

#include <iomanip>
#include <ostream>

namespace schedscope {

void print_story(const History& history, const PlanState& state, const Story& story, std::ostream& out) {
    out << words::story_head(history, state, story) << '\n';
    for (const std::string& source : words::story_sources(history, state, story)) {
        out << "  " << source << '\n';
    }
    for (const StoryStep& s : story.steps) {
        out << "pass " << std::left << std::setw(3) << (s.pass == Pass::none ? std::string_view(unknown_text) : pass_name(s.pass))
            << std::setw(11) << pass_title(s.pass) << words::decided(history, state, story, s) << "  [step " << s.step << "]\n";
        for (const Asked& a : s.asked) {
            out << "      " << words::answered(history, a) << '\n';
        }
    }
    for (const StoryLine& l : story.lines) {
        out << std::left << std::setw(13) << l.what << "  " << l.text << "  [step " << l.step << "]\n";
    }
}

} // namespace schedscope
