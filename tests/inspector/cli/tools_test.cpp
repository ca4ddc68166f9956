// The commands that need no trace: gguf, tokenize, devices, demo.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/program.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/models/storyteller.h"
#include "tests/support/terminal.h"
#include "tests/support/text_records.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Gguf, TellsHeaderMetadataAndTensors) {
    const Storyteller teller;
    const Outcome outcome = run({"gguf", teller.model(), "--json"});
    ASSERT_EQ(outcome.code, 0);
    const json file = json::parse(outcome.out);
    EXPECT_EQ(file["version"], 3);
    EXPECT_EQ(file["metadata"]["general.architecture"], "llama");
    EXPECT_EQ(file["metadata"]["llama.block_count"], 5);
    EXPECT_EQ(file["metadata"]["llama.embedding_length"], 64);
    EXPECT_EQ(file["metadata"]["tokenizer.ggml.tokens"].size(), 512U);
    ASSERT_EQ(file["tensors"].size(), teller.trained() ? 47U : 48U); // whose output is the embedding
    uint64_t end = 0;
    for (const json& tensor : file["tensors"]) {
        EXPECT_EQ(tensor["type"], "f32") << tensor;
        EXPECT_GE(tensor["offset"], end) << tensor;
        uint64_t n = 1;
        for (const json& size : tensor["ne"]) {
            n *= size.get<uint64_t>();
        }
        end = tensor["offset"].get<uint64_t>() + n * sizeof(float);
    }
    EXPECT_LE(end, read_bytes(teller.model()).size());
}

TEST(Gguf, IsATableForPeople) {
    const Outcome outcome = run({"gguf", model("q8_0")});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("GGUF version 3"));
    EXPECT_THAT(outcome.out, HasSubstr("general.architecture"));
    EXPECT_THAT(outcome.out, HasSubstr("blk.4.ffn_down.weight"));
    EXPECT_THAT(outcome.out, HasSubstr("q8_0"));
}

TEST(Tokenize, PrintsAnIdALine) {
    const Storyteller teller;
    const std::string text = teller.text(20), model = teller.model();
    const Outcome outcome = run({"tokenize", "-m", model, "-p", text});
    EXPECT_EQ(outcome.code, 0);
    std::string expected = "1\n";
    for (size_t i = 0; i < 20; ++i) {
        expected += std::to_string(teller.ids()[i]) + "\n";
    }
    EXPECT_EQ(outcome.out, expected);
    EXPECT_EQ(run({"tokenize", "-m", model}, {.in = text}).out, expected);
    EXPECT_EQ(run({"tokenize", "-m", model, "-p", text, "--no-special"}).out, expected.substr(2)); // no BOS
}

TEST(Tokenize, ControlTokensAreTextUnlessAskedFor) {
    EXPECT_EQ(run({"tokenize", "-m", model(), "-p", "</s>", "--parse-special", "--no-special"}).out, "2\n");
    EXPECT_GT(count(run({"tokenize", "-m", model(), "-p", "</s>", "--no-special"}).out, "\n"), 1U);
}

TEST(Tokenize, ABatchIsAnArrayALine) {
    const Folder folder;
    const Storyteller teller;
    const std::string text = teller.text(2);
    const auto first = teller.ids()[0], second = teller.ids()[1];
    write_bytes(folder / "batch.jsonl", "{\"text\": \"" + text + "\"}\n{\"text\": \"" + text + "\", \"add_special\": false}\n" +
                                            "{\"hex\": \"4f6e636520ff\"}\n"
                                            "no record\n"
                                            "{\"text\": \"</s>\", \"parse_special\": true}\n");
    const Outcome outcome = run({"tokenize", "-m", teller.model(), "--batch", folder / "batch.jsonl"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "schedscope: " + folder / "batch.jsonl" +
                               ": 1 of 5 lines can't be read as a record, the first is line 4; null stands for each\n");
    const auto lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(json::parse(lines[0]), json({1, first, second}));
    EXPECT_EQ(json::parse(lines[1]), json({first, second}));
    EXPECT_EQ(json::parse(lines[2]).back(), 258); // the byte ff, by its own token
    EXPECT_EQ(lines[3], "null");
    EXPECT_EQ(json::parse(lines[4]).back(), 2);
}

TEST(Tokenize, BytesAreTwoDigitsEach) {
    const Folder folder;
    std::string records;
    const Storyteller teller;
    const std::vector<std::string> broken = {"f", "4f6", "-1", " 1", "0x", "+a", "4f 6", "gg", "4f6é"};
    for (const std::string& hex : broken) {
        records += json({{"hex", hex}}).dump() + "\n";
    }
    std::string hex; // in capitals and not
    for (const char c : teller.text(1)) {
        hex += std::string("0123456789ABCDEF").substr(static_cast<size_t>(c) / 16, 1) +
               std::string("0123456789abcdef").substr(static_cast<size_t>(c) % 16, 1);
    }
    write_bytes(folder / "batch.jsonl", records + R"({"hex": ")" + hex + "\"}\n");
    const Outcome outcome = run({"tokenize", "-m", teller.model(), "--batch", folder / "batch.jsonl"});
    EXPECT_EQ(outcome.code, 0);
    const auto lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), broken.size() + 1);
    for (size_t i = 0; i < broken.size(); ++i) {
        EXPECT_EQ(lines[i], "null") << broken[i];
    }
    EXPECT_EQ(lines.back(), "[1," + std::to_string(teller.ids()[0]) + "]");
}

/// Every record has its line, and each line is what the reference made of the text: also behind a text that it refuses.
TEST(Tokenize, ABatchOfReferenceRecordsGivesTheirIds) {
    NEEDS_SHARED();
    const Folder folder;
    size_t refused = 0;
    for (const std::string vocabulary : {"spm512", "bpe-gpt-2", "bpe-llama-bpe"}) {
        SCOPED_TRACE(vocabulary);
        const auto packed = test::tokenizer_file(vocabulary + ".jsonl.gz");
        write_bytes(folder / "batch.jsonl", test::unpacked(packed));
        const Outcome outcome =
            run({"tokenize", "-m", test::tokenizer_file(vocabulary + ".gguf"), "--batch", folder / "batch.jsonl"});
        EXPECT_EQ(outcome.code, 0);
        EXPECT_EQ(outcome.err, "");
        const auto lines = lines_of(outcome.out);
        const auto records = test::read_records(packed);
        ASSERT_EQ(lines.size(), records.size());
        for (size_t i = 0; i < records.size(); ++i) {
            EXPECT_EQ(lines[i], records[i].ids ? json(*records[i].ids).dump() : "null") << "record " << i;
            refused += records[i].ids ? 0 : 1;
        }
    }
    EXPECT_GT(refused, 0U);
}

TEST(Devices, AreListed) {
    const Outcome outcome = run({"devices", "--json"});
    ASSERT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    bool cpu = false;
    const json found = json::parse(outcome.out);
    for (const json& device : found["devices"]) {
        for (const char* key : {"name", "kind", "description", "memory_bytes", "features"}) {
            EXPECT_TRUE(device.contains(key)) << key;
        }
        EXPECT_THAT(device["kind"].get<std::string>(), ::testing::AnyOf("gpu", "cpu", "blas", "software"));
        cpu = cpu || (device["name"] == "CPU" && device["kind"] == "cpu" && device["memory_bytes"] > 0);
        EXPECT_THAT(run({"devices"}).out, HasSubstr(device["name"].get<std::string>()));
    }
    EXPECT_TRUE(cpu);
}

TEST(Devices, AreFoundWithoutAVulkanDriver) {
    const Outcome outcome =
        run({"devices", "--json"},
            {.environment = {{"VK_DRIVER_FILES", "/does/not/exist"}, {"VK_ICD_FILENAMES", "/does/not/exist"}}});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    const json found = json::parse(outcome.out);
    for (const json& device : found["devices"]) {
        EXPECT_THAT(device["name"].get<std::string>(), ::testing::Not(StartsWith("Vulkan")));
    }
}

TEST(Devices, AreNamedInAnyCase) {
    EXPECT_EQ(run({"run", "-m", model(), "-p", "", "-n", "20", "--temp", "0", "--device", "BLAS,CPU"}).out,
              known_text(20) + "\n");
    EXPECT_EQ(run({"run", "-m", model(), "-p", "", "-n", "20", "--temp", "0", "--device", "Cpu"}).out, known_text(20) + "\n");
}

TEST(Demo, WithoutATerminalReportsAndWritesThreeFiles) {
    const Folder folder;
    const Outcome outcome = run({"demo"}, {.folder = folder.path()});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(folder.names(),
                ::testing::ElementsAre("schedscope-demo-splits.dot", "schedscope-demo-splits.svg", "schedscope-demo.trace"));
    EXPECT_THAT(outcome.out, HasSubstr("#  backend"));
    EXPECT_THAT(outcome.out, HasSubstr("pass 1"));
    EXPECT_THAT(read_bytes(folder / "schedscope-demo-splits.dot"), StartsWith("digraph"));
    EXPECT_THAT(read_bytes(folder / "schedscope-demo-splits.svg"), HasSubstr("</svg>"));
    EXPECT_EQ(run({"replay", folder / "schedscope-demo.trace"}).code, 0);
    EXPECT_EQ(run({"demo"}, {.folder = folder.path()}).code, 0); // once more over its own files
}

TEST(Demo, InATerminalIsGuidedToAnAnswer) {
    Terminal t(24, 80, {program_path(), "demo"});
    for (const auto& [number, key] : {std::pair("1/5", "2"), {"2/5", "\n"}, {"3/5", "u"}, {"4/5", "{Backspace}"}, {"5/5", "e"}}) {
        ASSERT_TRUE(t.shows(number)) << t.text();
        t.press(key);
    }
    ASSERT_TRUE(t.shows("this is why")) << t.text();
    EXPECT_TRUE(t.shows("the story of ")) << t.text();
    t.press("Q");
    EXPECT_EQ(t.wait_for_exit(), 0);
}

TEST(Demo, DoesNotOverwriteWhatIsNotItsOwn) {
    const Folder folder;
    write_bytes(folder / "schedscope-demo.trace", "a diary");
    const Outcome outcome = run({"demo"}, {.folder = folder.path()});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(read_bytes(folder / "schedscope-demo.trace"), "a diary");
}

TEST(Run, TheSameSeedTellsTheSame) {
    const auto story = [](const char* seed) {
        return run({"run", "-m", model(), "-p", "Once", "-n", "60", "-s", seed, "--device", "cpu", "--min-p", "0", "--top-p",
                    "1"})
            .out;
    };
    EXPECT_EQ(story("11"), story("11"));
    EXPECT_NE(story("11"), story("12"));
}

TEST(Run, SeveralSequencesComeEachUnderItsId) {
    const Outcome outcome =
        run({"run", "-m", model(), "--temp", "0", "-n", "20", "--device", "cpu", "--seq", "3:", "--seq", "1:The dog"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto alone = run({"run", "-m", model(), "--temp", "0", "-n", "20", "--device", "cpu", "-p", "The dog"});
    EXPECT_EQ(outcome.out, "[1]\n" + alone.out + "[3]\n" + known_text(20) + "\n");
}

TEST(Run, StatsGoToStandardError) {
    const Outcome outcome = run({"run", "-m", model(), "-p", "", "--temp", "0", "-n", "20", "--device", "cpu", "--stats"});
    EXPECT_EQ(outcome.out, known_text(20) + "\n");
    EXPECT_THAT(outcome.err,
                ::testing::ContainsRegex("\ngenerated   20 tokens; decoded 19 tokens in [0-9.]+ [^ ]*s, [0-9.]+ tokens/s\n"))
        << "the prompt's evaluation chose the first";
}

TEST(Run, AnOverrideReportsHowManyItMatched) {
    const Outcome outcome =
        run({"run", "-m", model(), "-p", "", "--temp", "0", "-n", "20", "--device", "blas,cpu", "-ot", "ffn_(up|down)=cpu"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, known_text(20) + "\n");
    EXPECT_EQ(count(outcome.err, "-ot "), 1U) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("10 tensors"));
}

TEST(Run, WithTheValidationLayerHasNothingToReport) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    for (const std::vector<std::string>& settings :
         {std::vector<std::string>{"-ngl", "99"},
          {"-ngl", "3", "-p", "Once upon a time, there was a little girl named Lily who loved to play outside in the park"},
          {"-ngl", "2", "-fa", "off", "-ctk", "f32", "-ctv", "f32"}}) {
        std::vector<std::string> arguments = {"run", "-m", model(), "-n", "4", "--temp", "0", "--device", "vulkan0,cpu"};
        arguments.insert(arguments.end(), settings.begin(), settings.end());
        const Outcome outcome = run(arguments, {.environment = {{"SCHEDSCOPE_VULKAN_VALIDATION", "1"}}});
        EXPECT_EQ(outcome.code, 0);
        EXPECT_EQ(outcome.err, "");
    }
}

} // namespace
} // namespace schedscope::test
