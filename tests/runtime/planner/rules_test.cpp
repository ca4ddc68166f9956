// What ggml decided otherwise in older builds: for each rule a small graph in which it shows.

#include "runtime/planner/memory/arena.h"
#include "tests/support/graphs/sketch.h"

#include <gtest/gtest.h>

namespace schedscope::test {
namespace {

/// By the rules of an age that differ in one switch.
template <typename T> PlanOptions with(T PlannerRules::*rule, T value) {
    PlanOptions options;
    options.rules.*rule = value;
    return options;
}

TEST(Rules, OfRope) {
    Sketch s{"GPU0", "CPU"};
    const TensorId h = s.node("h", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
    s.node("rope", Op::ROPE, {h, h, s.weight("frequencies", "GPU0")});
    EXPECT_EQ(Planned(s)["rope"], "CPU 2.sup");
    EXPECT_EQ(Planned(s, with(&PlannerRules::rope_follows_weights, true))["rope"], "GPU0 1.wgt2"); // before #10026
}

TEST(Rules, OfFlashAttention) {
    Sketch s{"GPU0", "CPU"};
    const TensorId h = s.node("h", Op::MUL_MAT, {s.weight("w", "CPU"), s.input("x")});
    s.node("attention", Op::FLASH_ATTN_EXT, {h, h, h, h, s.weight("sinks", "GPU0")});
    EXPECT_EQ(Planned(s)["attention"], "CPU 2.sup");
    EXPECT_EQ(Planned(s, with(&PlannerRules::flash_follows_weights, true))["attention"], "GPU0 1.wgt4"); // before #25832
}

TEST(Rules, OfAViewsBuffer) {
    Sketch s{"GPU0", "CPU"};
    s.view("view", Op::VIEW, s.allocated("cache", "GPU0"));
    EXPECT_EQ(Planned(s)["view"], "GPU0 1.dst");
    EXPECT_EQ(Planned(s, with(&PlannerRules::views_lack_buffers, true))["view"], "GPU0 1.vsrc"); // before #10358
    EXPECT_EQ(Planned(s, with(&PlannerRules::views_wait, true))["view"], "GPU0 4.vsrc");         // for some days from then
}

TEST(Rules, OfOffload) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    s.can_use("CPU", "GPU1").refuse("GPU1", {Op::MUL_MAT}).offers_offload("GPU0", {Op::MUL_MAT});
    s.node("y", Op::MUL_MAT, {s.weight("w", "GPU1"), s.input("x")}); // in memory that is no host's, read by the CPU alone
    EXPECT_EQ(Planned(s)["y"], "CPU 1.wgt0");
    EXPECT_EQ(Planned(s, with(&PlannerRules::offloads_any_memory, true))["y"], "GPU0 1.off"); // before #11120, #11124

    Sketch host{"GPU0", "CPU"};
    host.offers_offload("GPU0", {Op::MUL_MAT});
    host.node("y", Op::MUL_MAT, {host.weight("w", "CPU"), host.input("x")});
    PlanOptions no;
    no.op_offload = false;
    EXPECT_EQ(Planned(host, no)["y"], "CPU 1.wgt0");
    no.rules.always_offloads = true; // before #13386
    EXPECT_EQ(Planned(host, no)["y"], "GPU0 1.off");
}

TEST(Rules, OfPinsInReserves) {
    Sketch s{"GPU0", "CPU"};
    const TensorId y = s.node("y", Op::ADD, {s.weight("w", "GPU0"), s.input("x")});
    s.at(y).user_backend = 1;
    PlanOptions reserve;
    reserve.reserve = true;
    EXPECT_EQ(Planned(s, reserve)["y"], "CPU usr");
    reserve.rules.reserve_forgets_pins = true; // from #15696 to #17232
    EXPECT_EQ(Planned(s, reserve)["y"], "GPU0 1.wgt0");
    reserve.reserve = false;
    EXPECT_EQ(Planned(s, reserve)["y"], "CPU usr");
}

TEST(Rules, OfTheEndOfPass4) {
    Sketch s{"GPU0", "CPU"};
    s.view("view", Op::VIEW, s.leaf("nowhere"));
    EXPECT_EQ(Planned(s)["view"], "GPU0 2.sup");
    EXPECT_EQ(Planned(s, with(&PlannerRules::leaves_unassigned, true))["view"], "- 4.vsrc"); // before #15118
}

/// With an input in its split a weight elsewhere began another one, although it can be read there.
TEST(Rules, OfWeightsThatBeginSplits) {
    Sketch s{"GPU0", "GPU1", "CPU"};
    s.can_use("GPU1", "GPU0");
    const TensorId h = s.node("h", Op::ADD, {s.weight("v", "GPU1"), s.input("in")});
    s.at(s.node("y", Op::MUL, {h, s.weight("w", "GPU0")})).user_backend = 1;
    EXPECT_EQ(Planned(s).splits(), "GPU1[0,2) first: in");
    const PlanOptions before = with(&PlannerRules::readable_weights_split, true); // before #10026
    EXPECT_EQ(Planned(s, before).splits(), "GPU1[0,1) first: in | GPU1[1,2) weight:");
}

TEST(Rules, OfTheRoomForInputs) {
    for (const auto& [room, splits] : {std::pair{0, 1}, std::pair{30, 2}, std::pair{10, 4}}) { // #22789, #15722
        Sketch s{"GPU0", "CPU"};
        TensorId sum = s.node("first", Op::ADD, {s.weight("w", "GPU0"), s.input("x")});
        for (int i = 0; i < 32; ++i) {
            sum = s.node("sum" + std::to_string(i), Op::ADD, {sum, s.input("x" + std::to_string(i))});
            s.at(sum).user_backend = 0;
        }
        Planned p(s);
        p.carry.input_capacity.assign(1, 64); // as a larger graph left it
        p.again(with(&PlannerRules::split_inputs, room));
        EXPECT_EQ(static_cast<int>(p.plan.splits.size()), splits) << room;
    }
}

TEST(Rules, OfChunks) {
    Arena arena;
    const auto second_at = [&](const PlannerRules& rules) {
        arena.reset(1, 100, rules);
        arena.take(80);
        return arena.take(60).chunk;
    };
    EXPECT_EQ(second_at({}), 1);
    PlannerRules rules;
    rules.one_chunk = true; // before #15815
    EXPECT_EQ(second_at(rules), 0);

    const auto third_at = [&](const PlannerRules& r) {
        arena.reset(1, 100, r);
        arena.take(50);
        const Arena::Place second = arena.take(90); // a chunk of its own
        arena.give_back(second, 90);
        return arena.take(40).chunk;
    };
    EXPECT_EQ(third_at({}), 1); // which need not grow
    PlannerRules first;
    first.first_open_chunk = true; // from #15815 to #16788
    EXPECT_EQ(third_at(first), 0);
}

/// Where the third tensor lies, in the memory of a graph whose second node runs in place of the first, which needs more bytes.
int64_t third_offset(const PlannerRules& rules) {
    Sketch s{"CPU"};
    const TensorId x = s.input("x");
    const TensorId large = s.node("large", Op::MUL_MAT, {x, x});
    const TensorId small = s.node("small", Op::SQR, {large});
    const TensorId other = s.node("other", Op::MUL_MAT, {x, small});
    s.at(s.node("end", Op::MUL_MAT, {other, small})).flags |= flag_output;
    PlanOptions options;
    options.rules = rules;
    Planned p(s, options);
    p.plan.bytes[static_cast<size_t>(large)] = 1024; // as its buffer type says
    MemoryPlanner planner;
    for (const PlacedTensor& t :
         planner.place(s.graph.view(), p.plan, s.graph.nodes, s, s.session.buffer_types, nullptr).tensors) {
        if (t.tensor == other) {
            return t.offset;
        }
    }
    return -1;
}

TEST(Rules, OfWhatIsLeftOfAPlace) {
    PlannerRules rules;
    EXPECT_EQ(third_offset(rules), 512); // behind the input and what the node needs
    rules.tails_are_lost = true;         // before #16679
    EXPECT_EQ(third_offset(rules), 1280);
}

TEST(Rules, OfFill) {
    const auto fill_at = [](bool moves) {
        Sketch s{"CPU"};
        const TensorId x = s.node("x", Op::SQR, {s.input("in")});
        const TensorId fill = s.node("fill", Op::FILL, {x});
        PlanOptions options;
        options.rules.fill_moves = moves;
        Planned p(s, options);
        MemoryPlanner planner;
        for (const PlacedTensor& t :
             planner.place(s.graph.view(), p.plan, s.graph.nodes, s, s.session.buffer_types, nullptr).tensors) {
            if (t.tensor == fill) {
                return t.in_place_of != no_tensor;
            }
        }
        return false;
    };
    EXPECT_TRUE(fill_at(false));
    EXPECT_FALSE(fill_at(true)); // before #17870
}

TEST(Rules, HaveAges) {
    const std::span<const RulesAge> ages = rules_ages();
    EXPECT_EQ(ages[1].rules, PlannerRules()); // this program's own
    for (size_t i = 1; i < ages.size(); ++i) {
        EXPECT_NE(ages[i].rules, ages[i - 1].rules);
        EXPECT_EQ(ages[i].last_build + 1, ages[i - 1].first_build);
        EXPECT_EQ(rules_of_builds({ages[i].last_build, ages[i].last_build}).data(), &ages[i]);
        for (size_t j = 0; j <= i; ++j) {
            EXPECT_EQ(rules_named(rules_name(ages[j], ages[i])), &ages[j]);
        }
    }
    EXPECT_EQ(rules_of_builds({1, 1}).front().rules.split_inputs, 10);
    EXPECT_EQ(rules_name(ages.front(), ages.back()), "every build");
    EXPECT_EQ(rules_named("v0.5.0"), nullptr);
    EXPECT_EQ(text_of(BuildSpan{6673, 6673}), "b6673");
}

TEST(Rules, AreThoseOfTheBuildsThatItMayBe) {
    const auto ages_of = [](std::string_view text) {
        const std::optional<BuildSpan> builds = read_builds(text);
        const auto ages = builds ? rules_of_builds(*builds) : std::span<const RulesAge>();
        return ages.empty() ? "none" : rules_name(ages.front(), ages.back());
    };
    EXPECT_EQ(ages_of("b6673"), "b6567..b6804");
    EXPECT_EQ(ages_of("6673"), "b6567..b6804");
    EXPECT_EQ(ages_of("b3890..b4109"), "up to b4114");
    EXPECT_EQ(ages_of("b3995..b4109"), "b3992..b4114");
    EXPECT_EQ(ages_of("..b3909"), "up to b3991");
    EXPECT_EQ(ages_of("b8180..b10360"), "b7335..b10361");
    EXPECT_EQ(ages_of("b10361.."), "b10325 and later");
    EXPECT_EQ(ages_of("b10362.."), "b10362 and later");
    EXPECT_EQ(ages_of(".."), "every build");
    for (const char* const text : {"", "v0.5.0", "b", "b1..x", "b1..2..3"}) {
        EXPECT_EQ(ages_of(text), "none") << text;
    }
}

} // namespace
} // namespace schedscope::test
