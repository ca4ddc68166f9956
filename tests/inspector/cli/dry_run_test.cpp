// record --dry-run: plans from a header, also for devices that are not here.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/support/paths.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string header_of(const Folder& folder, const std::string& preset, const std::string& type) {
    const std::string path = folder / (preset + ".gguf");
    EXPECT_EQ(run({"synth", "llama", "--preset", preset, "--type", type, "--header-only", "-o", path}).code, 0);
    return path;
}

Outcome dry_run(const Folder& folder, const std::string& header, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"record", "-m", header, "--dry-run", "-o", folder / "t.trace"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
}

std::map<std::string, int> nodes_by_backend(const Folder& folder) {
    const auto table = nlohmann::json::parse(run({"show", folder / "t.trace", "--what", "assignments", "--json"}).out);
    std::map<std::string, int> n;
    for (const auto& row : table["assignments"]) {
        n[row["backend"].get<std::string>()] += row["op"] != "NONE";
    }
    return n;
}

TEST(DryRun, PlansSeventyBillionParametersInLittleMemory) {
    const Folder folder;
    const std::string header = header_of(folder, "70b", "q8_0");
    EXPECT_GT(std::filesystem::file_size(header), uint64_t{65} << 30U);
    const Outcome outcome = dry_run(
        folder, header, {"--device", "big=vulkan:48GiB,small=vulkan:24GiB,cpu", "-ngl", "60", "--tokens", prompt_ids(40)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(beside_wrote(outcome), "");
    EXPECT_EQ(outcome.out, "");
    EXPECT_LT(outcome.peak_bytes, 256LL << 20U);
    const auto nodes = nodes_by_backend(folder);
    EXPECT_GT(nodes.at("big"), nodes.at("small"));
    EXPECT_GT(nodes.at("small"), 0);
    EXPECT_GT(nodes.at("CPU"), 0);
}

TEST(DryRun, TellsNoSeedAsItSamplesNothing) {
    const Folder folder;
    ASSERT_EQ(dry_run(folder, header_of(folder, "110m", "q8_0"), {"--device", "cpu", "--tokens", "1"}).code, 0);
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, AllOf(HasSubstr("\nparameters"), Not(HasSubstr("\nseed"))));
    EXPECT_FALSE(nlohmann::json::parse(run({"show", folder / "t.trace", "--json"}).out)["facts"].contains("seed"));
}

TEST(DryRun, TellsAllLayersAsTheyWereAskedFor) {
    const Folder folder;
    const std::string header = header_of(folder, "110m", "q8_0");
    const std::vector<std::string> common = {"--device", "big=vulkan:48GiB,cpu", "--tokens", "1", "-ngl"};
    for (const auto& [asked, told] : {std::pair{"all", "all"}, {"3", "3"}}) {
        std::vector<std::string> arguments = common;
        arguments.emplace_back(asked);
        ASSERT_EQ(dry_run(folder, header, arguments).code, 0);
        EXPECT_EQ(nlohmann::json::parse(run({"show", folder / "t.trace", "--json"}).out)["facts"]["n_gpu_layers"], told);
    }
}

TEST(DryRun, AllocatesNoComputeBuffers) {
    // 512 tokens of logits for a vocabulary of 128,256 alone are 250 MiB.
    const Folder folder;
    const std::string header = header_of(folder, "70b", "q8_0");
    const Outcome outcome =
        dry_run(folder, header, {"--device", "cpu", "--tokens", prompt_ids(512), "--logits-all", "--logits-out", folder / "l"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_LT(outcome.peak_bytes, 256LL << 20U);
    const auto table = nlohmann::json::parse(run({"show", folder / "t.trace", "--what", "memory", "--eval", "0", "--json"}).out);
    EXPECT_GT(table["memory"][0]["size"].get<int64_t>(), int64_t{250} << 20U);
}

TEST(DryRun, TellsWhatDoesNotFit) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0");
    const Outcome fits = dry_run(folder, header, {"--device", "big=vulkan:24GiB,cpu", "--tokens", "1"});
    EXPECT_EQ(fits.code, 0);
    EXPECT_EQ(beside_wrote(fits), "");
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, AllOf(HasSubstr("memory of big"), Not(HasSubstr("does not fit"))));

    const Outcome outcome = dry_run(folder, header, {"--device", "little=vulkan:4000MiB,cpu", "--tokens", "1"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(count(beside_wrote(outcome), "\n"), 1U);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("little"), HasSubstr("does not fit"), HasSubstr("of 3.9 GiB")));
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, AllOf(HasSubstr("memory of little"), HasSubstr("does not fit")));
    EXPECT_GT(nodes_by_backend(folder).at("little"), 0); // as asked
    EXPECT_THAT(run({"export", folder / "t.trace", "--html", "-"}).out,
                HasSubstr("\"misfits\":[\"little: what was placed there does not fit: "))
        << "on the report's first page";
}

TEST(DryRun, TellsWithHowManyLayersItFits) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0");
    const auto with = [&](const std::string& n) {
        return dry_run(folder, header, {"--device", "little=vulkan:4000MiB,cpu", "--tokens", prompt_ids(40), "-ngl", n}).err;
    };
    const std::string all = with("99"), words = "; -ngl ";
    // 1.9 bits of each weight remain: no type with so few is read there.
    const std::string smaller = " is the most that the devices hold; for all that were asked for it takes more memory\n";
    ASSERT_THAT(all, HasSubstr(smaller));
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, HasSubstr(smaller));
    const int most = std::stoi(all.substr(all.find(words) + words.size()));
    EXPECT_GT(most, 1);
    EXPECT_THAT(with(std::to_string(most)),
                AllOf(Not(HasSubstr("does not fit")), HasSubstr("; fits: little 3."),
                      HasSubstr(" of 3.9 GiB (" + std::to_string(most - 1) + " blocks, the output); next: ")));
    EXPECT_THAT(run({"show", folder / "t.trace"}).out,
                HasSubstr(": " + std::to_string(most - 1) + " blocks, the output; KV cache"));
    EXPECT_THAT(with(std::to_string(most + 1)), HasSubstr("does not fit"));
    EXPECT_THAT(dry_run(folder, header, {"--device", "a=vulkan:1MiB,cpu", "--tokens", prompt_ids(40)}).err,
                HasSubstr("; no -ngl makes it fit; for all that were asked for it takes more memory\n"));
}

TEST(DryRun, TellsHowSmallWeightsMustBe) {
    const Folder folder;
    const auto with = [&](const std::string& type) {
        return dry_run(folder, header_of(folder, "7b", type), {"--device", "a=vulkan:6GiB,cpu", "--tokens", prompt_ids(40)}).err;
    };
    const std::string of_8_bits = with("q8_0");
    EXPECT_THAT(of_8_bits, HasSubstr(" GiB too much ("));
    ASSERT_THAT(
        of_8_bits,
        ContainsRegex("or weights of (4\\.[5-9][0-9]*|5\\.?[0-4]?[0-9]*) bits each \\(q4_K has 4\\.5, these have 8\\.5\\)\n"));
    EXPECT_THAT(with("q4_k"), AllOf(Not(HasSubstr("does not fit")), HasSubstr("; fits: a ")));
    EXPECT_THAT(with("q5_k"), HasSubstr("does not fit")) << "the next type";
}

/// A device that can't run products with a type leaves such weights to the CPU, rows that its blocks don't divide stay as they
/// are, and an image encoder is of a type of its own: what is advised fits once it is done.
TEST(DryRun, AdvisesWeightsThatDevicesRunWithAndRowsDivideInto) {
    const Folder folder;
    const auto told = [&](const std::string& header, std::vector<std::string> more) {
        more.insert(more.end(), {"--tokens", prompt_ids(40)});
        return dry_run(folder, header, more).err;
    };
    const std::string seven = header_of(folder, "7b", "q4_0");
    EXPECT_THAT(told(seven, {"--device", "a=vulkan:2500MiB,cpu", "-c", "512"}),
                AllOf(HasSubstr("takes more memory, or weights of "), HasSubstr(" (q2_K has 2.62, these have 4.5)\n")));
    EXPECT_THAT(told(seven, {"--device", "a=vulkan:2200MiB,cpu", "-c", "512"}),
                AllOf(HasSubstr("; for all that were asked for it takes more memory\n"), Not(HasSubstr("bits each"))))
        << "Vulkan refuses what is smaller";

    const std::string half = folder / "half.gguf"; // rows of 896
    ASSERT_EQ(run({"synth", "qwen2", "--preset", "0.5b", "--type", "q8_0", "--header-only", "-o", half}).code, 0);
    EXPECT_THAT(told(half, {"--device", "a=vulkan:450MiB,cpu", "-c", "512", "-ub", "64"}),
                HasSubstr(" bits each (q5_0 has 5.5, these have 8.5)"));

    const std::string encoder = folder / "encoder.gguf"; // 595 MiB in f16
    ASSERT_EQ(run({"synth", "llava", "--preset", "1.5-7b", "--header-only", "-o", encoder}).code, 0);
    const auto beside = [&](const char* memory) {
        return std::vector<std::string>{"--device", std::string("a=vulkan:") + memory + ",cpu", "-c", "2048", "--mmproj",
                                        encoder};
    };
    EXPECT_THAT(told(seven, beside("3700MiB")), HasSubstr("; for all that were asked for it takes more memory\n"));
    ASSERT_THAT(told(seven, beside("3900MiB")), HasSubstr(" (q2_K has 2.62, these have 4.5)"));
    EXPECT_THAT(told(header_of(folder, "7b", "q2_K"), beside("3900MiB")),
                AllOf(HasSubstr("; fits: a "), Not(HasSubstr("does not fit"))));
}

/// What is not mapped from a file can't be read again.
TEST(DryRun, TellsOfACacheThatTheHostDoesNotHold) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q4_0");
    const auto with = [&](const std::string& n_ctx) {
        return dry_run(folder, header, {"--device", "cpu", "--tokens", "1", "-c", n_ctx}).err;
    };
    EXPECT_THAT(with("512"),
                ContainsRegex("; fits: CPU [0-9.]+ GiB of [0-9.]+ GiB \\(32 blocks, the output, the embedding\\); next"));
    EXPECT_THAT(with("100000000"), // 48 TiB
                AllOf(HasSubstr("CPU: what was placed there does not fit: "), HasSubstr("; all of it fits with -c "),
                      Not(HasSubstr("again and again"))));
    EXPECT_THAT(run({"replay", folder / "t.trace", "--set", "fa=off"}).out, Not(HasSubstr("does not fit at once")));
}

TEST(DryRun, OfACacheThatADeviceHoldsAndCannotWriteTheReasonIsSaid) {
    const Folder folder;
    const Outcome outcome =
        dry_run(folder, header_of(folder, "7b", "q4_0"), {"--device", "gpu=vulkan:900GiB,cpu", "--tokens", "1", "-c", "1000000"});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.err,
                HasSubstr("supports SET_ROWS (gpu: size limit, a tensor is larger than the device's storage range)\n"));
}

TEST(DryRun, TellsThatCopiesOfAPipelineAreWhatDoesNotFit) {
    const Folder folder;
    const auto told = dry_run(folder, header_of(folder, "7b", "q4_0"),
                              {"--device", "a=vulkan:4GiB,cpu", "--n-prompt", "512", "-c", "512", "--stages", "4", "-ngl", "10"});
    EXPECT_THAT(told.err, HasSubstr("all that were asked for fit with --stages 1"));
}

TEST(DryRun, OtherSettingsSayByHowMuchTheyDoNotFit) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0"), trace = folder / "t.trace";
    ASSERT_EQ(dry_run(folder, header, {"--device", "little=vulkan:4000MiB,cpu", "--tokens", "1", "-ngl", "5"}).code, 0);
    EXPECT_THAT(
        run({"replay", trace, "--set", "ngl=99"}).out,
        ContainsRegex("memory of little +fits: .* of 3\\.9 GiB +does not fit: [0-9.]+ GiB too much \\(.* of 3\\.9 GiB\\)"));
    EXPECT_THAT(
        run({"explain", trace, "blk.0.attn_q.weight"}).out,
        ContainsRegex("\notherwise +on little with .*-ngl 33 or more \\(does not fit into little: [0-9.]+ GiB too much\\)"));
    Terminal t(24, 80, {program_path(), "inspect", trace});
    ASSERT_TRUE(t.shows("q quit")) << t.text();
    t.press("8wngl=99\n");
    EXPECT_TRUE(t.shows(" GiB too much")) << t.text();
}

/// Each way that is told makes room.
TEST(DryRun, TellsWithWhichCachesAllLayersFit) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0");
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--device", "little=vulkan:9GiB,cpu", "--n-prompt", "40", "-n", "0"});
        return dry_run(folder, header, more).err;
    };
    const std::string told = with({"-c", "8192"}), way_to_fit = "; all that were asked for fit with -c ";
    ASSERT_THAT(told, ContainsRegex(way_to_fit + "[0-9]+, or with -ctk q8_0 -ctv q8_0, or with -nkvo\n"));
    const int n_ctx = std::stoi(told.substr(told.find(way_to_fit) + way_to_fit.size()));
    for (const std::vector<std::string>& way : {std::vector<std::string>{"-c", std::to_string(n_ctx)},
                                                {"-c", "8192", "-ctk", "q8_0", "-ctv", "q8_0"},
                                                {"-c", "8192", "-nkvo"}}) {
        EXPECT_THAT(with(way), AllOf(Not(HasSubstr("does not fit")), HasSubstr("; fits: little ")));
    }
    EXPECT_THAT(with({"-c", std::to_string(n_ctx + 1)}), HasSubstr("does not fit")) << "it is the most";
    EXPECT_THAT(dry_run(folder, header,
                        {"--device", "little=vulkan:9GiB,cpu", "--n-prompt", std::to_string(n_ctx), "-n", "1", "-c", "8192"})
                    .err,
                HasSubstr("; all that were asked for fit with -ctk q8_0 -ctv q8_0, or with -nkvo\n"))
        << "with a shorter context there is no room for the prompt";
    const std::string longer = with({"-c", "16384"});
    EXPECT_THAT(longer, HasSubstr(way_to_fit + std::to_string(n_ctx) + ", or with -nkvo\n"));
    EXPECT_THAT(with({"-c", "16384", "-ctk", "q8_0", "-ctv", "q8_0"}), HasSubstr("does not fit"));
}

/// Of a model whose experts are most of it, the rest alone may go to a device.
TEST(DryRun, TellsThatExpertsMayStayOnTheHost) {
    const Folder folder;
    const std::string header = folder / "experts.gguf";
    ASSERT_EQ(run({"synth", "qwen3moe", "--preset", "30b-a3b", "--type", "q4_k", "--header-only", "-o", header}).code, 0);
    for (const char* device : {"a=vulkan:12GiB,cpu", "a=vulkan:16GiB,cpu"}) {
        const auto with = [&](std::vector<std::string> more) {
            more.insert(more.end(), {"--device", device, "--n-prompt", "64", "-n", "1"});
            return dry_run(folder, header, more).err;
        };
        EXPECT_THAT(with({}), HasSubstr("; all that were asked for fit with -ot exps=cpu")) << device;
        EXPECT_THAT(with({"-ot", "exps=cpu"}), AllOf(Not(HasSubstr("was placed there does not fit")), HasSubstr("fits: a ")));
    }
}

TEST(DryRun, TellsWithWhichBatchAllLayersFit) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0");
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--device", "a=vulkan:6.95GiB,cpu", "--n-prompt", "40", "-n", "0", "-c", "768"});
        return dry_run(folder, header, more).err;
    };
    const std::string told = with({}), before = "-ub ";
    ASSERT_THAT(told, AllOf(HasSubstr(" MiB too much "), HasSubstr(" fit with "), HasSubstr(before)));
    const std::string batch = std::to_string(std::stoi(told.substr(told.find(before) + before.size())));
    EXPECT_THAT(with({"-ub", batch}), AllOf(Not(HasSubstr("does not fit")), HasSubstr("; fits: a ")));
    EXPECT_THAT(with({"-ub", std::to_string(2 * std::stoi(batch))}), HasSubstr("does not fit"));
}

/// Of weights that are not there no smaller ones are advised.
TEST(DryRun, TellsThatOffloadedWorkTakesMemory) {
    const Folder folder;
    const std::string header = header_of(folder, "70b", "q4_0");
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--device", "a=vulkan:300MiB,cpu", "--n-prompt", "64", "-n", "1", "-ngl", "0"});
        return dry_run(folder, header, more).err;
    };
    EXPECT_THAT(with({}), AllOf(HasSubstr("a: what was placed there does not fit"), HasSubstr("; it fits with --no-op-offload"),
                                Not(HasSubstr("bits each")), Not(HasSubstr("no -ngl"))));
    EXPECT_THAT(with({"--no-op-offload"}), Not(HasSubstr("a: what was placed there does not fit")));
}

TEST(DryRun, AContextOfNoneIsTheModelsOwn) {
    const Folder folder;
    const std::string header = header_of(folder, "70b", "q4_0");
    const auto context = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all{"--device", "cpu", "--tokens", "1"};
        all.insert(all.end(), more.begin(), more.end());
        EXPECT_EQ(dry_run(folder, header, all).code, 0);
        return nlohmann::json::parse(run({"show", folder / "t.trace", "--json"}).out)["facts"]["n_ctx"];
    };
    EXPECT_EQ(context({}), "4096");
    EXPECT_EQ(context({"-c", "0"}), "8192");
}

/// Shares that suit the devices, where those that were asked for, or their memories, do not.
TEST(DryRun, TellsWithWhichSharesAllLayersFit) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0"); // 7 GiB
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--device", "a=vulkan:3GiB,b=vulkan:6GiB,cpu", "--n-prompt", "40", "-n", "0", "-c", "1024"});
        return dry_run(folder, header, more).err;
    };
    const std::string told = with({"-ts", "1,1"}), before = ", or with -ts ";
    EXPECT_THAT(told, HasSubstr(" is the most that the devices hold with this -ts; all that were asked for fit without -ts"));
    ASSERT_THAT(told, HasSubstr(before));
    const size_t begin = told.find(before) + before.size();
    const std::string shares = told.substr(begin, told.find_first_of(" ,\n", told.find(',', begin) + 1) - begin);
    EXPECT_THAT(with({"-ts", shares}), AllOf(Not(HasSubstr("does not fit")), HasSubstr("; fits: a "))) << shares;
    EXPECT_THAT(dry_run(folder, header, {"--device", "a=vulkan:2GiB,b=vulkan:2GiB,cpu", "--tokens", "1"}).err,
                HasSubstr(" is the most that the devices hold, split by their memory; for all that were asked for it takes"));
}

TEST(DryRun, NamesWhatLiesWhere) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0");
    const auto memory_of = [&](const std::string& device, const std::vector<std::string>& more) {
        std::vector<std::string> all{"--device", "a=vulkan:24GiB,cpu", "--tokens", "1", "-ngl", "3"};
        all.insert(all.end(), more.begin(), more.end());
        EXPECT_EQ(dry_run(folder, header, all).code, 0);
        return std::string(
            nlohmann::json::parse(run({"show", folder / "t.trace", "--json"}).out)["facts"]["memory of " + device]);
    };
    EXPECT_THAT(memory_of("a", {}), HasSubstr(": 2 blocks, the output; "));
    EXPECT_THAT(memory_of("CPU", {}), HasSubstr(": 30 blocks, the embedding; "));
    const std::vector<std::string> moved{"-ot", "blk\\.31\\.ffn_.*=CPU"};
    EXPECT_THAT(memory_of("a", moved), HasSubstr(": 1 block, 1 block in part, the output; "));
    EXPECT_THAT(memory_of("CPU", moved), HasSubstr(": 30 blocks, 1 block in part, the embedding; "));
}

TEST(DryRun, SaysThatLayersHaveNoDevice) {
    const Folder folder;
    const std::string header = header_of(folder, "tiny", "f16"), said = ": no device is here that layers could go to";
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--tokens", "1"});
        return dry_run(folder, header, more).err;
    };
    for (const std::vector<std::string>& quiet : {std::vector<std::string>{"-ngl", "0"},
                                                  {},
                                                  {"-ngl", "3", "--device", "cpu"}, // who names devices knows
                                                  {"-ngl", "3", "--device", "a=vulkan:1GiB,cpu"}}) {
        EXPECT_THAT(with(quiet), Not(HasSubstr(said)));
    }
    const std::string devices = run({"devices", "--json"}).out;
    if (devices.find("\"gpu\"") == std::string::npos) {
        EXPECT_THAT(with({"-ngl", "3"}), HasSubstr("-ngl 3" + said));
        const bool software = devices.find("\"software\"") != std::string::npos;
        EXPECT_EQ(with({"-ngl", "3"}).find("; Vulkan0, a driver that runs on the CPU, is used when it is named") !=
                      std::string::npos,
                  software);
    }
}

/// As many layers as the devices hold may leave more than the host has: that is said of it, and no line says that all fits.
TEST(DryRun, TellsWhatTheHostDoesNotHold) {
    const Folder folder;
    const std::string header = header_of(folder, "70b", "f32");
    const auto with = [&](const std::string& n) {
        return dry_run(folder, header, {"--device", "a=vulkan:24GiB,cpu", "-ngl", n, "--tokens", "1"}).err;
    };
    const std::string few = with("2"), rest = "and then the host's memory does not hold the rest at once";
    const bool host_holds = few.find("CPU: what lies there does not fit at once") == std::string::npos; // of 250 GiB
    EXPECT_EQ(few.find("; fits: a ") != std::string::npos, host_holds) << few;
    EXPECT_EQ(few.find("; what lies on devices fits: a ") != std::string::npos, !host_holds) << few;
    EXPECT_EQ(with("99").find(rest) != std::string::npos, !host_holds);
}

TEST(DryRun, ReadsNothingAgainThatIsNotMapped) {
    const Folder folder;
    const std::string header = header_of(folder, "70b", "f32"); // 257 GiB
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--device", "a=vulkan:24GiB,cpu", "-ngl", "2", "--tokens", "1"});
        return dry_run(folder, header, more).err;
    };
    const std::string mapped = with({}), at_once = "CPU: what lies there does not fit at once";
    if (mapped.find(at_once) == std::string::npos) {
        GTEST_SKIP() << "the host's memory holds all";
    }
    EXPECT_THAT(with({"--no-mmap"}), AllOf(HasSubstr("CPU: what was placed there does not fit: "), Not(HasSubstr(at_once))));
}

/// A way that makes room on a device may leave more to the host than it has: experts of 220 GiB are read again from their file, a
/// cache of 305 GiB is in none.
TEST(DryRun, TellsOfEachWayWhatTheHostDoesNotHold) {
    const Folder folder;
    const auto with = [&](const std::string& header, const std::vector<std::string>& more) {
        std::vector<std::string> all{"--device", "a=vulkan:100GiB,cpu", "--tokens", "1"};
        all.insert(all.end(), more.begin(), more.end());
        return dry_run(folder, header, all).err;
    };
    const std::string experts = folder / "experts.gguf";
    ASSERT_EQ(run({"synth", "qwen3moe", "--preset", "235b-a22b", "--type", "q8_0", "--header-only", "-o", experts}).code, 0);
    if (with(experts, {"-ot", "exps=cpu"}).find("CPU: what lies there does not fit at once") == std::string::npos) {
        GTEST_SKIP() << "the host's memory holds all";
    }
    EXPECT_THAT(with(experts, {}),
                HasSubstr("; all that were asked for fit with -ot exps=cpu, and then the host's memory does not "
                          "hold the rest at once\n"));
    const std::string header = header_of(folder, "70b", "q8_0");
    EXPECT_THAT(with(header, {"-c", "1000000"}),
                AllOf(HasSubstr("; all that were asked for fit with -c "), Not(HasSubstr("-nkvo"))));
    EXPECT_THAT(with(header, {"-c", "1000000", "-nkvo"}), HasSubstr("CPU: what was placed there does not fit: "));
}

/// llama.cpp keeps of layers that slide over a window about the window alone, and here all of the context is kept.
TEST(DryRun, TellsHowMuchLessTheCacheOfWindowsWouldBe) {
    const Folder folder;
    const std::string header = folder / "g.gguf";
    ASSERT_EQ(run({"synth", "gemma3", "--preset", "27b", "--type", "q4_K", "--header-only", "-o", header}).code, 0);
    const auto with = [&](const std::string& n_ctx) {
        dry_run(folder, header, {"--device", "a=vulkan:24GiB,cpu", "--n-prompt", "512", "-c", n_ctx});
        return run({"show", folder / "t.trace"}).out;
    };
    // 10 of 62 layers keep 32,768 cells, the others 1,024 of their window and 512 of a ubatch: 15.5 GiB × (10 + 52 × 1,536 /
    // 32,768) / 62
    EXPECT_THAT(with("32768"),
                HasSubstr("KV cache 15.5 GiB of the whole context in all layers, as llama.cpp's --swa-full keeps it "
                          "(without that about 3.1 GiB)"));
    EXPECT_THAT(with("1024"), Not(HasSubstr("--swa-full"))) << "a window holds the context";
    dry_run(folder, header_of(folder, "7b", "q8_0"), {"--device", "a=vulkan:24GiB,cpu", "--n-prompt", "512"});
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, Not(HasSubstr("--swa-full")));
}

TEST(DryRun, SaysThatItIsOneAndOfWhichPrompt) {
    const Folder folder;
    const std::string header = header_of(folder, "tiny", "f16");
    const std::vector<std::string> device = {"--device", "a=vulkan:1GiB,cpu", "-ngl", "2"};
    const auto shown = [&](const std::string& what) { return run({"show", folder / "t.trace", "--what", what}).out; };
    const auto n_inputs = [&] { return count(shown("copies"), "\n"); };
    EXPECT_THAT(beside_wrote(dry_run(folder, header, device)), HasSubstr("one of 1 token is planned"));
    EXPECT_THAT(run({"show", folder / "t.trace"}).out,
                AllOf(HasSubstr("nothing ran; planned for 1 token of prompt and the one behind\n"),
                      HasSubstr("2 evaluations, 1 planned; a dry run; ")));
    EXPECT_THAT(shown("kernels") + shown("time"), Not(HasSubstr("up to this step")));
    EXPECT_EQ(count(shown("kernels") + shown("time"), "a dry run plans, and runs nothing"), 2U);
    const size_t of_one = n_inputs();
    std::vector<std::string> longer = device;
    longer.insert(longer.end(), {"--n-prompt", "40"});
    EXPECT_EQ(beside_wrote(dry_run(folder, header, longer)), "");
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, HasSubstr("planned for 40 tokens of prompt"));
    EXPECT_GT(n_inputs(), of_one) << "what is offloaded copies weights";
    longer.insert(longer.end(), {"--tokens", "1"});
    EXPECT_EQ(dry_run(folder, header, longer).code, 2);
    EXPECT_EQ(run({"record", "-m", model(), "--n-prompt", "4", "-o", folder / "r.trace"}).code, 2);
}

TEST(DryRun, PlannedOtherwiseTellsWhetherItFitsIntoAnotherDevice) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0"), both = "device-order=little,big=vulkan:24GiB,cpu";
    ASSERT_EQ(dry_run(folder, header, {"--device", "little=vulkan:4000MiB,cpu", "--tokens", "1"}).code, 0);
    EXPECT_THAT(run({"replay", folder / "t.trace", "--set", both}).out,
                ContainsRegex("memory of big +not there +fits: [0-9.]+ GiB of 24\\.0 GiB\n"));
    const auto object = nlohmann::json::parse(run({"replay", folder / "t.trace", "--set", both, "--json"}).out);
    const auto fit = object["summary"][0]["fit"][1];
    EXPECT_EQ(fit["backend"], "big");
    EXPECT_EQ(fit["recorded"], nullptr);
    ASSERT_EQ(dry_run(folder, header, {"--device", "little=vulkan:4000MiB,big=vulkan:24GiB,cpu", "--tokens", "1"}).code, 0);
    const auto planned = nlohmann::json::parse(run({"replay", folder / "t.trace", "--set", "fusion=on", "--json"}).out);
    EXPECT_EQ(fit["now"], planned["summary"][0]["fit"][1]["recorded"]) << "what a run with both needs";
}

TEST(DryRun, PlannedOtherwiseTellsThatADeviceIsGone) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0"), one = "device-order=little,cpu";
    ASSERT_EQ(dry_run(folder, header, {"--device", "little=vulkan:4000MiB,big=vulkan:24GiB,cpu", "--tokens", "1"}).code, 0);
    EXPECT_THAT(run({"replay", folder / "t.trace", "--set", one}).out,
                ContainsRegex("memory of big +fits: [0-9.]+ GiB of 24\\.0 GiB +not there\n"));
    const auto object = nlohmann::json::parse(run({"replay", folder / "t.trace", "--set", one, "--json"}).out);
    const auto fit = object["summary"][0]["fit"][1];
    EXPECT_EQ(fit["backend"], "big");
    EXPECT_EQ(fit["recorded"]["fits"], true);
    EXPECT_EQ(fit["now"], nullptr);
}

TEST(DryRun, PlannedOtherwiseTellsWhetherItFits) {
    const Folder folder;
    const std::string header = header_of(folder, "7b", "q8_0");
    ASSERT_EQ(dry_run(folder, header, {"--device", "little=vulkan:4000MiB,cpu", "--tokens", "1"}).code, 0);
    const Outcome text = run({"replay", folder / "t.trace", "--set", "ngl=4"});
    EXPECT_THAT(text.out,
                AllOf(ContainsRegex("memory of little  does not fit: [0-9.]+ GiB too much \\([0-9.]+ GiB of 3.9 GiB\\)  fits: "),
                      HasSubstr("memory of CPU")));
    const auto object = nlohmann::json::parse(run({"replay", folder / "t.trace", "--set", "ngl=4", "--json"}).out);
    const auto fit = object["summary"][0]["fit"][0];
    EXPECT_EQ(fit["backend"], "little");
    EXPECT_EQ(fit["memory_bytes"], int64_t{4000} << 20U);
    EXPECT_EQ(fit["recorded"]["fits"], false);
    EXPECT_EQ(fit["now"]["fits"], true);
    int64_t bytes = 0; // weights, cache and compute buffer
    for (const auto& [what, n] : object["summary"][0]["now"]["memory"].items()) {
        bytes += what.ends_with(" little") ? n.get<int64_t>() : 0;
    }
    EXPECT_EQ(fit["now"]["bytes"], bytes);
}

/// Weights that the CPU lays out lie in the host's memory, and stay as they are with a device beside it.
TEST(DryRun, CountsWhatIsLaidOutAmongTheHostsMemory) {
    const Folder folder;
    const std::string header = header_of(folder, "110m", "q8_0");
    const auto facts = [&](const std::vector<std::string>& more) {
        EXPECT_EQ(dry_run(folder, header, more).code, 0);
        return nlohmann::json::parse(run({"show", folder / "t.trace", "--json"}).out)["facts"];
    };
    const std::vector<std::string> alone = {"--device", "cpu", "--n-prompt", "40"};
    const std::vector<std::string> as_they_are = {"--device", "cpu", "--n-prompt", "40", "--no-repack"};
    const auto what_if = [&] {
        return nlohmann::json::parse(
            run({"replay", folder / "t.trace", "--set", "device-order=big=vulkan:48GiB,cpu", "--set", "ngl=0", "--json"})
                .out)["summary"][0];
    };
    const auto in_the_file = facts(as_they_are);
    EXPECT_FALSE(what_if()["recorded"]["memory"].contains("weights in CPU_Repack"));
    const auto laid_out = facts(alone);
    EXPECT_FALSE(laid_out.contains("memory of CPU_Repack")) << laid_out;
    const auto text_of = [](const nlohmann::json& all) { return all["memory of CPU"].get<std::string>(); };
    EXPECT_THAT(text_of(in_the_file), HasSubstr("(weights 111.0 MiB: 12 blocks, the output; "));
    EXPECT_THAT(text_of(laid_out), HasSubstr("(weights 135.9 MiB: 12 blocks, the output, the embedding; "))
        << "both are one in the file";

    const auto first = what_if();
    EXPECT_GT(first["recorded"]["memory"]["weights in CPU_Repack"], 0) << first;
    EXPECT_EQ(first["now"]["memory"].value("weights in CPU_Repack", 0), 0) << "another device could not read it";
    const auto& of_host = first["fit"].back();
    EXPECT_EQ(of_host["backend"], "CPU");
    EXPECT_GT(of_host["recorded"]["bytes"], 200LL << 20U) << "weights, cache and what is computed with";
}

TEST(DryRun, OfADescribedDeviceIsThatOfOneThatIsHere) {
    if (run({"devices"}).out.find("Vulkan0") == std::string::npos) {
        GTEST_SKIP() << "no Vulkan device is here";
    }
    const Folder folder;
    const std::string header = header_of(folder, "110m", "q8_0");
    const std::vector<std::string> common = {"-ngl", "5", "--tokens", prompt_ids(40), "--device"};
    const auto assignments = [&](const std::string& devices) {
        std::vector<std::string> arguments = common;
        arguments.push_back(devices);
        EXPECT_EQ(dry_run(folder, header, arguments).code, 0);
        return run({"show", folder / "t.trace", "--what", "assignments", "--eval", "0"}).out;
    };
    const std::string here = assignments("vulkan0,cpu");
    EXPECT_NE(here, "");
    EXPECT_EQ(assignments("Vulkan0=vulkan:64GiB,cpu"), here);
}

TEST(DryRun, TheSameDescribedDeviceTwiceIsTwoBackends) {
    const Folder folder;
    const std::string header = header_of(folder, "tiny", "f16");
    EXPECT_EQ(dry_run(folder, header, {"--device", "a=Vulkan:1GiB,A,cpu", "--tokens", "1"}).code, 0);
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, AllOf(HasSubstr("backend  a (gpu)"), HasSubstr("backend  a.1 (gpu)")));
}

/// A model of the tests, its arguments, and a real recording of it on Vulkan.
class RecordedDevice : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
protected:
    void SetUp() override {
        if (run({"devices"}).out.find("Vulkan0") == std::string::npos) {
            GTEST_SKIP() << "no Vulkan device is here";
        }
        const auto& [arch, preset] = GetParam();
        model_ = folder_ / "m.gguf";
        ASSERT_EQ(run({"synth", arch, "--preset", preset, "--type", "q8_0", "-o", model_}).code, 0);
    }

    /// `more` behind what all have in common.
    Outcome planned(const std::string& devices, const std::string& trace, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments = {"record", "-m",           model_,     "--device",     devices, "-ngl",
                                              "2",      "-c",           "256",      "-n",           "2",     "--temp",
                                              "0",      "--ignore-eos", "--tokens", prompt_ids(40), "-o",    folder_ / trace};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }
    /// Without times and what was moved, which a dry run has none of.
    nlohmann::json shown(const std::string& trace, const std::string& what, const std::string& eval) const {
        auto table = nlohmann::json::parse(run({"show", folder_ / trace, "--what", what, "--eval", eval, "--json"}).out);
        for (auto& row : table[what]) {
            for (const char* ran : {"time_ns", "bytes_in_all", "moved_bytes", "times", "experts", "experts_total"}) {
                row.erase(ran);
            }
        }
        return table[what];
    }

    const Folder folder_;
    std::string model_;
};
INSTANTIATE_TEST_SUITE_P(DryRun, RecordedDevice,
                         ::testing::Values(std::pair{"llama", "tiny"}, std::pair{"llama", "tiny-moe"},
                                           std::pair{"gemma2", "tiny"}, std::pair{"falcon", "tiny"}, std::pair{"qwen2", "tiny"}),
                         [](const auto& info) { return as_test_name(std::string(info.param.first) + "_" + info.param.second); });

TEST_P(RecordedDevice, PlansAsTheRealRunDid) {
    ASSERT_EQ(planned("vulkan0,cpu", "real").code, 0);
    const Outcome dry = planned("vulkan0=from:" + (folder_ / "real") + "/Vulkan0,cpu", "dry", {"--dry-run"});
    EXPECT_EQ(dry.code, 0);
    for (const char* eval : {"0", "1"}) {
        for (const char* what : {"assignments", "copies", "fusion", "memory"}) {
            EXPECT_EQ(nlohmann::json::diff(shown("real", what, eval), shown("dry", what, eval)), nlohmann::json::array())
                << what << " of " << eval;
        }
    }
    EXPECT_THAT(run({"show", folder_ / "dry"}).out,
                AllOf(HasSubstr("profile of Vulkan0"), HasSubstr("answers as recorded"), Not(HasSubstr("unknown (taken"))))
        << "where weights go is asked about rows of a size that no graph may have; that is inferred";
}

TEST_P(RecordedDevice, AnswersOtherSizesByInferenceAndSaysSo) {
    ASSERT_EQ(planned("vulkan0,cpu", "real").code, 0);
    const std::string from = "vulkan0=from:" + (folder_ / "real") + "/vulkan0:1GiB,cpu";
    const Outcome dry = planned(from, "dry", {"--dry-run", "-ub", "24"});
    EXPECT_EQ(dry.code, 0);
    EXPECT_THAT(dry.err, AllOf(HasSubstr("Vulkan0, as real/Vulkan0 answered: "), HasSubstr("inferred from another size")));
    ASSERT_EQ(planned("vulkan0,cpu", "again", {"-ub", "24", "--force"}).code, 0);
    EXPECT_TRUE(shown("dry", "assignments", "0") == shown("again", "assignments", "0")) << "the device says the same at any size";
    EXPECT_THAT(run({"export", folder_ / "dry", "--jsonl", "-"}).out, HasSubstr("inferred from another size"));
}

TEST(DryRun, WhatARecordedDeviceWasNeverAskedItIsTakenNotToRun) {
    const Folder folder;
    if (run({"devices"}).out.find("Vulkan0") == std::string::npos) {
        GTEST_SKIP() << "no Vulkan device is here";
    }
    const std::string f16 = header_of(folder, "tiny", "f16");
    ASSERT_EQ(dry_run(folder, f16, {"--device", "vulkan0,cpu", "--tokens", "1"}).code, 0);
    std::filesystem::rename(folder / "t.trace", folder / "f16.trace");
    const Folder other;
    const std::string q8 = header_of(other, "tiny", "q8_0");
    const Outcome dry =
        dry_run(other, q8, {"--device", "big=from:" + (folder / "f16.trace") + "/Vulkan0:24GiB,cpu", "--tokens", "1"});
    EXPECT_EQ(dry.code, 0);
    EXPECT_THAT(dry.err, HasSubstr("unknown (taken as no)"));
    const std::string shown = run({"show", other / "t.trace"}).out;
    EXPECT_THAT(shown, AllOf(HasSubstr("profile of big"), HasSubstr("f16.trace/Vulkan0: "), HasSubstr("24.0 GiB")));
    EXPECT_THAT(run({"show", other / "t.trace", "--what", "assignments"}).out, HasSubstr("CPU"));
    const std::string record = run({"export", other / "t.trace", "--jsonl", "-"}).out;
    EXPECT_THAT(record, HasSubstr("unknown: the recorded device was not asked about MUL_MAT of q8_0, f32"));
}

TEST(DryRun, TheHostCanBeARecordedOneToo) {
    const Folder folder;
    const std::string header = header_of(folder, "110m", "q8_0"); // some of whose weights it lays out
    ASSERT_EQ(dry_run(folder, header, {"--device", "cpu", "--tokens", "1,2"}).code, 0);
    const std::string here = run({"show", folder / "t.trace", "--what", "assignments"}).out;
    std::filesystem::rename(folder / "t.trace", folder / "cpu.trace");
    const Outcome dry = dry_run(folder, header, {"--device", "cpu=from:" + (folder / "cpu.trace") + "/CPU", "--tokens", "1,2"});
    EXPECT_EQ(dry.code, 0);
    EXPECT_EQ(beside_wrote(dry), "");
    EXPECT_EQ(run({"show", folder / "t.trace", "--what", "assignments"}).out, here);
    const auto weights = [&](const std::string& trace) {
        const auto what_if = nlohmann::json::parse(run({"replay", folder / trace, "--set", "stages=2", "--json"}).out);
        return what_if["summary"][0]["recorded"]["memory"];
    };
    EXPECT_EQ(weights("t.trace"), weights("cpu.trace"));
    EXPECT_GT(weights("t.trace")["weights in CPU_Repack"], 0);
}

TEST(DryRun, ARecordedDeviceThatIsNotThereIsOneLine) {
    const Folder folder;
    const std::string header = header_of(folder, "tiny", "f16"), trace = folder / "there.trace";
    ASSERT_EQ(dry_run(folder, header, {"--device", "cpu", "--tokens", "1"}).code, 0);
    std::filesystem::rename(folder / "t.trace", trace);
    ASSERT_EQ(run({"import", paths::log("two-gpus"), "-o", folder / "log.trace"}).code, 0);
    const auto refused = [&](const std::string& devices, int code, const std::string& why) {
        const Outcome outcome = dry_run(folder, header, {"--device", devices, "--tokens", "1"});
        EXPECT_EQ(outcome.code, code) << devices;
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(why));
        EXPECT_FALSE(exists(folder / "t.trace"));
    };
    refused("a=from:" + trace + "/CUDA0", 2, "the trace has no device 'CUDA0'; it has CPU");
    refused("a=from:" + trace + "/CPU", 2, "the name of that is cpu");
    refused("a=from:" + (folder / "none.trace") + "/CUDA0", 3, "none.trace");
    refused("a=from:" + header + "/CUDA0", 3, "m");
    refused("a=from:" + (folder / "log.trace") + "/Vulkan0", 3, "the trace has no answers of Vulkan0");
    const Outcome itself = run(
        {"record", "-m", header, "--dry-run", "--tokens", "1", "--device", "cpu=from:" + trace + "/CPU", "-o", trace, "--force"});
    EXPECT_EQ(itself.code, 2) << "what is read is not written over";
    EXPECT_EQ(run({"show", trace}).code, 0);
}

TEST(DryRun, AWhatIfAsksARecordedDeviceInThePlaceOfOne) {
    const std::string trace = paths::sample("llama-cpp");
    const auto what_if = [&](const std::string& devices) {
        const Outcome outcome = run({"replay", trace, "--set", "device-order=" + devices, "--json"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out);
    };
    const auto same = what_if("vulkan0=from:" + trace + "/Vulkan0,cpu=from:" + trace + "/CPU");
    EXPECT_EQ(same["identical"], same["compared"]);
    ASSERT_EQ(same["profiles"].size(), 2U);
    for (const auto& profile : same["profiles"]) {
        EXPECT_GT(profile["exact"], 0);
        EXPECT_EQ(profile["inferred"], 0) << profile;
        EXPECT_EQ(profile["unknown"], 0) << profile;
    }
    EXPECT_EQ(run({"replay", trace, "--set", "device-order=big=from:" + trace + "/CPU,cpu"}).code, 2) << "a CPU is the host";
    const auto all = what_if("vulkan0=vulkan:24GiB,cpu"); // ours, with all features
    EXPECT_LT(all["identical"], all["compared"]);
    EXPECT_FALSE(all.contains("profiles")) << "nothing was inferred";
}

/// A device of another program fuses nothing in a dry run, nor in what is asked of its trace, nor where it is described by that.
TEST(DryRun, ADeviceOfAnotherProgramKeepsThePlannedOrderInWhatIfsToo) {
    const Folder folder;
    const std::string header = header_of(folder, "tiny", "q8_0");
    const auto planned = [&](const std::string& device, const std::string& name, const std::string& ngl) {
        const Outcome outcome = dry_run(folder, header, {"--device", "vulkan0=from:" + device + "/Vulkan0,cpu", "-ngl", ngl});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        std::filesystem::rename(folder / "t.trace", folder / name);
        return nlohmann::json::parse(run({"show", folder / name, "--what", "fusion", "--json"}).out);
    };
    const auto one = planned(paths::sample("llama-cpp"), "1.trace", "1");
    planned(paths::sample("llama-cpp"), "99.trace", "99");
    EXPECT_EQ(planned(folder / "1.trace", "again.trace", "1"), one) << "what it stands for is told on";
    const auto what_if = [&](const std::string& name, const std::string& setting) {
        const auto answer = nlohmann::json::parse(run({"replay", folder / name, "--set", setting, "--json"}).out);
        return answer["summary"][0];
    };
    const auto same = what_if("1.trace", "stages=1"), more = what_if("1.trace", "ngl=99"), other = what_if("99.trace", "ngl=1");
    EXPECT_EQ(same["now"], same["recorded"]);
    EXPECT_EQ(more["recorded"]["fused_groups"], other["now"]["fused_groups"]);
    EXPECT_EQ(more["now"]["fused_groups"], other["recorded"]["fused_groups"]);
}

class BadDescription : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(BadDescription, IsOneLineAndExitCode2) {
    const Folder folder;
    const std::string header = header_of(folder, "tiny", "f16");
    const Outcome outcome = dry_run(folder, header, {"--device", GetParam().first});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(count(outcome.err, "\n"), 1U);
    EXPECT_THAT(outcome.err, HasSubstr(GetParam().second));
    EXPECT_FALSE(exists(folder / "t.trace"));
}

INSTANTIATE_TEST_SUITE_P(
    DryRun, BadDescription,
    ::testing::Values(
        std::pair{"a=cuda:1GiB", "no kind 'cuda'"}, std::pair{"a=vulkan:24GB", "'24GB' is no size"},
        std::pair{"a=vulkan:0B", "no size"}, std::pair{"a=vulkan:-1B", "no size"}, std::pair{"a=vulkan:GiB", "no size"},
        std::pair{"a=vulkan:99999999999GiB", "no size"}, std::pair{"a=vulkan:", "no size"},
        std::pair{"a=vulkan", "NAME=vulkan:SIZE"}, std::pair{"=vulkan:1GiB", "a name has"},
        std::pair{"a#b=vulkan:1GiB", "a name has"}, std::pair{"cpu=vulkan:1GiB", "'cpu' is the name"},
        std::pair{"a=from:t.trace", "NAME=from:TRACE/DEVICE"}, std::pair{"a=from:/CUDA0", "NAME=from:TRACE/DEVICE"},
        std::pair{"a=from:t.trace/", "which device"}, std::pair{"a=from:t.trace/CUDA0:24GB", "'24GB' is no size"},
        std::pair{"a=from:t.trace/CUDA0:", "'' is no size"}, std::pair{"blas=from:t.trace/CUDA0", "'blas' is the name"},
        std::pair{"a=vulkan:1GiB,A=vulkan:2GiB", "described before"}, std::pair{"a=vulkan:1GiB,b", "there is a, CPU"}));

TEST(DryRun, ADescribedDeviceCanNotBeRunOn) {
    const Folder folder;
    for (const std::string command : {"run", "record"}) {
        std::vector<std::string> arguments = {command, "-m", model(), "--device", "big=vulkan:24GiB,cpu"};
        if (command == "record") {
            arguments.insert(arguments.end(), {"-o", folder / "t.trace"});
        }
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(count(outcome.err, "\n"), 1U);
        EXPECT_THAT(outcome.err, HasSubstr("--dry-run"));
    }
}

} // namespace
} // namespace schedscope::test
