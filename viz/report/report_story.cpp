#include "runtime/numbers.h"
#include "traces/history/words/story_words.h"
#include "viz/report/report_parts.h"

namespace schedscope {

namespace {

using nlohmann::json;

bool happened_in_the_run(StoryKind kind) {
    return kind == StoryKind::execute || kind == StoryKind::transfer || kind == StoryKind::value || kind == StoryKind::sampler;
}

} // namespace

ReportStory report_story(History& history, EvaluationId evaluation, TensorId tensor, ReportTexts& texts) {
    const Story story = explain(history, evaluation, tensor);
    json sources = json::array(), steps = json::array(), lines = json::array(), run = json::array();
    const PlanState& state = history.plan(evaluation);
    for (const std::string& source : words::story_sources(history, state, story)) {
        sources.push_back(texts.number(source));
    }
    for (const StoryStep& s : story.steps) {
        json asked = json::array();
        for (const Asked& a : s.asked) {
            asked.push_back(texts.number(words::answered(history, a)));
        }
        steps.push_back(
            {s.step, ordinal(s.pass.value_or(Pass::none)), texts.number(words::decided(history, state, s)), std::move(asked)});
    }
    for (const StoryLine& l : story.lines) {
        (happened_in_the_run(l.kind) ? run : lines)
            .push_back({l.step, texts.number(story_kind_name(l.kind)), texts.number(l.text)});
    }
    return {json::array({std::move(sources), std::move(steps), std::move(lines)}), run.empty() ? json(nullptr) : std::move(run)};
}

} // namespace schedscope
