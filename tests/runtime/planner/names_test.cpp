#include "runtime/planner/answer.h"
#include "runtime/planner/records.h"

#include <gtest/gtest.h>

using namespace schedscope;

TEST(Names, EveryPassIsFoundByItsName) {
    for (auto pass = Pass::place; pass < Pass::count; pass = static_cast<Pass>(static_cast<int>(pass) + 1)) {
        EXPECT_EQ(pass_from_name(pass_name(pass)), pass);
    }
    EXPECT_EQ(pass_name(Pass::gpu_down), "2a");
    EXPECT_EQ(pass_title(Pass::rest_up), "rest up");
    EXPECT_EQ(pass_from_name("6"), Pass::count);
    EXPECT_EQ(pass_from_name(""), Pass::count);
}

TEST(Names, CausesAreThoseOfTheReference) {
    EXPECT_EQ(cause_name(Cause::none, -1), "");
    EXPECT_EQ(cause_name(Cause::user, -1), "usr");
    EXPECT_EQ(cause_name(Cause::weight, 8), "1.wgt8");
    EXPECT_EQ(cause_name(Cause::offload, 0), "1.off");
    EXPECT_EQ(cause_name(Cause::source_view, -1), "4.vsrc");
    EXPECT_EQ(cause_name(Cause::copy, -1), "4.cpy");
}

TEST(Names, ARecordIsAboutItsTensor) {
    record::Assign assign;
    assign.tensor = 3;
    EXPECT_EQ(subject(assign), 3);
    record::CopyMade copy;
    copy.copy = 9;
    copy.of = 3;
    EXPECT_EQ(subject(copy), 9);
    record::Rewired rewired;
    rewired.node = 5;
    EXPECT_EQ(subject(rewired), 5);
    EXPECT_EQ(subject(record::PassBegin{}), no_tensor);
}

TEST(Names, RefusalsAndQuestions) {
    EXPECT_EQ(refusal_name(Refusal::size_limit), "size limit");
    EXPECT_EQ(refusal_name(Refusal::feature), "missing device feature");
    EXPECT_EQ(question_name(Question::buffer_type), "buffer_type");
    EXPECT_EQ(split_reason_name(SplitReason::full), "full");
    EXPECT_EQ(graph_kind_name(GraphKind::prefill), "prefill");
}
