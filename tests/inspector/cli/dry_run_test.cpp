// record --dry-run: plans from a header, also for devices that are not here.
#include "tests/inspector/cli/harness/recorded.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace schedscope::test {
namespace {

using ::testing::AllOf;
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
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, "");
    EXPECT_LT(outcome.peak_bytes, 256LL << 20U);
    const auto nodes = nodes_by_backend(folder);
    EXPECT_GT(nodes.at("big"), nodes.at("small"));
    EXPECT_GT(nodes.at("small"), 0);
    EXPECT_GT(nodes.at("CPU"), 0);
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
    EXPECT_EQ(fits.err, "");
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, AllOf(HasSubstr("memory of big"), Not(HasSubstr("does not fit"))));

    const Outcome outcome = dry_run(folder, header, {"--device", "little=vulkan:4000MiB,cpu", "--tokens", "1"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(count(outcome.err, "\n"), 1U);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("little"), HasSubstr("does not fit"), HasSubstr("of 3.9 GiB")));
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, AllOf(HasSubstr("memory of little"), HasSubstr("does not fit")));
    EXPECT_GT(nodes_by_backend(folder).at("little"), 0); // as asked
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

INSTANTIATE_TEST_SUITE_P(DryRun, BadDescription,
                         ::testing::Values(std::pair{"a=cuda:1GiB", "no kind 'cuda'"},
                                           std::pair{"a=vulkan:24GB", "'24GB' is no size"}, std::pair{"a=vulkan:0B", "no size"},
                                           std::pair{"a=vulkan:-1B", "no size"}, std::pair{"a=vulkan:GiB", "no size"},
                                           std::pair{"a=vulkan:99999999999GiB", "no size"}, std::pair{"a=vulkan:", "no size"},
                                           std::pair{"a=vulkan", "NAME=vulkan:SIZE"}, std::pair{"=vulkan:1GiB", "a name has"},
                                           std::pair{"a#b=vulkan:1GiB", "a name has"},
                                           std::pair{"cpu=vulkan:1GiB", "'cpu' is the name"},
                                           std::pair{"a=vulkan:1GiB,A=vulkan:2GiB", "described before"},
                                           std::pair{"a=vulkan:1GiB,b", "there is a, CPU"}));

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
