// From every step of every sample to each other evaluation: the place is in that evaluation, shows a plan, and keeps the order of
// steps.
#include "inspector/tui/state/same_place.h"

#include "tests/inspector/tui/harness/samples.h"

#include <gtest/gtest.h>

namespace schedscope::tui {
namespace {

class SamePlaceIn : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, SamePlaceIn,
                         ::testing::Values("all-cpu", "experts-offload", "llava-1.6", "mixed-sampling", "partial-offload",
                                           "pipeline"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                             return name;
                         });

TEST_P(SamePlaceIn, EachEvaluationShowsAPlanAndTheWayBackIsTheWayThere) {
    History history(test::sample(GetParam()));
    Describer describer(history);
    constexpr Step stride = 13; // not all: a pass is read for each
    for (Step from = 0; from < history.n_steps(); from += stride) {
        const EvaluationId here = history.evaluation_of(from);
        for (EvaluationId to = std::max(here - 2, 0); to < std::min(here + 3, history.n_evaluations()); ++to) {
            const SamePlace place = same_place(history, describer, from, to);
            const EvaluationSpan span = history.evaluation(to);
            ASSERT_GE(place.step, span.first) << from << " to " << to;
            ASSERT_LT(place.step, span.end) << from << " to " << to;
            EXPECT_GE(history.state_at(place.step).graph, 0) << from << " to " << to;
            if (to == here && from >= beginning_of(history, here)) {
                EXPECT_EQ(place.step, from);
                EXPECT_TRUE(place.same);
            } else if (place.same) {
                const Record one = history.record(from), other = history.record(place.step);
                EXPECT_EQ(history.state_at(from).pass, history.state_at(place.step).pass) << from << " to " << to;
                if (one.fact.index() == other.fact.index() && subject(one.fact) != no_tensor) {
                    EXPECT_EQ(describer.name(here, subject(one.fact)), describer.name(to, subject(other.fact)));
                }
            }
        }
    }
}

TEST_P(SamePlaceIn, TheEndIsTheEnd) {
    History history(test::sample(GetParam()));
    Describer describer(history);
    for (EvaluationId e = 0; e + 1 < history.n_evaluations(); ++e) {
        EXPECT_EQ(same_place(history, describer, history.evaluation(e).end - 1, e + 1).step, history.evaluation(e + 1).end - 1);
        EXPECT_EQ(same_place(history, describer, history.evaluation(e + 1).end - 1, e).step, history.evaluation(e).end - 1);
    }
}

} // namespace
} // namespace schedscope::tui
