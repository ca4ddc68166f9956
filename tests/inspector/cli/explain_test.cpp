// explain: the rule, the tensor that made it so, and who refused.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// The name with the id of the first of that name in the evaluation: "Qcur-0@68".
std::string first_of(const Recorded& recorded, const std::string& name, const std::string& evaluation = "0") {
    const json table = recorded.json("show", {"--what", "assignments", "--eval", evaluation});
    for (const json& row : table["assignments"]) {
        if (row["name"] == name) {
            return name + "@" + row["id"].dump();
        }
    }
    return name;
}

/// All answers in a story that say no.
std::vector<json> refusals(const json& story) {
    std::vector<json> all;
    for (const json& step : story["story"]) {
        for (const json& asked : step["asked"]) {
            if (!asked["answer"]) {
                all.push_back(asked);
            }
        }
    }
    return all;
}

/// And by which kernel its product was computed.
TEST(Explain, AWeightIsLaidOutForProductsOrItSaysWhyNot) {
    const Folder folder;
    const std::string model = folder / "m.gguf", trace = folder / "t.trace";
    ASSERT_EQ(run({"synth", "llama", "--preset", "tiny", "--type", "q8_0", "-o", model}).code, 0);
    const auto expect_told = [&](const std::string& products, const std::string& where, const std::string& layout,
                                 const std::string& kernel) {
        ASSERT_EQ(run({"record", "-m", model, "--device", "cpu", "--cpu-products", products, "--tokens", "1,5", "-n", "1",
                       "--temp", "0", "-o", trace, "--force"})
                      .code,
                  0);
        const std::string story = run({"explain", trace, "ffn_out-1"}).out;
        EXPECT_THAT(story, HasSubstr("blk.1.ffn_down.weight: lies in " + where +
                                     ": block 1 of 4 is not offloaded (no other device holds layers); " + layout + "  ["));
        EXPECT_THAT(story, HasSubstr(" as " + kernel + " in "));
    };
    expect_told("int8", "CPU_Repack", "laid out for products", "mul_mat_add_int8");
    expect_told("float", "CPU", "not laid out: as asked for (--no-repack, --cpu-products float)", "mul_mat_add");
}

TEST(Explain, AWeightOnTheHostKeepsItsProductThere) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Recorded recorded({"--device", "vulkan0,cpu", "-ngl", "3", "--no-op-offload"});
    const std::string tensor = first_of(recorded, "Qcur-0");
    const std::string text = recorded.read("explain", {tensor, "--eval", "0"}).out;
    EXPECT_THAT(text, HasSubstr("CPU by 1.wgt0 (blk.0.attn_q.weight)"));
    EXPECT_THAT(text, HasSubstr("Vulkan0 can use CPU memory? no\n"));

    const json story = recorded.json("explain", {tensor, "--eval", "0"});
    EXPECT_EQ(story["tensor"], "Qcur-0");
    EXPECT_EQ("Qcur-0@" + story["id"].dump(), tensor);
    ASSERT_GT(story["story"].size(), 0U);
    const json& step = story["story"][0];
    EXPECT_EQ(step["pass"], "1");
    EXPECT_TRUE(step["before"].is_null());
    EXPECT_EQ(step["after"], "CPU");
    EXPECT_EQ(step["cause"], "1.wgt0");
    EXPECT_EQ(step["by"], "blk.0.attn_q.weight");
    EXPECT_TRUE(step["step"].is_number());
    ASSERT_FALSE(refusals(story).empty());
    const json no = refusals(story)[0];
    EXPECT_EQ(no["backend"], "Vulkan0");
    EXPECT_EQ(no["question"], "buffer_type");
    EXPECT_TRUE(no["why"].is_string());
}

TEST(Explain, AWeightOnTheDeviceTakesItsProductThere) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Recorded recorded({"--device", "vulkan0,cpu", "-ngl", "3"});
    const json story = recorded.json("explain", {first_of(recorded, "Qcur-4"), "--eval", "0"});
    EXPECT_EQ(story["story"][0]["after"], "Vulkan0");
    EXPECT_EQ(story["story"][0]["cause"], "1.wgt0");
    EXPECT_EQ(story["story"][0]["by"], "blk.4.attn_q.weight");
}

TEST(Explain, AnOffloadNamesTheWeightAndTheQuestion) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Recorded recorded({"--device", "vulkan0,cpu", "-ngl", "3"});
    const std::string tensor = first_of(recorded, "Qcur-0");
    const std::string text = recorded.read("explain", {tensor, "--eval", "0"}).out;
    EXPECT_THAT(text, HasSubstr("Vulkan0 by 1.off (blk.0.attn_q.weight)"));
    EXPECT_THAT(text, HasSubstr("Vulkan0 wants to take it over? yes"));
    EXPECT_THAT(text, HasSubstr("begins on Vulkan0 with Qcur-0"));
    // One token is too few: the same tensor stays on the host then.
    const std::string decode = recorded.read("explain", {first_of(recorded, "Qcur-0", "1"), "--eval", "1"}).out;
    EXPECT_THAT(decode, HasSubstr("CPU by 1.wgt0 (blk.0.attn_q.weight)"));
    EXPECT_THAT(decode, HasSubstr("Vulkan0 wants to take it over? no"));
}

TEST(Explain, ALibraryThatCanNotSaysWhy) {
    const Recorded recorded({"--device", "blas,cpu", "-fa", "off"});
    const std::string text = recorded.read("explain", {"kq-0", "--eval", "0"}).out;
    EXPECT_THAT(text, HasSubstr("BLAS runs this operator? no: layout: a source is not contiguous"));
    bool refused = false;
    const json story = recorded.json("explain", {"kq-0", "--eval", "0"});
    for (const json& no : refusals(story)) {
        refused = refused || (no["backend"] == "BLAS" && no["question"] == "op" && no["why"].is_string());
    }
    EXPECT_TRUE(refused);
    // With a single row it does not take a product that it took with forty.
    EXPECT_THAT(recorded.read("explain", {first_of(recorded, "Qcur-0", "1"), "--eval", "1"}).out,
                HasSubstr("BLAS runs this operator? no: "));
}

TEST(Explain, OfSeveralOfOneNameTellsTheFirstThatComputesAndWhereTheOthersAre) {
    const Recorded recorded({"--device", "cpu"});
    const json table = recorded.json("show", {"--what", "assignments"});
    for (const std::string name : {"norm-0", "Qcur-1"}) { // both compute; a product, its reshape, its rope
        std::vector<json> rows;
        std::copy_if(table["assignments"].begin(), table["assignments"].end(), std::back_inserter(rows),
                     [&](const json& row) { return row["name"] == name; });
        ASSERT_GT(rows.size(), 1U);
        EXPECT_EQ(rows.size(), name == "norm-0" ? 2U : 3U);
        const json story = recorded.json("explain", {name});
        EXPECT_EQ(story["id"], rows[0]["id"]);
        ASSERT_EQ(story["namesakes"].size(), rows.size() - 1);
        const Outcome text = recorded.read("explain", {name});
        EXPECT_EQ(text.code, 0);
        EXPECT_EQ(text.err, "");
        const std::string told = name + "@" + rows[0]["id"].dump();
        EXPECT_EQ(text.out.find(told), 0U);
        EXPECT_THAT(text.out, HasSubstr("same name      told is " + told + ", the first that computes; "));
        for (size_t i = 1; i < rows.size(); ++i) {
            EXPECT_EQ(story["namesakes"][i - 1]["id"], rows[i]["id"]);
            EXPECT_EQ(story["namesakes"][i - 1]["op"], rows[i]["op"]);
            EXPECT_EQ(story["namesakes"][i - 1]["backend"], rows[i]["backend"]);
            EXPECT_EQ(story["namesakes"][i - 1]["cause"], rows[i]["cause"]);
            const std::string which = name + "@" + rows[i]["id"].dump();
            EXPECT_THAT(text.out, HasSubstr(which + " (" + rows[i]["op"].get<std::string>() + ")"));
            const json own = recorded.json("explain", {which});
            EXPECT_EQ(own["id"], rows[i]["id"]);
            EXPECT_EQ(own["namesakes"].size(), 0U);
        }
    }
    EXPECT_THAT(recorded.read("explain", {"Qcur-1"}).out, HasSubstr(" on CPU by 4.vsrc\n")) << "the reshape follows the product";
    EXPECT_THAT(recorded.read("explain", {first_of(recorded, "Qcur-1")}).out, Not(HasSubstr("same name")));
    EXPECT_EQ(recorded.read("explain", {"norm-0@0"}).code, 2);
}

TEST(Explain, OfSeveralOfOneNameTellsWhereEachRunsInAnotherPlan) {
    const std::string sample = paths::source("traces/samples/partial-offload.trace");
    EXPECT_THAT(run({"explain", sample, "norm-1"}).out, HasSubstr("\nbut            on CPU in evaluation 1, decode: --eval 1\n"));
}

TEST(Explain, EveryTensorHasAStory) {
    const Recorded recorded({"--device", "blas,cpu", "-fa", "off"}, 33);
    const json rows = recorded.json("show", {"--what", "assignments", "--eval", "0"})["assignments"];
    ASSERT_GT(rows.size(), 180U);
    for (size_t i = 0; i < rows.size(); i += 7) {
        const std::string which = rows[i]["name"].get<std::string>() + "@" + rows[i]["id"].dump();
        const json story = recorded.json("explain", {which, "--eval", "0"});
        ASSERT_TRUE(story.is_object()) << which;
        ASSERT_FALSE(story["story"].empty() && !rows[i]["cause"].is_null()) << which;
        if (!story["story"].empty()) {
            EXPECT_EQ(story["story"].back()["after"], rows[i]["backend"]) << which;
        }
    }
}

/// A prompt's nodes run where a decode's do not.
TEST(Explain, TellsWhereItRunsInTheLastPlanOfAnotherKind) {
    const std::string sample = paths::source("traces/samples/partial-offload.trace");
    EXPECT_THAT(run({"explain", sample, "ffn_up-1"}).out,
                EndsWith("\nbut            on CPU in evaluation 1, decode: --eval 1\n"));
    EXPECT_THAT(run({"explain", sample, "ffn_up-1", "--eval", "0"}).out, Not(HasSubstr("\nbut ")));
    EXPECT_THAT(run({"explain", sample, "ffn_up-3"}).out, Not(HasSubstr("\nbut "))) << "on the device in both";
}

TEST(Explain, TellsWhoPinnedANorm) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Recorded few({"--device", "vulkan0,cpu", "-ngl", "3"}, 8), many({"--device", "vulkan0,cpu", "-ngl", "3"}, 40),
        all({"--device", "vulkan0,cpu", "-ngl", "99"}, 40);
    const auto story = [](const Recorded& recorded) {
        return recorded.read("explain", {first_of(recorded, "norm-4"), "--eval", "0"}).out;
    };
    EXPECT_THAT(story(few), HasSubstr("Vulkan0 by usr"));
    EXPECT_THAT(
        story(few),
        HasSubstr("placed         pinned to Vulkan0: norms of a layer are pinned to its device when the batch has fewer"));
    EXPECT_THAT(story(many), HasSubstr("placed         not pinned to its layer's device: the batch has 32 tokens or more"));
    EXPECT_THAT(story(all),
                HasSubstr("pinned to Vulkan0: norms of a layer are pinned to its device when all layers are offloaded"));
}

TEST(Explain, TellsWhoPlacedAWeight) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Recorded recorded({"--device", "vulkan0,cpu", "-ngl", "3", "-ot", "ffn_up=CPU", "--no-op-offload"});
    const auto story = [&](const std::string& name) {
        return recorded.read("explain", {first_of(recorded, name), "--eval", "0"}).out;
    };
    EXPECT_THAT(story("ffn_up-4"), HasSubstr("blk.4.ffn_up.weight: lies in CPU: -ot ffn_up=CPU"));
    EXPECT_THAT(story("blk.4.ffn_up.weight"), HasSubstr("lies in CPU: -ot ffn_up=CPU"));
    EXPECT_THAT(story("ffn_gate-4"),
                HasSubstr("blk.4.ffn_gate.weight: lies in Vulkan0: block 4 of 5 is offloaded to Vulkan0 (-ngl 3)"));
    EXPECT_THAT(story("Qcur-0"), HasSubstr("blk.0.attn_q.weight: lies in CPU: block 0 of 5 is not offloaded (-ngl 3)"));
    EXPECT_THAT(story("token_embd.weight"), HasSubstr("lies in CPU: the token embedding is looked up on the host"));
}

TEST(Explain, TellsOfACacheOnTheHost) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    const Recorded recorded({"--device", "vulkan0,cpu", "-nkvo"});
    EXPECT_THAT(recorded.read("explain", {"cache_k_l0", "--eval", "0"}).out,
                HasSubstr("lies in CPU: the KV cache is kept on the host (-nkvo)"));
}

/// A tied output weight: a device that has the output layer has a copy of the embedding's.
TEST(Explain, OfAWeightThatAnotherSettingMakesOneWithItsTwin) {
    const Folder folder;
    const std::string tied = folder / "m.gguf", trace = folder / "t.trace", name = "token_embd.weight";
    ASSERT_EQ(run({"synth", "gemma2", "--preset", "tiny", "--header-only", "-o", tied}).code, 0);
    ASSERT_EQ(run({"record", "-m", tied, "--dry-run", "--device", "gpu=vulkan:2GiB,cpu", "--tokens", "1,2", "-o", trace}).code,
              0);
    const json table = json::parse(run({"show", trace, "--what", "assignments", "--eval", "0", "--all", "--json"}).out);
    std::vector<json> of_output; // what would move the one on the device
    for (const json& row : table["assignments"]) {
        if (row["name"] == name && row["backend"] == "gpu") {
            const Outcome told = run({"explain", trace, name + "@" + row["id"].dump(), "--eval", "0", "--json"});
            of_output = json::parse(told.out)["otherwise"].get<std::vector<json>>();
        }
    }
    ASSERT_EQ(of_output.size(), 2U);
    std::string said;
    for (const json& lever : of_output) {
        EXPECT_EQ(lever["backend"], "CPU");
        said += lever["words"].get<std::string>() + "\n";
    }
    EXPECT_THAT(said, HasSubstr("-ot 'token_embd\\.weight=CPU' (then it is one with the other tensor of this name)\n"));
    EXPECT_THAT(said, HasSubstr("-ngl 0"));
}

} // namespace
} // namespace schedscope::test
