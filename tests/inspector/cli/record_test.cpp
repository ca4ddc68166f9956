// record, and replay of what it wrote.
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/inspector/cli/harness/story.h"
#include "tests/support/models/storyteller.h"
#include "tests/support/terminal.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Start without_vulkan = {.environment = {{"VK_DRIVER_FILES", "/does/not/exist"}, {"VK_ICD_FILENAMES", "/does/not/exist"}}};

TEST(Record, PrintsWhatRunPrints) {
    const Storyteller teller;
    const Folder folder;
    const std::vector<std::string> common = {"-m", teller.model(), "-p", "", "-n", "200", "--temp", "0", "--device", "cpu"};
    std::vector<std::string> record = {"record", "-o", folder / "t.trace"}, run_record = {"run", "--record", folder / "r.trace"};
    record.insert(record.end(), common.begin(), common.end());
    run_record.insert(run_record.end(), common.begin(), common.end());
    for (const auto& arguments : {record, run_record}) {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.out, teller.text() + "\n");
        const std::string& trace = arguments[0] == "record" ? record[2] : run_record[2];
        EXPECT_EQ(outcome.err, "wrote " + trace + ": 200 evaluations; next: schedscope inspect " + trace + "\n");
    }
    EXPECT_THAT(folder.names(), ::testing::ElementsAre("r.trace", "t.trace")); // no journals
}

TEST(Record, KeepsTheTokens) {
    const Storyteller teller;
    const Folder folder;
    ASSERT_EQ(
        run({"record", "-m", teller.model(), "-p", "", "-n", "200", "--temp", "0", "--device", "cpu", "-o", folder / "t.trace"})
            .code,
        0);
    const auto table = nlohmann::json::parse(run({"show", folder / "t.trace", "--what", "tokens", "--json"}).out);
    std::vector<int32_t> ids;
    std::string text;
    for (const auto& token : table["tokens"]) {
        ids.push_back(token["id"]);
        text += token["text"].get<std::string>();
    }
    EXPECT_EQ(ids, teller.ids());
    EXPECT_EQ(text.substr(text.starts_with(' ')), teller.text());
}

TEST(Record, ReplacesAnOlderTrace) {
    const Recorded recorded({"--device", "cpu"});
    const auto before = recorded.json("show")["evaluations"];
    ASSERT_EQ(run({"record", "-m", model(), "-n", "7", "--ignore-eos", "--device", "cpu", "-o", recorded.path()}).code, 0);
    EXPECT_EQ(before, 3);
    EXPECT_EQ(recorded.json("show")["evaluations"], 7);
}

TEST(Record, DoesNotReplaceWhatIsNoTrace) {
    const Folder folder;
    write_bytes(folder / "letter", "Dear Lily");
    const std::vector<std::string> arguments = {"record", "-m", model(), "-n", "1", "--device", "cpu", "-o", folder / "letter"};
    const Outcome refused = run(arguments);
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("--force"));
    EXPECT_EQ(read_bytes(folder / "letter"), "Dear Lily");

    std::vector<std::string> forced = arguments;
    forced.emplace_back("--force");
    EXPECT_EQ(run(forced).code, 0);
    EXPECT_EQ(run({"show", folder / "letter"}).code, 0);
}

TEST(Record, NeverReplacesWhatItReads) {
    const Folder folder;
    const std::string copy = folder / "m.gguf", prompt = folder / "prompt";
    write_bytes(copy, read_bytes(model()));
    write_bytes(prompt, "Once");
    for (const std::string& input : {copy, prompt}) {
        const std::string before = read_bytes(input);
        const Outcome refused = run({"record", "-m", copy, "-f", prompt, "-n", "1", "--device", "cpu", "--force", "-o", input});
        EXPECT_EQ(refused.code, 2);
        EXPECT_THAT(refused.err, HasSubstr("this file is read"));
        EXPECT_TRUE(read_bytes(input) == before);
    }
}

TEST(Record, AnEmptyNameIsNoName) {
    for (const std::vector<std::string>& start : {std::vector<std::string>{"record", "-o", ""}, {"run", "--record", ""}}) {
        std::vector<std::string> arguments = start;
        for (const std::string& more : {std::string("-m"), model(), std::string("-n"), std::string("1")}) {
            arguments.push_back(more);
        }
        const Outcome refused = run(arguments);
        EXPECT_EQ(refused.code, 2);
        EXPECT_THAT(refused.err, HasSubstr("the name of a file is missing"));
        EXPECT_EQ(refused.out, "");
    }
}

TEST(Record, LeavesAnOlderTraceWhenTheRunCanNotBegin) {
    const Recorded recorded({"--device", "cpu"});
    const std::string before = read_bytes(recorded.path());
    EXPECT_EQ(run({"record", "-m", "missing.gguf", "-o", recorded.path()}).code, 3);
    EXPECT_EQ(run({"record", "-m", model(), "--device", "cpu", "-ot", "no_such=cpu", "-o", recorded.path()}).code, 2);
    EXPECT_EQ(run({"record", "-m", model(), "--device", "cpu", "-c", "1000000000", "-o", recorded.path()}).code, 4);
    EXPECT_EQ(read_bytes(recorded.path()), before);
    EXPECT_EQ(recorded.folder().names().size(), 1U);
}

TEST(Record, LeavesALogitsFileAsItWasWhenThePromptIsRefused) {
    const Folder folder;
    write_bytes(folder / "l", "older");
    const Outcome refused =
        run({"run", "-m", model(), "--device", "cpu", "-c", "256", "--tokens", prompt_ids(257), "--logits-out", folder / "l"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(read_bytes(folder / "l"), "older");
}

class RefusedPrompt : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(RefusedPrompt, LeavesNoTraceAndAnOlderOneAsItWas) {
    const Folder folder;
    const std::string path = folder / "t.trace";
    std::vector<std::string> arguments = GetParam();
    arguments.insert(arguments.end(), {"-m", model(), "--device", "cpu", "-c", "256"});
    const auto expect_refused = [&] {
        const Outcome refused = run(arguments);
        EXPECT_EQ(refused.code, 2);
        EXPECT_EQ(count(refused.err, "\n"), 1U) << refused.err;
        EXPECT_EQ(refused.out, "");
    };
    arguments.insert(arguments.end(), {arguments.front() == "record" ? "-o" : "--record", path});
    expect_refused();
    EXPECT_THAT(folder.names(), IsEmpty());
    ASSERT_EQ(run({"record", "-m", model(), "--device", "cpu", "-n", "1", "--tokens", "1", "-o", path}).code, 0);
    const std::string before = read_bytes(path);
    expect_refused();
    EXPECT_EQ(read_bytes(path), before);
    EXPECT_EQ(folder.names().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Record, RefusedPrompt,
                         ::testing::Values(std::vector<std::string>{"record", "--tokens", prompt_ids(257)},
                                           std::vector<std::string>{"record", "--dry-run", "--n-prompt", "257"},
                                           std::vector<std::string>{"record", "--last", "2", "--tokens", prompt_ids(257)},
                                           std::vector<std::string>{"record", "--tokens", "1,1000000"},
                                           std::vector<std::string>{"record", "--tokens", "1", "--sampler", "5:greedy"},
                                           std::vector<std::string>{"record", "--ppl", "/dev/null"},
                                           std::vector<std::string>{"verify", "--tokens", prompt_ids(257)}),
                         [](const auto& param) { return "case_" + std::to_string(param.index); });

TEST(Record, WithoutTextKeepsNoWordOfIt) {
    const Storyteller teller;
    const Folder folder;
    const std::vector<std::string> arguments = {"record", "-m", teller.model(),    "-p", "Zebra Quixotic",
                                                "-n",     "60", "--temp",          "0",  "--device",
                                                "cpu",    "-o", folder / "t.trace"};
    const Outcome with = run(arguments);
    ASSERT_EQ(with.code, 0) << with.err;
    // The prompt and the longer words of what was generated.
    std::vector<std::string> words = {"Zebra", "Quixotic"};
    std::string word;
    for (const char c : with.out) {
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            word += c;
        } else {
            words.insert(words.end(), word.size() > 4 ? 1 : 0, word);
            word.clear();
        }
    }
    const std::string bytes_with = run({"export", folder / "t.trace", "--jsonl", "-"}).out;
    std::vector<std::string> hidden = arguments;
    hidden.emplace_back("--no-text");
    const Outcome without = run(hidden);
    EXPECT_EQ(without.code, 0);
    EXPECT_EQ(without.out, with.out);
    const std::string bytes = read_bytes(folder / "t.trace");
    for (const std::string& w : words) {
        EXPECT_EQ(bytes.find(w), std::string::npos) << w;
    }
    const std::string jsonl = run({"export", folder / "t.trace", "--jsonl", "-"}).out;
    EXPECT_EQ(jsonl.find("\"text\":\" "), std::string::npos);
    EXPECT_NE(bytes_with.find("\"text\":\" "), std::string::npos);
    EXPECT_EQ(run({"replay", folder / "t.trace"}).code, 0);
}

TEST(Record, DryRunPlansWithoutGenerating) {
    const Recorded dry({"--dry-run", "--device", "cpu"}), real({"--device", "cpu"});
    EXPECT_EQ(dry.outcome().code, 0) << dry.outcome().err;
    EXPECT_EQ(dry.outcome().out, "");
    EXPECT_EQ(dry.json("show", {"--what", "tokens"})["tokens"].size(), 0U);
    for (const char* evaluation : {"0", "1"}) {
        json planned = dry.json("show", {"--what", "assignments", "--eval", evaluation})["assignments"];
        json ran = real.json("show", {"--what", "assignments", "--eval", evaluation})["assignments"];
        for (json& row : ran) {
            row["time_ns"] = nullptr;
        }
        EXPECT_EQ(planned, ran);
        EXPECT_EQ(dry.json("show", {"--what", "copies", "--eval", evaluation})["copies"].size(),
                  real.json("show", {"--what", "copies", "--eval", evaluation})["copies"].size());
    }
    EXPECT_EQ(dry.read("replay").code, 0);
}

TEST(Record, DryRunOfAPromptThatFillsTheContextPlansItAlone) {
    const Recorded full({"--dry-run", "--device", "cpu", "-c", "256"}, 256),
        room({"--dry-run", "--device", "cpu", "-c", "256"}, 255);
    EXPECT_EQ(full.outcome().code, 0);
    EXPECT_EQ(count(beside_wrote(full.outcome()), "\n"), 1U) << full.outcome().err;
    EXPECT_THAT(full.outcome().err,
                AllOf(HasSubstr("fills the context of 256 tokens: it is planned alone"), HasSubstr(": 1 evaluation; ")));
    EXPECT_THAT(full.read("show").out, HasSubstr("nothing ran; planned for 256 tokens\n"));
    EXPECT_EQ(beside_wrote(room.outcome()), "");
    EXPECT_THAT(room.outcome().err, HasSubstr(": 2 evaluations; "));
}

/// Every decision of every plan again, also on a machine without the devices.
void expect_identical_replay(const Recorded& recorded) {
    ASSERT_EQ(recorded.outcome().code, 0) << recorded.outcome().err;
    for (const Start& start : {Start{}, without_vulkan}) {
        const Outcome text = recorded.read("replay", {}, start);
        EXPECT_EQ(text.code, 0) << text.out;
        EXPECT_EQ(text.err, "");
        const auto result = recorded.json("replay", {}, start);
        EXPECT_GT(result["compared"], 300);
        EXPECT_EQ(result["identical"], result["compared"]);
        EXPECT_EQ(result["differences"].size(), 0U);
        std::string digits = text.out; // people read "1,382", programs 1382
        std::erase(digits, ',');
        EXPECT_THAT(digits, HasSubstr(result["identical"].dump() + " of " + result["compared"].dump()));
    }
}

TEST(Replay, OfOneDeviceIsIdentical) { expect_identical_replay(Recorded({"--device", "cpu"})); }

TEST(Replay, OfTwoBackendsOnOneMemoryIsIdentical) { expect_identical_replay(Recorded({"--device", "blas,cpu", "-fa", "off"})); }

TEST(Replay, IsIdenticalAfterTheDriverIsTakenAway) {
    if (!has_device("Vulkan0")) {
        GTEST_SKIP() << "no Vulkan device";
    }
    ASSERT_EQ(run({"run", "-m", model(), "--device", "vulkan0"}, without_vulkan).code, 2); // really away
    for (const std::vector<std::string>& settings : {std::vector<std::string>{"-ngl", "3"},
                                                     {"-ngl", "3", "--no-op-offload"},
                                                     {"-ngl", "2", "-fa", "off", "-nkvo"},
                                                     {"-ngl", "99", "--stages", "4", "-ub", "16"},
                                                     {"-ngl", "0", "-ot", "ffn_up=Vulkan0"}}) {
        std::vector<std::string> arguments = {"--device", "vulkan0,cpu"};
        arguments.insert(arguments.end(), settings.begin(), settings.end());
        SCOPED_TRACE(::testing::PrintToString(settings));
        expect_identical_replay(Recorded(arguments));
    }
}

TEST(Replay, WithOtherSettingsTellsWhatChanges) {
    const Recorded recorded({"--device", "blas,cpu", "-fa", "off"});
    const Outcome refused = recorded.read("replay", {"--set", "refuse=blas:MUL_MAT"});
    EXPECT_EQ(refused.code, 0) << refused.err;
    const auto changes = recorded.json("replay", {"--set", "refuse=blas:MUL_MAT"});
    ASSERT_GT(changes["differences"].size(), 0U);
    EXPECT_LT(changes["identical"], changes["compared"]);
    for (const auto& difference : changes["differences"]) {
        for (const char* key : {"tensor", "what", "recorded", "now"}) {
            EXPECT_TRUE(difference.contains(key)) << key;
        }
    }
}

TEST(Replay, ToldToPeopleAWhatIfBeginsWithWhatThePlansComeTo) {
    const Recorded recorded({"--device", "cpu", "-fa", "on"}), really({"--device", "cpu", "-fa", "off"});
    const Outcome outcome = recorded.read("replay", {"--set", "fa=off"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::vector<std::string> lines = lines_of(outcome.out);
    ASSERT_GT(lines.size(), 11U);
    EXPECT_EQ(lines[0], "evaluation 0: prefill, 40 tokens");
    for (const char* what : {"nodes on CPU", "splits", "copies", "bytes copied a run", "fused groups", "weights in CPU",
                             "KV cache in CPU", "compute buffer of CPU"}) {
        EXPECT_EQ(std::count_if(lines.begin() + 1, lines.begin() + 11, [&](const auto& line) { return line.starts_with(what); }),
                  1)
            << what;
    }
    const auto changes = recorded.json("replay", {"--set", "fa=off"}), run = really.json("replay", {"--set", "fa=off"});
    ASSERT_EQ(changes["summary"].size(), run["summary"].size());
    for (size_t i = 0; i < run["summary"].size(); ++i) {
        EXPECT_EQ(changes["summary"][i]["now"], run["summary"][i]["recorded"]);
        EXPECT_NE(changes["summary"][i]["now"], changes["summary"][i]["recorded"]);
    }
    for (const auto& difference : changes["differences"]) {
        EXPECT_NE(difference["recorded"], difference["now"]) << difference;
    }
}

TEST(RecordBounds, KeepTheLastEvaluationsAndTheirPlans) {
    const Folder folder;
    const auto recorded = [&](const std::vector<std::string>& bounds, const std::string& kept) {
        std::vector<std::string> arguments = {"record", "-m", model(),    "--device",     "cpu", "-n",         "12",
                                              "--temp", "0",  "--tokens", prompt_ids(40), "-o",  folder / "t", "--ignore-eos"};
        arguments.insert(arguments.end(), bounds.begin(), bounds.end());
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "wrote " + (folder / "t") + ": " + kept + "; next: schedscope inspect " + (folder / "t") + "\n");
        EXPECT_EQ(run({"replay", folder / "t"}).code, 0);
        return std::pair(outcome.out, nlohmann::json::parse(run({"show", folder / "t", "--json"}).out));
    };
    const auto [text, all] = recorded({}, "12 evaluations");
    const auto [same_text, last] =
        recorded({"--last", "2"}, "4 evaluations: the last 2, and 2 that plans and memory depend on (8 more were seen)");
    EXPECT_EQ(same_text, text);
    EXPECT_EQ(all["evaluations"], 12);
    EXPECT_EQ(last["evaluations"], 4) << "the prompt, the decode that planned, the last two";
    const auto [sized_text, sized] = recorded({"--last", "100MiB", "--for", "1h"}, "12 evaluations");
    EXPECT_EQ(sized["evaluations"], 12);
    const auto tokens = nlohmann::json::parse(run({"show", folder / "t", "--what", "tokens", "--json"}).out);
    EXPECT_EQ(tokens["tokens"].size(), 12U) << "they come behind the end of an evaluation";
    const auto [matched_text, matched] =
        recorded({"--when", "name=no_such_tensor"},
                 "1 evaluation: none that matches, and 1 that plans and memory depend on (11 more were seen)");
    EXPECT_EQ(matched["evaluations"], 1) << "the one that planned memory";
    recorded({"--when", "kind=token"}, "12 evaluations that match");
    recorded({"--when", "kind=token", "--last", "1"},
             "3 evaluations: the last one that matches, and 2 that plans and memory depend on (9 more were seen)");
    recorded({"--when", "eval>8"}, "5 evaluations: 3 that match, and 2 that plans and memory depend on (7 more were seen)");
    for (const char* what : {"splits", "memory", "tokens", "reuse", "kernels"}) {
        EXPECT_EQ(run({"show", folder / "t", "--what", what}).code, 0) << what;
    }
}

TEST(RecordBounds, WhatABackendWasAskedMatchesAsAQuestionAlone) {
    const Folder folder;
    const auto kept = [&](const std::string& query) {
        return run({"record", "-m", model(), "--device", "blas,cpu", "-p", "", "-n", "3", "-o", folder / "t", "--when", query})
            .err;
    };
    EXPECT_THAT(kept("op=ADD backend=BLAS"), HasSubstr(": none that matches, and 1 that plans"));
    EXPECT_THAT(kept("op=ADD backend=BLAS kind=query"), HasSubstr(": 1 evaluation that matches (2 more were seen)"));
}

TEST(RecordBounds, AreRefusedInOneLine) {
    const Folder folder;
    for (const auto& [bound, why] :
         std::vector<std::pair<std::vector<std::string>, std::string>>{{{"--last", "0"}, "a number of evaluations or a size"},
                                                                       {{"--last", "5GB"}, "5GB"},
                                                                       {{"--last", "99999999999GiB"}, "a size is wanted"},
                                                                       {{"--last", "10KiB"}, "1MiB at least"},
                                                                       {{"--for", "5"}, "a time is wanted"},
                                                                       {{"--for", "0s"}, "a time is wanted"},
                                                                       {{"--when", "opp=MUL"}, "'opp' is no field"}}) {
        std::vector<std::string> arguments = {"record", "-m", model(), "-n", "1", "-o", folder / "t"};
        arguments.insert(arguments.end(), bound.begin(), bound.end());
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.code, 2) << bound[1];
        EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
        EXPECT_THAT(outcome.err, ::testing::HasSubstr(why));
        EXPECT_FALSE(exists(folder / "t"));
    }
}

/// What ":save" keeps of a live run is what the run itself records.
TEST(Save, KeepsTheLiveRunAsATrace) {
    const Folder folder;
    const std::string recorded = folder / "recorded.trace", part = folder / "part.trace", saved = folder / "saved.trace";
    Terminal t(24, 160,
               {program_path(), "inspect", "-m", model(), "--tokens", "1,403", "-n", "3", "--temp", "0", "--device", "cpu",
                "--record", recorded});
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press(":save " + (folder / "rec") + "\t\n"); // a file's name is completed
    ASSERT_TRUE(t.shows("is in use here")) << t.text();
    const std::string before = t.line(0);
    t.press("t");
    ASSERT_TRUE(t.wait_until([&] { return t.line(0) != before && t.line(0).find("HELD") != std::string::npos; })) << t.text();
    t.press(":save " + part + "\n"); // the run is in the middle
    ASSERT_TRUE(t.shows(" records are written; schedscope inspect opens it")) << t.text();
    t.press(":save " + part + "\n");
    ASSERT_TRUE(t.shows("exists: :save! ")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("ENDED")) << t.text();
    t.press(":save! " + part + "\n"); // all of it
    ASSERT_TRUE(t.wait_until([&] { return t.text().find("are written; schedscope inspect opens it") != std::string::npos; }))
        << t.text();
    t.press(":save " + (folder / "none/x.trace") + "\n");
    ASSERT_TRUE(t.shows("none/x.trace: can't be written")) << t.text();
    t.press(":save " + saved + "\nq"); // and quits: both are meant
    EXPECT_EQ(t.wait_for_exit(), 0) << t.text();
    EXPECT_THAT(folder.names(), ::testing::ElementsAre("part.trace", "recorded.trace", "saved.trace"));
    const Outcome lines = run({"export", recorded, "--jsonl", "-"});
    ASSERT_EQ(lines.code, 0) << lines.err;
    for (const std::string& copy : {part, saved}) {
        EXPECT_EQ(run({"export", copy, "--jsonl", "-"}).out, lines.out);
        for (const std::vector<std::string>& asked :
             {std::vector<std::string>{"show"}, {"explain"}, {"show", "--what", "kernels"}, {"replay"}}) {
            std::vector<std::string> of_copy = asked, of_recorded = asked;
            of_copy.insert(of_copy.begin() + 1, copy);
            of_recorded.insert(of_recorded.begin() + 1, recorded);
            if (asked.front() == "explain") {
                of_copy.emplace_back("attn_norm-0");
                of_recorded.emplace_back("attn_norm-0");
            }
            const Outcome a = run(of_copy), b = run(of_recorded);
            EXPECT_EQ(a.code, 0) << a.err;
            EXPECT_EQ(std::string(a.out).replace(0, a.out.starts_with(copy) ? copy.size() : 0, ""),
                      std::string(b.out).replace(0, b.out.starts_with(recorded) ? recorded.size() : 0, ""));
        }
    }
}

TEST(Save, LeavesTextsOutWhereTheyAreNotToBeKept) {
    const Folder folder;
    const std::string saved = folder / "saved.trace";
    Terminal t(24, 160,
               {program_path(), "inspect", "-m", model(), "--tokens", "1,403", "-n", "2", "--temp", "0", "--device", "cpu",
                "--no-text"});
    ASSERT_TRUE(t.shows("HELD")) << t.text();
    t.press("c");
    ASSERT_TRUE(t.shows("ENDED")) << t.text();
    t.press(":save " + saved + "\n");
    ASSERT_TRUE(t.shows("are written")) << t.text();
    t.press("q");
    EXPECT_EQ(t.wait_for_exit(), 0);
    for (const auto& token : nlohmann::json::parse(run({"show", saved, "--what", "tokens", "--json"}).out)["tokens"]) {
        EXPECT_TRUE(token["id"].is_null());
    }
    Terminal again(24, 160, {program_path(), "inspect", saved});
    ASSERT_TRUE(again.shows("q quit")) << again.text();
    again.press(":save x.trace\n");
    EXPECT_TRUE(again.shows("this is a recorded trace already")) << again.text();
    again.press("q");
    EXPECT_EQ(again.wait_for_exit(), 0);
}

} // namespace
} // namespace schedscope::test
