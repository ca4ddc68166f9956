#include "inspector/cli/show/story_text.h"

#include "inspector/cli/output/lines.h"
#include "traces/history/words/story_words.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <iomanip>
#include <ostream>

namespace schedscope {

namespace {

std::string step_text(Step step) { return "  [step " + words::count(step) + "]"; }

} // namespace

void print_story(const History& history, const PlanState& state, const Story& story, std::ostream& out) {
    OutputLine(out) << words::story_head(history, state, story);
    for (const std::string& source : words::story_sources(history, state, story)) {
        OutputLine(out) << "  " << source;
    }
    for (const StoryStep& s : story.steps) {
        OutputLine(out) << "pass " << std::left << std::setw(3) << (s.pass ? pass_name(*s.pass) : std::string_view(unknown_text))
                        << std::setw(11) << pass_title(s.pass.value_or(Pass::none)) << words::decided(history, state, s)
                        << step_text(s.step);
        for (const Asked& a : s.asked) {
            OutputLine(out) << "      " << words::answered(history, a);
        }
    }
    for (const StoryLine& l : story.lines) {
        OutputLine(out) << std::left << std::setw(13) << story_kind_name(l.kind) << "  " << l.text << step_text(l.step);
    }
}

} // namespace schedscope
