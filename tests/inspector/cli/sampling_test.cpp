// Sampling in the graph, through the program: what is chosen, and what a trace says about it.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> devices_here() {
    std::vector<std::string> lists{"cpu"};
    if (has_device("Vulkan0")) {
        lists.emplace_back("vulkan0,cpu");
    }
    return lists;
}

std::string text_with(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "-m", model()});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
}

TEST(BackendSampling, GivesTheTextThatSamplingOnTheHostGives) {
    for (const std::string& list : devices_here()) {
        for (const std::vector<std::string>& settings :
             {std::vector<std::string>{"--temp", "0"}, {"-s", "7"}, {"-s", "8", "--temp", "1.2", "--repeat-penalty", "1.1"}}) {
            std::vector<std::string> arguments{"-p", "Once upon a time", "-n", "20", "--device", list};
            arguments.insert(arguments.end(), settings.begin(), settings.end());
            const std::string on_host = text_with(arguments);
            for (const char* option : {"-bs", "--backend-sampling"}) {
                arguments.emplace_back(option);
                EXPECT_EQ(text_with(arguments), on_host) << list << " " << settings[1];
                arguments.pop_back();
            }
        }
    }
}

TEST(BackendSampling, SequencesHaveChainsOfTheirOwn) {
    for (const std::string& list : devices_here()) {
        std::vector<std::string> arguments{"--seq",     "0:Once",
                                           "--seq",     "2:Tom had a",
                                           "--seq",     "5:Lily",
                                           "--sampler", "0:greedy",
                                           "--sampler", "2:top_k=40;cpu:temp=0.8;dist",
                                           "--sampler", "5:top_k=12;xtc=0.5,0.1;temp=0.9;dist",
                                           "-n",        "12",
                                           "-s",        "3",
                                           "--device",  list};
        const std::string on_host = text_with(arguments);
        EXPECT_THAT(on_host, HasSubstr("[2]\n"));
        arguments.emplace_back("-bs");
        EXPECT_EQ(text_with(arguments), on_host) << list;
    }
}

TEST(BackendSampling, IsToldTokenByToken) {
    for (const std::string& list : devices_here()) {
        const std::string device = list == "cpu" ? "CPU" : "Vulkan0";
        const Recorded recorded(
            {"--device", list, "-bs", "-s", "5", "--seq", "3:Tom", "--sampler", "3:top_k=40;xtc=0.5;temp=0.8;dist"});
        ASSERT_EQ(recorded.outcome().code, 0) << recorded.outcome().err;
        const json tokens = recorded.json("show", {"--what", "tokens"})["tokens"];
        ASSERT_EQ(tokens.size(), 6U);
        for (const json& t : tokens) {
            const bool cut = t["seq"] == 3;
            EXPECT_EQ(t["samplers"], cut ? json({"+top_k", "xtc", "temp", "dist"}) : json({"+penalties", "+greedy"}));
            EXPECT_EQ(t["host_bytes"], cut ? 40 * 8 : 8);
            const json& first = t["chain"].front();
            EXPECT_EQ(first["backend"], device);
            if (cut) {
                EXPECT_EQ(first["candidates"], 40);
                EXPECT_GT(first["nodes"], 0);
                EXPECT_THAT(t["chain"][1]["why_not_in_graph"].get<std::string>(), HasSubstr("CPU only"));
                EXPECT_TRUE(t["chain"][1]["backend"].is_null());
            }
        }
        const std::string text = recorded.read("show", {"--what", "tokens"}).out;
        EXPECT_THAT(text, HasSubstr("+top_k xtc temp dist"));
        EXPECT_THAT(text, HasSubstr("behind xtc, which runs on the CPU"));
        EXPECT_THAT(text, HasSubstr("320 B"));
        const std::string story = recorded.read("explain", {"seq3.top_k.top_k", "--eval", "2"}).out;
        EXPECT_THAT(story, HasSubstr("sampler top_k in the graph on " + device));
        EXPECT_THAT(story, HasSubstr("40 candidates left"));
        const json replayed = recorded.json("replay");
        EXPECT_GT(replayed["compared"], 100);
        EXPECT_EQ(replayed["compared"], replayed["identical"]);
        EXPECT_THAT(recorded.read("show", {"--what", "reuse"}).out, HasSubstr("  reused "));
    }
}

TEST(BackendSampling, WithoutItNothingIsSaidOfTheGraph) {
    const Recorded recorded({"--device", "cpu"});
    const std::string text = recorded.read("show", {"--what", "tokens"}).out;
    EXPECT_THAT(text, Not(HasSubstr("+greedy")));
    EXPECT_THAT(text, Not(HasSubstr("why not in the graph")));
    EXPECT_EQ(recorded.json("show", {"--what", "tokens"})["tokens"][0]["host_bytes"], 512 * 4);
}

TEST(BackendSampling, LogitsAreWrittenAllTheSame) {
    const Folder folder;
    const auto rows = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"--tokens", prompt_ids(6), "-n",           "4",         "--temp", "0",
                                           "--device", "cpu",         "--logits-out", folder / "l"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        text_with(arguments);
        return read_bytes(folder / "l");
    };
    EXPECT_EQ(rows({"-bs"}), rows({}));
    EXPECT_EQ(rows({"-bs", "--logits-all"}).size(), size_t{(6 + 3) * 512 * 4});
}

TEST(BackendSampling, IsPlannedInADryRun) {
    const Recorded recorded({"--device", "big=vulkan:1GiB,cpu", "--dry-run", "-bs"});
    ASSERT_EQ(recorded.outcome().code, 0) << recorded.outcome().err;
    const json rows = recorded.json("show", {"--what", "assignments"})["assignments"];
    const auto argmax = std::find_if(rows.begin(), rows.end(), [](const json& r) { return r["name"] == "seq0.greedy.argmax"; });
    ASSERT_NE(argmax, rows.end());
    EXPECT_EQ((*argmax)["backend"], "big");
}

TEST(Samplers, WhatIsNotUnderstoodIsOneLine) {
    for (const auto& [chain, why] :
         std::vector<std::pair<std::string, std::string>>{{"0:top_q=1;dist", "there is none of that name"},
                                                          {"0:top_k=four;dist", "is not a number"},
                                                          {"0:top_k=4", "nothing chooses a token"},
                                                          {"0:greedy;top_k=4", "already chosen"},
                                                          {"0:mirostat=3", "from 1 to 2"},
                                                          {"7:greedy", "there is no sequence 7"}}) {
        const Outcome outcome = run({"run", "-m", model(), "-p", "Once", "-n", "1", "--sampler", chain});
        EXPECT_EQ(outcome.code, 2) << chain;
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr(why)) << chain;
    }
}

} // namespace
} // namespace schedscope::test
