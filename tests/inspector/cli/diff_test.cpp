// diff: two recordings compared, as text and as JSON.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"

#include <gmock/gmock.h>

#include <set>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> on_cpu = {"--device", "cpu"};

Recorded recorded_with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Recorded(arguments);
}

/// The kinds of the differences.
std::set<std::string> kinds(const json& result) {
    std::set<std::string> kinds;
    for (const json& d : result["differences"]) {
        kinds.insert(d["what"]);
    }
    return kinds;
}

void expect_identical(const Recorded& a, const Recorded& b) {
    const Outcome text = a.read("diff", {b.path()});
    EXPECT_EQ(text.code, 0) << text.out;
    EXPECT_THAT(text.out, StartsWith("identical: 3 evaluations, "));
    EXPECT_EQ(text.err, "");
    const json result = a.json("diff", {b.path()});
    EXPECT_EQ(result["identical"], true);
    EXPECT_EQ(result["differences"], json::array());
    EXPECT_EQ(result["evaluations"], 3);
    EXPECT_GT(result["decisions"], 500);
}

TEST(Diff, ATraceIsItself) {
    const Recorded recorded(on_cpu);
    expect_identical(recorded, recorded);
}

TEST(Diff, SaysWhatItsDecisionsAre) {
    EXPECT_THAT(run({"diff", "--help"}).out, HasSubstr("Decisions are counted once for all evaluations that run a plan"));
}

TEST(Diff, TheSameRunAgainIsIdentical) {
    expect_identical(Recorded(on_cpu), Recorded(on_cpu));
    if (has_device("Vulkan0")) {
        const std::vector<std::string> split = {"--device", "vulkan0,cpu", "-ngl", "3"};
        expect_identical(Recorded(split), Recorded(split));
    }
}

TEST(Diff, FlashAttentionChangesTheAttentionAlone) {
    const Recorded on = recorded_with(on_cpu, {"-fa", "on"}), off = recorded_with(on_cpu, {"-fa", "off"});
    const Outcome text = on.read("diff", {off.path()});
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.out, HasSubstr("flash_attention  on → off\n"));
    EXPECT_THAT(text.out, HasSubstr("blk.0…4: kq: only in b: MUL_MAT"));
    const json result = on.json("diff", {off.path()});
    EXPECT_EQ(result["identical"], false);
    EXPECT_THAT(kinds(result), Contains("node"));
    EXPECT_THAT(kinds(result), Not(AnyOf(Contains("assignment"), Contains("token"), Contains("prompt"))));
    for (const json& d : result["differences"]) {
        if (d["what"] == "node") { // weights, products and norms are in both
            EXPECT_THAT(d["op"].get<std::string>(), Not(AnyOf("NONE", "RMS_NORM", "ROPE", "ADD", "GLU"))) << d;
        }
    }
}

TEST(Diff, WithoutFusionNothingElseChanges) {
    const Recorded fused(on_cpu), plain = recorded_with(on_cpu, {"--no-fusion"});
    const json result = fused.json("diff", {plain.path()});
    EXPECT_THAT(kinds(result), Contains("fusion"));
    for (const std::string& kind : kinds(result)) {
        EXPECT_THAT(kind, AnyOf("fusion", "not_fused", "reorder")) << kind;
    }
    EXPECT_THAT(result["settings"], Contains(json{{"name", "fusion"}, {"a", "on"}, {"b", "off"}}));
}

TEST(Diff, AnotherCacheTypeIsAnotherTypeOfTheSameTensors) {
    const Recorded half(on_cpu), full = recorded_with(on_cpu, {"-ctk", "f32"});
    const json result = half.json("diff", {full.path()});
    EXPECT_THAT(kinds(result), Contains("type"));
    EXPECT_THAT(kinds(result), Not(AnyOf(Contains("node"), Contains("source"), Contains("assignment"))));
    for (const json& d : result["differences"]) {
        if (d["what"] == "type") {
            EXPECT_EQ(d["a"], "f16");
            EXPECT_EQ(d["b"], "f32");
            EXPECT_THAT(d["tensor"].get<std::string>(), StartsWith("cache_k_l"));
        }
    }
    const Outcome text = half.read("diff", {full.path(), "--eval", "0"});
    EXPECT_THAT(text.out, HasSubstr("blk.0…4: cache_k"));
    EXPECT_THAT(text.out, Not(HasSubstr("evaluation 1,")));
}

TEST(Diff, AnotherBatchIsTheSameGraphInAnotherShape) {
    const Recorded a(on_cpu, 40), b(on_cpu, 20);
    const json result = a.json("diff", {b.path(), "--eval", "0"});
    EXPECT_EQ(result["evaluations"], 1);
    EXPECT_THAT(kinds(result), Contains("shape"));
    EXPECT_THAT(kinds(result), Contains("prompt"));
    EXPECT_THAT(kinds(result), Not(AnyOf(Contains("node"), Contains("source"), Contains("type"))));
}

TEST(Diff, MoreTokensAreEvaluationsThatOnlyOneHas) {
    const Recorded a(on_cpu);
    const std::string b = a.folder() / "longer.trace";
    ASSERT_EQ(
        run({"record", "-m", model(), "--tokens", prompt_ids(40), "-n", "5", "--temp", "0", "--device", "cpu", "-o", b}).code, 0);
    const json result = a.json("diff", {b});
    EXPECT_EQ(kinds(result), (std::set<std::string>{"evaluation", "token"}));
    for (const json& d : result["differences"]) {
        EXPECT_TRUE(d["a"].is_null()) << d;
        EXPECT_TRUE(d["eval"].is_null()) << d;
        EXPECT_FALSE(d["b"].is_null()) << d;
    }
    EXPECT_EQ(result["differences"].size(), 4U);
    const std::string text = a.read("diff", {b}).out, reversed = run({"diff", b, a.path()}).out;
    EXPECT_THAT(text, HasSubstr("different: 4 differences; 2 evaluations are only in b\n"));
    EXPECT_THAT(reversed, HasSubstr("different: 4 differences; 2 evaluations are only in a\n"));
    EXPECT_THAT(text, HasSubstr("\nevaluations 3,4 of b, decode of 1 token\n  only in b (2 evaluations)\n"));
    EXPECT_THAT(reversed, HasSubstr("\nevaluations 3,4 of a, decode of 1 token\n  only in a (2 evaluations)\n"));
    EXPECT_THAT(a.read("diff", {b, "--all"}).out, HasSubstr("\nevaluation 4 of b, decode of 1 token\n  only in b\n"));
}

TEST(Diff, MoreLayersOnTheDevice) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const std::vector<std::string> devices = {"--device", "vulkan0,cpu"};
    const Recorded three = recorded_with(devices, {"-ngl", "3"}), six = recorded_with(devices, {"-ngl", "6"});
    const Outcome text = three.read("diff", {six.path()});
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.out, HasSubstr("n_gpu_layers  3 → 6\n"));
    EXPECT_THAT(text.out, HasSubstr("blk.0…2: "));
    EXPECT_THAT(text.out, HasSubstr(": CPU → Vulkan0 by 1.dst (51 tensors)\n"));
    const json result = three.json("diff", {six.path()});
    EXPECT_THAT(kinds(result), ::testing::IsSupersetOf({"assignment", "cause", "split", "copy", "buffer", "placement"}));
    EXPECT_THAT(kinds(result), Not(AnyOf(Contains("node"), Contains("shape"), Contains("token"))));
    bool found = false;
    for (const json& d : result["differences"]) {
        if (d["what"] == "assignment" && d["tensor"] == "attn_norm-0" && d["eval"] == 1) {
            found = true;
            EXPECT_EQ(d["a"], "CPU");
            EXPECT_EQ(d["b"], "Vulkan0");
            EXPECT_EQ(d["cause_a"], "1.wgt1");
            EXPECT_EQ(d["cause_b"], "1.wgt1");
            EXPECT_EQ(d["pass_a"], "1");
            EXPECT_EQ(d["by_a"], "blk.0.attn_norm.weight");
        }
    }
    EXPECT_TRUE(found);

    const Outcome all = three.read("diff", {six.path(), "--all"});
    EXPECT_THAT(all.out, HasSubstr("    blk.0.attn_q.weight: CPU → Vulkan0 by 1.dst\n"));
    EXPECT_EQ(count(all.out, ": CPU → Vulkan0 by 1.dst\n"), 2 * 51U);
}

TEST(Diff, StagesAreMoreCopies) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const std::vector<std::string> devices = {"--device", "vulkan0,vulkan0,cpu"};
    const Recorded one(devices), four = recorded_with(devices, {"--stages", "4"});
    const json result = one.json("diff", {four.path()});
    EXPECT_EQ(one.read("diff", {four.path()}).code, 1);
    std::set<int> stages;
    for (const json& d : result["differences"]) {
        if (d["what"] == "copy") {
            EXPECT_TRUE(d["a"].is_null()) << d;
            stages.insert(d["stage_b"].get<int>());
        }
    }
    EXPECT_THAT(stages, ::testing::IsSupersetOf({1, 2, 3}));
    EXPECT_THAT(one.read("diff", {four.path()}).out, HasSubstr("stages 1…3"));
}

TEST(Diff, TimesAreShownWhenAskedFor) {
    const Recorded a(on_cpu), b(on_cpu);
    EXPECT_THAT(a.read("diff", {b.path()}).out, Not(HasSubstr("time of")));
    const Outcome text = a.read("diff", {b.path(), "--times"});
    EXPECT_EQ(text.code, 0);
    for (const char* part : {"time of", "b / a", "prefill, all", "decode, all", "split at embd, evaluation 0"}) {
        EXPECT_THAT(text.out, HasSubstr(part));
    }
    const json times = a.json("diff", {b.path()})["times"];
    ASSERT_FALSE(times.empty());
    EXPECT_EQ(times[0]["what"], "total");
    EXPECT_GT(times[0]["a_ns"], 0);
    EXPECT_EQ(times[0]["tokens_a"], 40);
    EXPECT_GT(times[0]["ratio"], 0);
}

TEST(Diff, WhatCantBeCompared) {
    const Recorded recorded(on_cpu);
    const std::string missing = recorded.folder() / "missing", broken = recorded.folder() / "broken";
    write_bytes(broken, read_bytes(recorded.path()).substr(0, 5000));
    EXPECT_EQ(recorded.read("diff", {missing}).code, 3);
    EXPECT_EQ(recorded.read("diff", {broken}).code, 3);
    EXPECT_EQ(recorded.read("diff", {model()}).code, 3);
    EXPECT_EQ(recorded.read("diff").code, 2);
    const Outcome out_of_range = recorded.read("diff", {recorded.path(), "--eval", "3"});
    EXPECT_EQ(out_of_range.code, 2);
    EXPECT_EQ(out_of_range.err, "schedscope: --eval 3: the first trace has evaluations 0…2\n");
    const Outcome help = run({"diff", "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("no two runs take the same time"));
}

} // namespace
} // namespace schedscope::test
