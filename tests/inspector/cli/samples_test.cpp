// The samples beside the sources: each opens, is planned again alike, can be drawn, and shows what it is there for.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

using paths::sample;

json sample_shown(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"show", sample(name), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
}

/// Nodes on each backend in an evaluation.
std::set<std::string> backends(const std::string& name, const std::string& evaluation) {
    std::set<std::string> found;
    const json table = sample_shown(name, {"--what", "splits", "--eval", evaluation});
    for (const json& split : table["splits"]) {
        found.insert(split["backend"].get<std::string>());
    }
    return found;
}

class Sample : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Each, Sample,
                         ::testing::Values("all-cpu", "partial-offload", "experts-offload", "llava-1.6", "mixed-sampling",
                                           "pipeline"),
                         [](const auto& info) { return as_test_name(info.param); });

TEST_P(Sample, IsPlannedAgainAlikeAndDrawn) {
    const Outcome again = run({"replay", sample(GetParam())});
    EXPECT_EQ(again.code, 0) << again.out << again.err;
    EXPECT_EQ(again.err, "") << "it is of this program's format, and whole";
    for (const char* view : {"splits", "layers", "nodes", "memory"}) {
        const Outcome picture = run({"dot", sample(GetParam()), "--view", view});
        EXPECT_EQ(picture.code, 0) << picture.err;
        EXPECT_THAT(picture.out, ::testing::StartsWith("digraph"));
    }
    EXPECT_EQ(run({"explain", sample(GetParam()), "attn_norm-0"}).code, 0);
    EXPECT_EQ(sample_shown(GetParam())["failed"], 0);
}

TEST(Samples, ExplainNamesACauseThatHasNamesakesByItsId) {
    const std::string trace = sample("partial-offload");
    const json table = sample_shown("partial-offload", {"--what", "assignments"});
    std::map<std::string, std::string> id_of; // of each Qcur-0, by its operator
    for (const json& row : table["assignments"]) {
        if (row["name"] == "Qcur-0") {
            id_of[row["op"]] = row["id"].dump();
        }
    }
    const Outcome view = run({"explain", trace, "Qcur-0@" + id_of["RESHAPE"]});
    EXPECT_THAT(view.out, HasSubstr("by 4.vsrc (Qcur-0@" + id_of["MUL_MAT"] + "): ")) << view.err;
    const json as_json = json::parse(run({"explain", trace, "Qcur-0@" + id_of["RESHAPE"], "--json"}).out);
    const json decision = as_json["story"].back();
    EXPECT_EQ(decision["by"], "Qcur-0");
    EXPECT_EQ(decision["by_id"].dump(), id_of["MUL_MAT"]);
    // By its number, as the inspector's list and the splits' first and last nodes count.
    EXPECT_EQ(json::parse(run({"explain", trace, "#3", "--json"}).out)["id"].dump(), id_of["MUL_MAT"]);

    const Outcome misspelt = run({"explain", trace, "attn_nrom-0"});
    EXPECT_EQ(misspelt.code, 2);
    EXPECT_EQ(misspelt.out, "");
    EXPECT_EQ(misspelt.err, "schedscope: tensor 'attn_nrom-0': none in evaluation 0; did you mean attn_norm-0, attn_norm-1 or "
                            "attn_norm-2?\n");
}

TEST(Samples, SplitsNameTheNodesThatStartThem) {
    const std::string trace = sample("partial-offload");
    const json table = sample_shown("partial-offload", {"--what", "splits"});
    const std::string text = run({"show", trace, "--what", "splits"}).out;
    ASSERT_EQ(table["splits"].size(), 24U);
    for (const json& split : table["splits"]) {
        const json node = json::parse(run({"explain", trace, "#" + split["first_node"].dump(), "--json"}).out);
        EXPECT_EQ(split["node"], node["tensor"]);
        EXPECT_EQ(split["node_id"], node["id"]);
        const std::string index = split["index"].dump();
        const size_t at = text.find((index.size() == 1 ? "\n " : "\n") + index + "  ");
        ASSERT_NE(at, std::string::npos) << index << '\n' << text;
        const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
        EXPECT_THAT(line, HasSubstr("  " + split["node"].get<std::string>() + " "));
        EXPECT_THAT(line, HasSubstr(" " + split["why"].get<std::string>() + " "));
    }
}

/// What only one of two programs knows of its settings is one line, unless all is asked for.
TEST(Samples, DiffFoldsSettingsThatOneSideKnows) {
    const std::vector<std::string> diff{"diff", sample("partial-offload"), sample("llama-cpp")};
    const std::string text = run(diff).out;
    EXPECT_THAT(text, HasSubstr("\n29 settings are known of one only: model, name, "));
    EXPECT_THAT(
        text,
        HasSubstr(", cpu_lays_out of a; program, ggml_library, ggml_build_id, build, ggml_version, ggml_commit of b (--all"));
    EXPECT_THAT(text, HasSubstr("\nbackend CPU "));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("(not said)")));
    std::vector<std::string> all = diff;
    all.emplace_back("--all");
    EXPECT_THAT(run(all).out, HasSubstr("\nflash_attention        on → (not said)\n"));
    std::vector<std::string> as_json = diff;
    as_json.emplace_back("--json");
    EXPECT_EQ(json::parse(run(as_json).out)["settings"].size(), 30U);
}

/// What ran comes before what only reserved memory, and an evaluation's title tells what it is in both.
TEST(Samples, DiffBeginsWithThePrompt) {
    const std::string text = run({"diff", sample("llama-cpp"), sample("profiles")}).out;
    const size_t prompt =
        text.find("\nevaluation 26 of a, 4 of b, prefill of 40 tokens in a, prefill of 8 tokens in b\n  prompt\n"
                  "    tokens: 40 → 8 (in number)\n");
    ASSERT_NE(prompt, std::string::npos) << text;
    const size_t reserve = text.find(", reserve of ");
    ASSERT_NE(reserve, std::string::npos);
    EXPECT_EQ(text.find(", prefill of ", reserve), std::string::npos);
    EXPECT_EQ(text.find(", decode of ", reserve), std::string::npos);
    EXPECT_THAT(text, ::testing::ContainsRegex("\n +prefill, evaluation 26 +decode, evaluation 27 +reserve, evaluation 0"));
    EXPECT_THAT(text, ::testing::ContainsRegex("\nfused groups +- +- +-"));
}

/// A program that does not say what it fuses is not said to fuse nothing.
TEST(Samples, FusionOfAnotherProgramIsUnknown) {
    const std::string unknown = "what was fused is unknown: this trace has no records of fusion";
    EXPECT_THAT(run({"show", sample("llama-cpp"), "--what", "fusion"}).out, HasSubstr("\n" + unknown + "\n"));
    EXPECT_EQ(sample_shown("llama-cpp", {"--what", "fusion"})["unknown"], unknown);
    EXPECT_FALSE(sample_shown("partial-offload", {"--what", "fusion"}).contains("unknown"));
    EXPECT_THAT(sample_shown("llama-cpp", {"--what", "kernels"})["unknown"].get<std::string>(), HasSubstr("--what splits"));
}

/// A block that lies elsewhere than the tensor is not why the tensor is where it is.
TEST(Samples, ALeverNamesNoBlockThatIsNotTheReason) {
    EXPECT_THAT(run({"explain", sample("llama-cpp"), "l_out-2"}).out,
                HasSubstr("on CPU with -ngl 2 or less (3 now) together with --no-op-offload"));
}

/// A verdict and a replay count two things, each with its name.
TEST(Samples, SayWhatIsCountedInAPlanMadeAgain) {
    const std::string trace = sample("llama-cpp");
    EXPECT_EQ(run({"replay", trace}).out, "28 plans made again: 10,031 of 10,031 decisions identical, counted pass by pass\n");
    const std::string verdicts = run({"show", trace, "--what", "verdicts"}).out;
    EXPECT_THAT(verdicts, HasSubstr("reproduced: 28 of 28 plans, 8,393 decisions, "));
    EXPECT_THAT(verdicts, HasSubstr("\ndecisions: the backend of each tensor, "));
    EXPECT_THAT(verdicts, HasSubstr("places in memory"));
    EXPECT_THAT(run({"explain", trace, "result_norm"}).out, HasSubstr("393 of 393 decisions, 158 of 158 places in memory, by"));
}

TEST(Samples, TellWhyASettingChangesNothing) {
    const std::vector<std::string> nothing{"replay", sample("partial-offload"), "--set", "offload-min-batch=3"};
    const std::string why = "offload-min-batch=3: the same 18 nodes are taken over";
    const Outcome text = run(nothing);
    EXPECT_EQ(text.code, 0);
    EXPECT_THAT(text.out, HasSubstr("\n" + why + "\n"));
    EXPECT_THAT(text.out, ::testing::EndsWith(" decisions identical, counted pass by pass\n"));
    std::vector<std::string> as_json = nothing;
    as_json.emplace_back("--json");
    EXPECT_EQ(json::parse(run(as_json).out)["why_unchanged"], json({why}));
    as_json.insert(as_json.end(), {"--set", "ngl=0"});
    EXPECT_FALSE(json::parse(run(as_json).out).contains("why_unchanged"));
}

TEST(Samples, AnEvaluationInWhichNothingChangesTakesALine) {
    const Outcome outcome = run({"replay", sample("partial-offload"), "--set", "op-offload=off"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "nodes on CPU "), 1U) << outcome.out; // in the other one's table
    EXPECT_EQ(count(outcome.out, "evaluation 1: "), 1U);
    EXPECT_THAT(outcome.out,
                HasSubstr("\n\nevaluation 1: decode, 1 token: no tensor changes; compute buffer of CPU 65.8 KiB → 242 KiB, "));
    EXPECT_EQ(count(run({"replay", sample("all-cpu"), "--set", "ngl=3"}).out, ": nothing changes\n"), 2U);
}

TEST(Samples, AnEvaluationInWhichOnlyGroupsAndPlacesChangeSaysSo) {
    const std::vector<std::string> off{"replay", sample("partial-offload"), "--set", "fusion=off"};
    const std::string text = run(off).out;
    EXPECT_THAT(text, ::testing::Not(HasSubstr("nothing changes")));
    EXPECT_THAT(text,
                ::testing::ContainsRegex("evaluation 1: decode, 1 token: no tensor changes; fused groups [0-9]+ → 0; decided "
                                         "otherwise: the order of nodes, [0-9]+ places in memory\n"));
    std::vector<std::string> as_json = off;
    as_json.insert(as_json.end(), {"--set", "ngl=0", "--json"});
    const json plan = json::parse(run(as_json).out)["summary"][0];
    EXPECT_GT(plan["recorded"]["fused_groups"], 0);
    EXPECT_EQ(plan["now"]["fused_groups"], 0);
    EXPECT_THAT(run({"replay", sample("partial-offload"), "--set", "ngl=0", "--set", "fusion=off"}).out,
                ::testing::ContainsRegex("\nfused groups +[0-9]+ +0  changed\n"));
}

TEST(Samples, ExplainFindsSettingsThatMoveATensorOnlyTogether) {
    const json product = json::parse(run({"explain", sample("partial-offload"), "ffn_out-2", "--json"}).out);
    ASSERT_FALSE(product["otherwise"].empty());
    for (const json& lever : product["otherwise"]) {
        EXPECT_EQ(lever["sets"].size(), 2U) << lever;
        EXPECT_EQ(lever["set"], nullptr);
        EXPECT_THAT(lever["words"].get<std::string>(), HasSubstr(" together with --no-op-offload"));
    }
    EXPECT_EQ(product["why_no_otherwise"], nullptr);
    EXPECT_THAT(run({"explain", sample("all-cpu"), "ffn_out-3"}).out,
                HasSubstr("\notherwise      no setting: there is no device but the CPU\n"));
}

TEST(Samples, TellWhatCopiesMoved) {
    // Of each layer's experts only those are moved that a token needs.
    const json copies = sample_shown("experts-offload", {"--what", "copies"})["copies"];
    int64_t moved = 0, held = 0;
    bool some_in_part = false;
    for (const json& copy : copies) {
        moved += copy["moved_bytes"].get<int64_t>();
        held += copy["bytes"].get<int64_t>();
        if (!copy["experts"].is_null() && copy["experts"] < copy["experts_total"]) {
            some_in_part = true;
            EXPECT_LT(copy["moved_bytes"], copy["bytes"]) << copy;
        }
    }
    EXPECT_TRUE(some_in_part);
    const json summary = sample_shown("experts-offload");
    EXPECT_EQ(summary["moved_bytes"], moved);
    EXPECT_EQ(summary["copied_bytes"], held);
    EXPECT_LT(moved, held);
    EXPECT_THAT(run({"show", sample("experts-offload")}).out,
                ::testing::ContainsRegex("18 copies \\([0-9.]+ KiB of 337 KiB moved\\)"));
}

/// An input of the graph stands for the copy of the present stage; it does not move.
TEST(Samples, SayOfInputsOfAPipelineThatTheyStay) {
    EXPECT_THAT(run({"replay", sample("partial-offload"), "--set", "stages=4"}).out,
                ::testing::ContainsRegex("\n5 +inp_tokens … [a-z_0-9]+ +[0-9]+ +CPU by 1\\.inp +stays, by 4\\.cpy\n"));
}

TEST(Samples, CountThePipelinesCopiesByStage) {
    std::map<int, int> of_stage;
    int of_inputs = 0;
    const json splits = sample_shown("pipeline", {"--what", "splits"})["splits"],
               copies = sample_shown("pipeline", {"--what", "copies"})["copies"];
    for (const json& copy : copies) {
        ++(copy["split"].is_null() ? of_inputs : of_stage[copy["stage"].get<int>()]);
    }
    int inputs = 0;
    for (const json& split : splits) {
        inputs += static_cast<int>(split["inputs"].size());
    }
    int64_t of_all = 0, of_one = 0;
    for (const json& copy : copies) {
        of_all += copy["bytes"].get<int64_t>();
        of_one += copy["split"].is_null() || copy["stage"] != 0 ? 0 : copy["bytes"].get<int64_t>();
    }
    const json summary = sample_shown("pipeline");
    EXPECT_EQ(summary["copies"], copies.size());
    EXPECT_EQ(summary["copied_bytes"], of_all);
    EXPECT_EQ(summary["inputs"], inputs);
    EXPECT_EQ(summary["input_bytes"], of_one);
    EXPECT_LT(of_one, of_all);
    EXPECT_THAT(run({"show", sample("pipeline")}).out,
                ::testing::ContainsRegex("of the graph \\([0-9.]+ MiB in all; [0-9.]+ KiB moved by one stage\\)"));
    EXPECT_EQ(of_stage, (std::map<int, int>{{0, inputs}, {1, inputs}, {2, inputs}, {3, inputs}}));
    EXPECT_THAT(run({"show", sample("pipeline")}).out,
                ::testing::HasSubstr(std::to_string(copies.size()) + " copies: " + std::to_string(inputs) +
                                     " in each of 4 stages, " + std::to_string(of_inputs) + " more of inputs of the graph ("));
}

TEST(Samples, TellNamesakesApartThatWereFused) {
    const json fusion = sample_shown("experts-offload", {"--what", "fusion"})["fusion"];
    ASSERT_FALSE(fusion.empty());
    const json &first = fusion[0], names = json::array({"norm-0", "attn_norm-0"});
    ASSERT_EQ(first["nodes"], names);
    ASSERT_EQ(first["ids"].size(), 2U);
    const std::string text = run({"show", sample("experts-offload"), "--what", "fusion"}).out; // another norm-0 is of ffn_norm-0
    EXPECT_THAT(text, ::testing::HasSubstr("norm-0@" + first["ids"][0].dump() + " + attn_norm-0 "));
    EXPECT_EQ(json::parse(run({"explain", sample("experts-offload"), "norm-0@" + first["ids"][0].dump(), "--json"}).out)["id"],
              first["ids"][0]);
}

TEST(Samples, ShowWhereNodesRun) {
    EXPECT_EQ(backends("all-cpu", "0"), std::set<std::string>{"CPU"});
    EXPECT_EQ(backends("partial-offload", "0"), (std::set<std::string>{"CPU", "Vulkan0"}));
    EXPECT_EQ(backends("pipeline", "0"), (std::set<std::string>{"CPU", "Vulkan0", "Vulkan0.1"}));
}

TEST(Samples, OfExpertsCopyOnlyThoseThatAreUsed) {
    int used = 0;
    const json table = sample_shown("experts-offload", {"--what", "copies", "--eval", "1"});
    for (const json& copy : table["copies"]) {
        if (copy.contains("experts") && !copy["experts"].is_null()) {
            EXPECT_LT(copy["experts"], copy["experts_total"]);
            ++used;
        }
    }
    EXPECT_GT(used, 0);
}

TEST(Samples, OfImagesHaveEvaluationsOfTheEncoder) {
    std::multiset<std::string> kinds;
    const json table = sample_shown("llava-1.6", {"--what", "reuse"});
    for (const json& row : table["reuse"]) {
        kinds.insert(row["kind"].get<std::string>());
    }
    EXPECT_GE(kinds.count("encoder"), 1U);
    EXPECT_GE(kinds.count("decode"), 3U);
}

TEST(Samples, OfSamplingMixChainsInTheGraphAndOnTheHost) {
    const json table = sample_shown("mixed-sampling", {"--what", "tokens"});
    for (const json& token : table["tokens"]) {
        const int sequence = token["seq"];
        const auto samplers = token["samplers"].get<std::vector<std::string>>();
        if (sequence == 0) {
            EXPECT_THAT(samplers, Contains("+greedy"));
            EXPECT_LE(token["host_bytes"], 16);
        } else if (sequence == 1) {
            EXPECT_THAT(samplers, AllOf(Contains("+top_k"), Contains("+dist")));
            EXPECT_LE(token["host_bytes"], 1024);
        } else {
            EXPECT_THAT(samplers, AllOf(Contains("top_k"), Contains("dist")));
            EXPECT_GT(token["host_bytes"], 1024);
        }
    }
    EXPECT_EQ(table["tokens"].size(), 12U);
}

TEST(Samples, OfAPipelineGoRoundItsStages) {
    std::set<int> stages;
    for (const char* evaluation : {"0", "1", "2"}) {
        const json table = sample_shown("pipeline", {"--what", "copies", "--eval", evaluation});
        for (const json& copy : table["copies"]) {
            stages.insert(copy["stage"].get<int>());
        }
    }
    EXPECT_EQ(stages, (std::set<int>{0, 1, 2, 3}));
}

} // namespace
} // namespace schedscope::test
