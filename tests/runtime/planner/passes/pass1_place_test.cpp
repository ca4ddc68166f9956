#include "tests/support/graphs/sketch.h"

#include <gmock/gmock.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::HasSubstr;

TEST(Pass1, AnAllocatedTensorGoesToTheFirstBackendThatCanUseItsMemory) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    s.allocated("on gpu1", "GPU1");
    s.allocated("on cpu", "CPU");
    Planned p(s);
    EXPECT_EQ(p["on gpu1"], "GPU1 1.dst");
    EXPECT_EQ(p["on cpu"], "CPU 1.dst");
}

TEST(Pass1, ABackendThatRefusesTheOperatorIsPassedOver) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    s.can_use("GPU1", "GPU0").refuse("GPU0", {Op::CPY});
    const TensorId cache = s.allocated("cache", "GPU0");
    const TensorId x = s.input("x");
    s.at(s.node("store", Op::CPY, {x, cache})).view_source = cache;
    EXPECT_EQ(Planned(s)["store"], "GPU1 1.dst");
}

TEST(Pass1, AViewOfAViewAsksForItsSourcesRoot) {
    Sketch s{"GPU0", "CPU"};
    const TensorId root = s.allocated("root", "GPU0");
    const TensorId inner = s.view("inner", Op::VIEW, root);
    s.at(s.node("outer", Op::VIEW, {inner})).view_source = inner; // not flattened
    EXPECT_EQ(Planned(s)["outer"], "GPU0 1.vsrc");
}

TEST(Pass1, InputsGoToTheLastBackend) {
    Sketch s{"GPU0", "CPU"};
    s.input("x");
    EXPECT_EQ(Planned(s)["x"], "CPU 1.inp");
}

TEST(Pass1, AnAllocatedInputStaysWhereItIs) {
    Sketch s{"GPU0", "CPU"};
    s.at(s.allocated("x", "GPU0")).flags |= flag_input;
    EXPECT_EQ(Planned(s)["x"], "GPU0 1.dst");
}

TEST(Pass1, ANodeRunsWhereItsFirstWeightLies) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    const TensorId x = s.input("x");
    const TensorId first = s.weight("first", "GPU1");
    const TensorId second = s.weight("second", "GPU0");
    s.node("y", Op::CUSTOM, {x, first, second});
    EXPECT_EQ(Planned(s)["y"], "GPU1 1.wgt1");
}

TEST(Pass1, AViewOfAWeightIsNoWeight) {
    Sketch s{"GPU0", "CPU"};
    const TensorId w = s.weight("w", "GPU0");
    const TensorId view = s.view("view", Op::VIEW, w);
    s.node("y", Op::MUL_MAT, {view, s.input("x")});
    EXPECT_EQ(Planned(s)["y"], "GPU0 3.best");
}

TEST(Pass1, RopeAndFlashAttentionIgnoreTheirSmallWeights) {
    Sketch s{"GPU0", "CPU"};
    const TensorId cpu_weight = s.weight("cpu weight", "CPU");
    const TensorId frequencies = s.weight("frequencies", "GPU0");
    const TensorId h = s.node("h", Op::MUL_MAT, {cpu_weight, s.input("x")});
    s.node("rope", Op::ROPE, {h, h, frequencies});
    s.node("attention", Op::FLASH_ATTN_EXT, {h, h, h, h, frequencies});
    s.node("soft_max", Op::SOFT_MAX, {h, h, frequencies});
    Planned p(s);
    EXPECT_EQ(p["rope"], "GPU0 2.sup"); // from soft_max, upwards
    EXPECT_EQ(p["attention"], "GPU0 2.sup");
    EXPECT_EQ(p["soft_max"], "GPU0 1.wgt2");
}

TEST(Pass1, TheMarkStaysWhenNoBackendCanUseTheWeight) {
    Sketch s{"GPU0", "CPU"};
    s.refuse("GPU0", {Op::MUL_MAT});
    const TensorId w = s.weight("w", "GPU0");
    const TensorId second = s.weight("second", "CPU");
    s.node("y", Op::MUL_MAT, {w, second});
    Notebook notebook;
    Planned p(s, {}, &notebook);
    const auto assigns = notebook.all<record::Assign>();
    const auto mark = std::ranges::find_if(assigns, [&](const record::Assign& a) { return a.tensor == s.id("y"); });
    ASSERT_NE(mark, assigns.end());
    EXPECT_EQ(mark->cause, Cause::weight);
    EXPECT_EQ(mark->source, 0) << "the second weight must not be looked at";
    EXPECT_EQ(mark->after, no_backend);
    EXPECT_EQ(p["y"], "CPU 3.best");
}

TEST(Pass1, HostWeightsAreOffloadedToTheFirstBackendThatOffersAndSupports) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    s.offers_offload("GPU0", {Op::MUL_MAT}).offers_offload("GPU1", {Op::MUL_MAT}).refuse("GPU0", {Op::MUL_MAT});
    s.node("y", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
    EXPECT_EQ(Planned(s)["y"], "GPU1 1.off");
}

TEST(Pass1, OffloadCanBeSwitchedOff) {
    Sketch s{"GPU0", "CPU"};
    s.offers_offload("GPU0", {Op::MUL_MAT});
    s.node("y", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
    PlanOptions options;
    options.op_offload = false;
    EXPECT_EQ(Planned(s, options)["y"], "CPU 1.wgt0");
}

TEST(Pass1, OnlyHostMemoryIsOffloaded) {
    Sketch s{"GPU0", "CPU"};
    s.offers_offload("GPU0", {Op::MUL_MAT});
    s.session.buffer_types.back().is_host = false; // weights repacked for the CPU
    s.node("y", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
    EXPECT_EQ(Planned(s)["y"], "CPU 1.wgt0");
}

TEST(Pass1, TheUsersAssignmentsComeFirst) {
    Sketch s{"GPU0", "CPU"};
    const TensorId x = s.input("x");
    s.at(x).user_backend = 0;
    s.at(s.node("y", Op::MUL_MAT, {s.weight("w", "GPU0"), x})).user_backend = 1;
    Planned p(s);
    EXPECT_EQ(p["x"], "GPU0 usr");
    EXPECT_EQ(p["y"], "CPU usr");
}

TEST(Pass1, MemoryThatNoBackendCanWorkOnIsAnErrorNamingTensorMemoryAndOperator) {
    Sketch s{"GPU0", "CPU"};
    s.refuse("GPU0", {Op::CPY});
    const TensorId cache = s.allocated("cache_k", "GPU0");
    s.at(s.node("store-3", Op::CPY, {s.input("x"), cache})).view_source = cache;
    const std::string error = plan_error(s);
    EXPECT_THAT(error, HasSubstr("preallocated_unsupported: "));
    EXPECT_THAT(error, HasSubstr("'store-3' (CPY)"));
    EXPECT_THAT(error, HasSubstr("type GPU0"));
}
