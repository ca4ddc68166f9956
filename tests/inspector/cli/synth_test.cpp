// synth: models of every architecture, small ones to be run and headers of the public ones to be planned.
#include "tests/inspector/cli/harness/offers.h"
#include "tests/inspector/cli/harness/recorded.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <ostream>
#include <set>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Synth, TheSameSeedMakesTheSameBytes) {
    const Folder folder;
    for (const char* type : {"f32", "f16", "q8_0", "q4_0"}) {
        for (const auto& [name, seed] : {std::pair{"a", "7"}, {"b", "7"}, {"c", "8"}}) {
            const Outcome outcome =
                run({"synth", "llama", "--preset", "tiny", "--type", type, "--seed", seed, "-o", folder / name});
            ASSERT_EQ(outcome.code, 0) << outcome.err;
            EXPECT_EQ(outcome.out + outcome.err, "");
        }
        EXPECT_EQ(read_bytes(folder / "a"), read_bytes(folder / "b")) << type;
        EXPECT_NE(read_bytes(folder / "a"), read_bytes(folder / "c")) << type;
    }
}

TEST(Synth, MakesAModelThatRuns) {
    const Folder folder;
    ASSERT_EQ(run({"synth", "llama", "--preset", "tiny", "--type", "f16", "--seed", "3", "-o", folder / "m.gguf"}).code, 0);
    const std::vector<std::string> arguments = {"run",    "-m", folder / "m.gguf", "-p", "Once", "-n", "12",
                                                "--temp", "0",  "--device",        "cpu"};
    const Outcome once = run(arguments), again = run(arguments);
    EXPECT_EQ(once.code, 0) << once.err;
    EXPECT_EQ(once.out, again.out);
    EXPECT_GT(once.out.size(), 1U);
}

TEST(Synth, MakesATinyModelOfEveryArchitectureThatRuns) {
    const Folder folder;
    for (const std::string& architecture : candidates({"synth", ""})) {
        if (architecture == "llava" || architecture.starts_with('-')) {
            continue;
        }
        SCOPED_TRACE(architecture);
        const Outcome made = run({"synth", architecture, "--type", "q8_0", "-o", folder / "m.gguf"});
        ASSERT_EQ(made.code, 0) << made.err;
        EXPECT_EQ(made.out + made.err, "");
        const Outcome told =
            run({"run", "-m", folder / "m.gguf", "-p", "Once upon", "-n", "8", "--temp", "0", "--device", "cpu"});
        EXPECT_EQ(told.code, 0);
        EXPECT_EQ(told.err, "");
        EXPECT_GT(told.out.size(), 1U);
    }
}

/// Files may not grow here: nothing large is written, whatever the disk has room for.
TEST(Synth, TellsTheSizeOfALargeFileBeforeItIsMade) {
    const Folder folder;
    const auto made = [&](const std::string& preset, const std::string& type, const std::vector<std::string>& more = {}) {
        std::vector<std::string> arguments = {"synth", "llama", "--preset", preset, "--type", type, "-o", folder / "m.gguf"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments, {.largest_file = 1 << 20});
    };
    const Outcome large = made("1b", "f16");
    EXPECT_EQ(large.code, 4);
    EXPECT_THAT(large.err, HasSubstr("m.gguf: 2.0 GiB of random weights in f16 are written; for plans alone (record --dry-run) "
                                     "--header-only makes a sparse file\n"));
    EXPECT_EQ(count(large.err, "\n"), 2U) << large.err;
    const Outcome small = made("1b", "q4_0"); // less than 1 GiB
    EXPECT_EQ(count(small.err, "\n"), 1U) << small.err;
    EXPECT_THAT(folder.names(), IsEmpty());
    const Outcome header = run({"synth", "llama", "--preset", "1b", "--header-only", "-o", folder / "h.gguf"});
    EXPECT_EQ(header.code, 0);
    EXPECT_EQ(header.err, "");
}

TEST(Synth, MakesNothingThatTheDiskHasNoRoomFor) {
    const Folder folder;
    const Outcome refused =
        run({"synth", "qwen3moe", "--preset", "235b-a22b", "--type", "f32", "-o", folder / "m.gguf"}, {.largest_file = 1 << 20});
    EXPECT_EQ(refused.code, 4);
    if (std::filesystem::space(folder / "").available > uint64_t{1} << 40U) {
        GTEST_SKIP() << "the disk has room for 876 GiB";
    }
    EXPECT_THAT(refused.err, AllOf(HasSubstr("m.gguf: its weights in f32 take 876 GiB, and "),
                                   HasSubstr(" free there: --header-only makes a sparse file for plans")));
    EXPECT_EQ(count(refused.err, "\n"), 1U) << refused.err;
    EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(Synth, TellsWhenBlocksDoNotDivideTheRows) {
    const Folder folder;
    const Outcome outcome =
        run({"synth", "falcon", "--preset", "7b", "--type", "q4_k", "--header-only", "-o", folder / "m.gguf"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(count(outcome.err, "\n"), 1U);
    // 4544 values are no multiple of 256, 18176 are: only ffn_down can be as asked.
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("m.gguf"), HasSubstr("98 of 130 matrices are f16"), HasSubstr("256")));
}

/// Plans on a described Vulkan device that has room for everything, and says why ffn_up stands where it does.
struct OnDescribedVulkan {
    explicit OnDescribedVulkan(const std::string& type) {
        const Folder folder;
        const std::string header = folder / "m.gguf", trace = folder / "t.trace";
        const Outcome made = run({"synth", "llama", "--preset", "110m", "--type", type, "--header-only", "-o", header});
        EXPECT_EQ(made.code, 0) << made.err;
        EXPECT_EQ(made.err, "") << "every matrix is of the type";
        EXPECT_THAT(run({"gguf", header}).out, HasSubstr(type));
        planned = run({"record", "-m", header, "--dry-run", "--device", "big=vulkan:800GiB,cpu", "--tokens", "1", "-c", "512",
                       "-o", trace});
        EXPECT_EQ(planned.code, 0) << planned.err;
        why = run({"explain", trace, "ffn_up-0"}).out;
    }
    Outcome planned;
    std::string why;
};

TEST(Synth, WeightsThatVulkanDoesNotReadStayOnTheCpuAndTheTraceSaysWhy) {
    for (const std::string type : {"tq1_0", "tq2_0", "iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s"}) {
        const OnDescribedVulkan found(type);
        EXPECT_THAT(beside_wrote(found.planned), HasSubstr("weights of type " + type + " stay on the CPU")) << type;
        EXPECT_THAT(found.why, HasSubstr("big runs this operator? no: type: there is no shader for weights of this type"))
            << type;
    }
    const OnDescribedVulkan read("mxfp4");
    EXPECT_EQ(beside_wrote(read.planned), "");
    EXPECT_THAT(read.why, HasSubstr("big runs this operator? yes"));
}

TEST(Synth, HelpListsWhatThereIs) {
    const std::string help = run({"synth", "--help"}).out;
    for (const char* name :
         {"llama", "qwen2", "qwen3moe", "30b-a3b", "falcon", "40b", "phi3", "gemma3", "llava", "1.6-7b", "q5_1, q8_0, q2_K"}) {
        EXPECT_THAT(help, HasSubstr(name));
    }
}

TEST(Synth, NamesWhatThereIsWhenAskedForWhatThereIsNot) {
    const Folder folder;
    const auto refused = [&](const std::vector<std::string>& arguments, const std::string& what, const std::string& instead) {
        std::vector<std::string> all = {"synth"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        all.insert(all.end(), {"-o", folder / "m.gguf"});
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(count(outcome.err, "\n"), 1U);
        EXPECT_THAT(outcome.err, AllOf(HasSubstr(what), HasSubstr(instead)));
        EXPECT_FALSE(exists(folder / "m.gguf"));
    };
    refused({"gpt9"}, "gpt9", "qwen3moe, falcon");
    refused({"qwen3", "--preset", "vast"}, "synth qwen3: there is no preset 'vast'", "0.6b, 8b");
    refused({"gemma", "--type", "q99"}, "q99", "no such type");
    refused({"gemma", "--type", "q99"}, "q99", "no such type (f32, f16, bf16, q4_0,");
    refused({"llama", "--type", "Q4_K_M"}, "Q4_K_M: llama.cpp's mixes of types are not made (f32, f16,",
            "iq2_s, iq3_xxs and iq3_s); the nearest is q4_K");
    refused({"gemma", "--type", "i32"}, "i32", "can't be made");
}

TEST(Synth, ReplacesOnlyWhatItHasMade) {
    const Folder folder;
    const std::string made = folder / "made.gguf", kept = folder / "kept.gguf", empty = folder / "empty.gguf";
    write_bytes(empty, "");
    for (const char* architecture : {"llama", "llava", "qwen3"}) {
        EXPECT_EQ(run({"synth", architecture, "-o", made}).code, 0); // over the one before
    }
    EXPECT_EQ(run({"synth", "llama", "-o", empty}).code, 0);
    for (const std::string& worth : {read_bytes(model()), std::string("a diary")}) {
        write_bytes(kept, worth);
        const Outcome refused = run({"synth", "llama", "-o", kept});
        EXPECT_EQ(refused.code, 2);
        EXPECT_EQ(count(refused.err, "\n"), 1U);
        EXPECT_THAT(refused.err, AllOf(HasSubstr("kept.gguf: was not made by synth"), HasSubstr("--force")));
        EXPECT_TRUE(read_bytes(kept) == worth);
    }
    EXPECT_EQ(run({"synth", "llama", "--force", "-o", kept}).code, 0);
    EXPECT_EQ(run({"gguf", kept}).code, 0);
}

TEST(Synth, SeedsAreNumbersThatItCanHave) {
    const Folder folder;
    for (const char* seed : {"-1", "18446744073709551616", "1x", ""}) {
        const Outcome outcome = run({"synth", "llama", "--seed", seed, "-o", folder / "m.gguf"});
        EXPECT_EQ(outcome.code, 2) << seed;
        EXPECT_EQ(count(outcome.err, "\n"), 1U);
        EXPECT_THAT(outcome.err, HasSubstr("--seed"));
        EXPECT_FALSE(exists(folder / "m.gguf"));
    }
    EXPECT_EQ(run({"synth", "llama", "--seed", "18446744073709551615", "-o", folder / "m.gguf"}).code, 0);
}

TEST(Synth, AnEmptyNameIsNoName) {
    const Outcome outcome = run({"synth", "llama", "-o", ""});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("the name of a file is missing"));
}

/// A public model: its parameters as published (for gemma3 of the text part), and what it is known by.
struct Public {
    const char *architecture, *preset;
    double parameters;
    int layers;
    const char* node; ///< one that only graphs of this kind have, in block 0
};
void PrintTo(const Public& p, std::ostream* out) { *out << p.architecture << " " << p.preset; }

class SynthPublic : public ::testing::TestWithParam<Public> {};

TEST_P(SynthPublic, HasTheSizeOfThePublicModelAndPlans) {
    const Public& expected = GetParam();
    const Folder folder;
    const std::string header = folder / "m.gguf", trace = folder / "t.trace", architecture = expected.architecture;
    const Outcome made =
        run({"synth", architecture, "--preset", expected.preset, "--type", "q8_0", "--header-only", "-o", header});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.err, "");

    const json file = json::parse(run({"gguf", header, "--json"}).out);
    EXPECT_EQ(file["metadata"]["general.architecture"], architecture);
    EXPECT_EQ(file["metadata"][architecture + ".block_count"], expected.layers);
    double parameters = 0;
    std::set<std::string> weights;
    for (const json& tensor : file["tensors"]) {
        double n = 1;
        for (const json& size : tensor["ne"]) {
            n *= size.get<double>();
        }
        parameters += n;
        weights.insert(tensor["name"].get<std::string>());
    }
    EXPECT_NEAR(parameters / expected.parameters, 1, 0.02);

    // A device that holds all of it, so that what this machine has doesn't matter.
    const Outcome planned = run({"record", "-m", header, "--dry-run", "--device", "big=vulkan:800GiB,cpu", "--tokens",
                                 "1,300,301", "-c", "512", "-o", trace});
    ASSERT_EQ(planned.code, 0) << planned.err;
    EXPECT_EQ(beside_wrote(planned), "");
    const json table = json::parse(run({"show", trace, "--what", "assignments", "--eval", "0", "--json"}).out);
    std::set<std::string> names;
    for (const json& row : table["assignments"]) {
        names.insert(row["name"].get<std::string>());
    }
    const std::string last = std::to_string(expected.layers - 1), behind = std::to_string(expected.layers);
    EXPECT_TRUE(names.contains("l_out-" + last));
    EXPECT_FALSE(names.contains("l_out-" + behind));
    EXPECT_TRUE(names.contains(std::string(expected.node) + "-0")) << expected.node;
    weights.erase("rope_factors_long.weight"); // of a context that is longer than this one
    for (const std::string& weight : weights) {
        EXPECT_TRUE(names.contains(weight)) << weight;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Models, SynthPublic,
    ::testing::Values(Public{"llama", "1b", 1.10e9, 22, "Qcur"}, Public{"llama", "7b", 6.74e9, 32, "Qcur"},
                      Public{"llama", "8b", 8.03e9, 32, "Qcur"}, Public{"llama", "70b", 70.6e9, 80, "Qcur"},
                      Public{"llama", "8x7b", 46.7e9, 32, "ffn_moe_out"}, Public{"qwen2", "0.5b", 0.494e9, 24, "Qcur"},
                      Public{"qwen2", "7b", 7.62e9, 28, "Qcur"}, Public{"qwen3", "0.6b", 0.596e9, 28, "Qcur_normed"},
                      Public{"qwen3", "8b", 8.19e9, 36, "Qcur_normed"}, Public{"qwen3moe", "30b-a3b", 30.5e9, 48, "ffn_moe_out"},
                      Public{"qwen3moe", "235b-a22b", 235e9, 94, "ffn_moe_out"}, Public{"falcon", "7b", 7.22e9, 32, "attn_norm"},
                      Public{"falcon", "40b", 41.8e9, 60, "attn_norm_2"}, Public{"phi3", "mini", 3.82e9, 32, "wqkv"},
                      Public{"phi3", "mini-128k", 3.82e9, 32, "wqkv"}, Public{"phi3", "medium", 14.0e9, 40, "wqkv"},
                      Public{"gemma", "2b", 2.51e9, 18, "sa_out"}, Public{"gemma", "7b", 8.54e9, 28, "sa_out"},
                      Public{"gemma2", "2b", 2.61e9, 26, "attn_post_norm"}, Public{"gemma2", "9b", 9.24e9, 42, "attn_post_norm"},
                      Public{"gemma2", "27b", 27.2e9, 46, "attn_post_norm"}, Public{"gemma3", "1b", 1.00e9, 26, "Qcur_normed"},
                      Public{"gemma3", "4b", 3.88e9, 34, "Qcur_normed"}, Public{"gemma3", "27b", 27.0e9, 62, "Qcur_normed"}),
    [](const auto& info) { return as_test_name(std::string(info.param.architecture) + "_" + info.param.preset); });

} // namespace
} // namespace schedscope::test
