// A scheduler's log on the command line: imported, then read by every command.
#include "tests/inspector/cli/harness/files.h"
#include "tests/inspector/cli/harness/offers.h"
#include "tests/inspector/cli/harness/recorded.h"
#include "tests/support/paths.h"
#include "tests/support/traces/perfetto_file.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Imports a log into a folder of its own.
struct ImportedTrace {
    Folder folder;
    std::string path = folder / "log.trace";
    Outcome outcome;
    explicit ImportedTrace(const std::string& log) { outcome = run({"import", paths::log(log), "-o", path}); }
    json show(const std::string& what) const { return json::parse(run({"show", path, "--what", what, "--json"}).out)[what]; }
};

TEST(Import, MakesATraceThatEveryCommandReads) {
    for (const char* log : {"2026-05", "2023-10", "level-1", "several", "odd-backend"}) {
        SCOPED_TRACE(log);
        const ImportedTrace trace(log);
        ASSERT_EQ(trace.outcome.code, 0) << trace.outcome.err;
        EXPECT_THAT(trace.outcome.err, IsEmpty());
        for (const std::string& what : topics()) {
            SCOPED_TRACE(what);
            const Outcome text = run({"show", trace.path, "--what", what}),
                          object = run({"show", trace.path, "--what", what, "--json"});
            EXPECT_EQ(text.code, 0) << text.err;
            EXPECT_THAT(text.out, Not(IsEmpty()));
            EXPECT_TRUE(json::accept(object.out));
        }
        EXPECT_EQ(run({"show", trace.path}).code, 0);
        for (const char* view : {"splits", "layers", "nodes", "memory"}) {
            const Outcome picture = run({"dot", trace.path, "--view", view});
            EXPECT_TRUE(picture.code == 0 || (std::string(view) == "memory" && picture.code == 2) ||
                        (std::string(log) == "level-1" && picture.code == 2))
                << view << ": " << picture.err;
        }
        const Outcome lines = run({"export", trace.path, "--jsonl", "-"});
        EXPECT_EQ(lines.code, 0);
        for (const std::string& line : lines_of(lines.out)) {
            EXPECT_EQ(json::parse(line)["time_ns"], nullptr);
        }
        const Outcome same = run({"diff", trace.path, trace.path});
        EXPECT_EQ(same.code, 0) << same.out;
        const Outcome replay = run({"replay", trace.path});
        EXPECT_EQ(replay.code, 3);
        EXPECT_THAT(replay.err, HasSubstr("this trace has no answers of backends"));
        EXPECT_EQ(lines_of(replay.err).size(), 1U);
    }
}

TEST(Import, APictureIsNamedAfterTheLogsFile) {
    const ImportedTrace trace("2026-05");
    const std::string picture = run({"dot", trace.path}).out;
    EXPECT_THAT(picture, HasSubstr("log 2026-05.log</b>"));
    EXPECT_THAT(picture, Not(HasSubstr("scheduler log")));
    ASSERT_EQ(run({"import", "-", "-o", trace.path}, {.in = read_bytes(paths::log("2026-05"))}).code, 0);
    EXPECT_THAT(run({"dot", trace.path}).out, HasSubstr("a scheduler log from standard input</b>"));
}

TEST(Import, APictureOfNodesThatTheLogDoesNotNameIsRefused) {
    const ImportedTrace trace("level-1");
    for (const char* view : {"nodes", "layers"}) {
        const Outcome picture = run({"dot", trace.path, "--view", view});
        EXPECT_EQ(picture.code, 2);
        EXPECT_EQ(picture.out, "");
        EXPECT_EQ(lines_of(picture.err).size(), 1U);
        EXPECT_THAT(picture.err, HasSubstr("use --view splits"));
    }
    EXPECT_EQ(run({"dot", trace.path}).code, 0);
}

TEST(Import, ALogOfSplitsAloneSaysWhatLogsNodes) {
    const ImportedTrace trace("level-1");
    EXPECT_THAT(trace.outcome.out, HasSubstr("3 splits, no nodes: they are logged with GGML_SCHED_DEBUG=2\n"));
}

TEST(Import, ShowsWhatTheLogTellsAndTheRestAsNull) {
    const ImportedTrace trace("2026-05");
    const json splits = trace.show("splits");
    ASSERT_EQ(splits.size(), 3U);
    EXPECT_EQ(splits[1]["backend"], "Vulkan0");
    EXPECT_EQ(splits[1]["why"], "backend");
    EXPECT_EQ(splits[1]["first_node"], 1);
    EXPECT_EQ(splits[1]["last_node"], 7);
    EXPECT_EQ(splits[1]["time_ns"], nullptr);
    EXPECT_EQ(splits[1]["inputs"][0]["tensor"], "inp_embd");
    EXPECT_EQ(splits[1]["inputs"][0]["from"], "CPU");
    EXPECT_EQ(splits[1]["inputs"][0]["bytes"], 10240);
    EXPECT_EQ(splits[1]["inputs"][1]["from"], nullptr);

    const json assignments = trace.show("assignments");
    const auto named = [&](const std::string& name) {
        for (const json& row : assignments) {
            if (row["name"] == name) {
                return row;
            }
        }
        return json();
    };
    const json norm = named("attn_norm-0");
    EXPECT_EQ(norm["op"], "MUL");
    EXPECT_EQ(norm["backend"], "Vulkan0");
    EXPECT_EQ(norm["cause"], "1.wgt1");
    EXPECT_EQ(norm["split"], 1);
    EXPECT_EQ(norm["type"], nullptr);
    EXPECT_EQ(norm["ne"], nullptr);
    EXPECT_EQ(named("ffn_act-0")["op"], "GLU");
    EXPECT_EQ(named("ffn_act-0")["operation"], "SWIGLU");
    EXPECT_EQ(named("token_embd.weight")["op"], nullptr); // a leaf or a view
    EXPECT_EQ(named(""), json());
}

TEST(Import, DoesNotTakeLessThanOneKiBForNothing) {
    const ImportedTrace trace("2026-05");
    const json splits = trace.show("splits");
    EXPECT_EQ(splits[1]["inputs"][1]["tensor"], "inp_pos");
    EXPECT_EQ(splits[1]["inputs"][1]["bytes"], nullptr);
    EXPECT_EQ(splits[2]["inputs"][0]["bytes"], 12 << 20);
    for (const json& copy : trace.show("copies")) {
        EXPECT_EQ(copy["bytes"].is_null(), copy["tensor"] == "inp_pos") << copy;
        EXPECT_EQ(copy["moved_bytes"], nullptr) << copy;
    }
    const Outcome text = run({"show", trace.path});
    EXPECT_THAT(text.out, HasSubstr("3 copies (at least 12.0 MiB to move)"));
    for (const std::vector<std::string>& reading : {std::vector<std::string>{"show", trace.path},
                                                    {"show", trace.path, "--what", "splits"},
                                                    {"explain", trace.path, "inp_pos"}}) {
        EXPECT_THAT(run(reading).out, Not(::testing::ContainsRegex("inp_pos +0 B")));
    }
    const json summary = json::parse(run({"show", trace.path, "--json"}).out);
    EXPECT_EQ(summary["copied_bytes"], nullptr); // one of them is not known
    EXPECT_EQ(summary["moved_bytes"], nullptr);
}

TEST(Import, SaysThatWhatALogLeavesOutIsUnknown) {
    const ImportedTrace trace("2026-05");
    const json summary = json::parse(run({"show", trace.path, "--json"}).out);
    EXPECT_GT(summary["backends"].size(), 0U);
    for (const json& backend : summary["backends"]) {
        EXPECT_EQ(backend["memory_bytes"], nullptr) << backend;
        EXPECT_EQ(backend["description"], nullptr) << backend;
    }
    for (const std::string& line : lines_of(run({"show", trace.path}).out)) {
        EXPECT_FALSE(line.starts_with("backend") && line.ends_with(' ')) << '"' << line << '"';
    }
    for (const char* what : {"passes", "fusion", "memory", "kernels", "tokens"}) {
        EXPECT_THAT(run({"show", trace.path, "--what", what}).out, HasSubstr("is unknown: this trace has no ")) << what;
    }
    const Outcome difference = run({"diff", trace.path, paths::sample("partial-offload"), "--all"});
    EXPECT_EQ(difference.code, 1) << difference.err;
    EXPECT_THAT(difference.out, ::testing::ContainsRegex("backend Vulkan0 +\\(not said\\) → llvmpipe"));
}

TEST(Import, SummarisesWhatTheLogTellsAndNoZeros) {
    const ImportedTrace splits_alone("level-1");
    const json summary = json::parse(run({"show", splits_alone.path, "--json"}).out);
    for (const char* key : {"tokens", "time_ns", "nodes", "leafs", "compute_bytes", "moved_bytes"}) {
        EXPECT_EQ(summary[key], nullptr) << key;
    }
    EXPECT_EQ(summary["splits"], 3);
    const std::string text = run({"show", splits_alone.path}).out;
    EXPECT_THAT(text, HasSubstr("1 evaluation, 1 planned; 16 records (steps 0…15)\n"));
    EXPECT_THAT(text, HasSubstr("the last one planned: 3 splits"));
    EXPECT_THAT(text, Not(HasSubstr("operator")));

    const Folder folder;
    std::string log = read_bytes(paths::log("2026-05"));
    log.replace(log.find("RMS_NORM"), 8, "NEW_NORM");
    write_bytes(folder / "new.log", log);
    ASSERT_EQ(run({"import", folder / "new.log", "-o", folder / "t.trace"}).code, 0);
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, ::testing::ContainsRegex("\\? +Vulkan0 +1\n"));
    const json operators = json::parse(run({"show", folder / "t.trace", "--json"}).out)["operators"];
    EXPECT_THAT(operators, ::testing::Contains(json{{"op", nullptr}, {"backend", "Vulkan0"}, {"nodes", 1}}));
}

TEST(Import, ExportsNoCountsThatNobodyLogged) {
    const ImportedTrace trace("several");
    const test::PerfettoFile file(run({"export", trace.path, "--perfetto", "-"}).out);
    const auto evaluations = file.of_category("evaluation");
    ASSERT_EQ(evaluations.size(), 2U);
    EXPECT_EQ(evaluations[0]->numbers.at("tokens"), 512); // memory was reserved for it
    for (const char* key : {"tokens", "sequences", "outputs"}) {
        EXPECT_FALSE(evaluations[1]->numbers.contains(key)) << key;
    }
    for (const auto* planning : file.of_category("planning")) {
        EXPECT_FALSE(planning->numbers.contains("leafs") || planning->numbers.contains("stages"));
        EXPECT_GT(planning->numbers.at("nodes"), 0);
    }
    std::vector<json> begins;
    for (const std::string& line : lines_of(run({"export", trace.path, "--jsonl", "-"}).out)) {
        if (const json record = json::parse(line); record["kind"] == "evaluation_begin") {
            begins.push_back(record);
        }
    }
    ASSERT_EQ(begins.size(), 2U);
    EXPECT_EQ(begins[0]["n_outputs"], 512);
    EXPECT_EQ(begins[1]["n_outputs"], nullptr);
}

TEST(Import, CanNotBePlannedOtherwise) {
    const ImportedTrace trace("2026-05");
    const std::string why = run({"replay", trace.path}).err;
    EXPECT_THAT(why, HasSubstr("`schedscope record -- PROGRAM`"));
    EXPECT_THAT(why, HasSubstr("this trace has no answers of backends"));
    for (const char* setting : {"ngl=1", "fa=on", "stages=2", "device-order=vulkan0,cpu", "op-offload=off"}) {
        const Outcome outcome = run({"replay", trace.path, "--set", setting});
        EXPECT_EQ(outcome.code, 3) << setting;
        EXPECT_EQ(outcome.err, why) << setting;
    }
}

TEST(Import, TellsTheStoryOfATensor) {
    const ImportedTrace trace("2026-05");
    const Outcome outcome = run({"explain", trace.path, "attn_norm-0"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("attn_norm-0  MUL  (evaluation 0)\n"));
    EXPECT_THAT(outcome.out, HasSubstr("otherwise      not known: nothing can be planned again"));
    EXPECT_THAT(outcome.out, HasSubstr("Vulkan0 by 1.wgt1 (blk.0.attn_norm.weig)"));
    EXPECT_THAT(outcome.out, HasSubstr("lies in split 1 on Vulkan0, nodes 1 to 7"));
    const ImportedTrace stock("2026-01");
    EXPECT_THAT(run({"explain", stock.path, "attn_norm-0"}).out, HasSubstr("on Vulkan0, by a rule that is not known"));
}

TEST(Import, HidesWhatOnlySaysThatItIsNotKnownUntilAllIsAskedFor) {
    for (const char* log : {"2026-05", "2023-10", "level-1", "several", "odd-backend", "two-gpus"}) {
        SCOPED_TRACE(log);
        const ImportedTrace trace(log);
        ASSERT_EQ(trace.outcome.code, 0) << trace.outcome.err;
        EXPECT_THAT(run({"show", trace.path}).out, Not(HasSubstr("(?)")));
        for (const std::string what : {"splits", "assignments", "copies", "reuse"}) {
            SCOPED_TRACE(what);
            const std::string told = run({"show", trace.path, "--what", what}).out,
                              all = run({"show", trace.path, "--what", what, "--all"}).out;
            const size_t named = told.rfind("not known: ");
            ASSERT_NE(named, std::string::npos) << told;
            EXPECT_THAT(told, ::testing::EndsWith(" (--all)\n"));
            EXPECT_THAT(all, Not(HasSubstr("not known: ")));
            const std::string head = told.substr(0, told.find('\n')), whole_head = all.substr(0, all.find('\n'));
            std::istringstream titles(told.substr(named + 11, told.rfind(" (--all)") - named - 11));
            for (std::string title; std::getline(titles, title, ',');) {
                title.erase(0, title.find_first_not_of(' '));
                EXPECT_THAT(whole_head, HasSubstr(title));
            }
            EXPECT_LT(head.size(), whole_head.size());
            for (const std::string& line : lines_of(told)) {
                EXPECT_TRUE(!line.starts_with("    copies in") || line.find(" ?") == std::string::npos) << line;
            }
        }
    }
    // Nodes that a log leaves out take a place all the same: an assignment's number is that of explain and of the splits.
    const ImportedTrace views_left_out("2026-05");
    for (const json& row : views_left_out.show("assignments")) {
        ASSERT_TRUE(row["node"].is_null() ||
                    json::parse(run({"explain", views_left_out.path, "#" + row["node"].dump(), "--json"}).out)["id"] == row["id"])
            << row;
    }
    EXPECT_THAT(run({"show", views_left_out.path, "--what", "assignments", "--all"}).out, HasSubstr("(unknown)"));
    EXPECT_THAT(run({"show", views_left_out.path, "--what", "assignments"}).out, Not(HasSubstr("(unknown)")));
    const ImportedTrace splits_alone("level-1");
    EXPECT_THAT(run({"show", splits_alone.path, "--what", "reuse"}).out, HasSubstr("graph of 3 splits"));
    EXPECT_THAT(run({"show", splits_alone.path, "--all"}).out, HasSubstr("? nodes, 3 splits"));
}

TEST(Import, CountsSayWhatTheyCount) {
    const ImportedTrace trace("2026-05"); // of its nine nodes, the log lacks one
    EXPECT_THAT(trace.outcome.out, HasSubstr("3 splits, 9 nodes (1 of them not in the log)"));
    EXPECT_THAT(run({"show", trace.path}).out, HasSubstr(": 9 nodes (1 of them not in the log), 3 splits"));
    const json summary = json::parse(run({"show", trace.path, "--json"}).out);
    int logged = 0;
    for (const json& row : summary["operators"]) {
        logged += row["nodes"].get<int>();
    }
    EXPECT_EQ(summary["nodes"], logged + summary["nodes_left_out"].get<int>());
}

TEST(Import, WhatASplitsMissingLineWouldSayIsUnknown) {
    const Folder folder;
    std::string text = read_bytes(paths::log("2026-05"));
    text.erase(text.find("## SPLIT #1"), text.find("## SPLIT #2") - text.find("## SPLIT #1"));
    write_bytes(folder / "gap.log", text);
    const std::string path = folder / "gap.trace";
    EXPECT_THAT(run({"import", folder / "gap.log", "-o", path}).out, HasSubstr("1 graph, 3 splits, "));
    const json splits = json::parse(run({"show", path, "--what", "splits", "--json"}).out)["splits"];
    ASSERT_EQ(splits.size(), 3U);
    for (const char* key : {"backend", "inputs", "bytes", "why"}) {
        EXPECT_EQ(splits[1][key], nullptr) << key;
    }
    const std::string summary = run({"show", path}).out;
    EXPECT_THAT(summary, ContainsRegex(", 3 splits, at least [0-9]+ cop(y|ies)"));
    EXPECT_EQ(json::parse(run({"show", path, "--json"}).out)["copies"], nullptr);
}

TEST(Import, ASplitsBytesAreAtLeastThoseThatAreKnown) {
    const ImportedTrace trace("2026-05");
    EXPECT_THAT(run({"show", trace.path, "--what", "splits"}).out, HasSubstr("≥ 10.0 KiB"));
    EXPECT_EQ(trace.show("splits")[1]["bytes"], json(nullptr));
}

TEST(Import, KeepsWhatALogSaysOfOtherMemory) {
    const Folder folder;
    const std::string log = "load_tensors:   CPU_Mapped model buffer size =     0.41 MiB\n"
                            "load_tensors:      Vulkan0 model buffer size =     0.15 MiB\n"
                            "llama_kv_cache:    Vulkan0 KV buffer size =     0.03 MiB\n";
    const Outcome outcome = run({"import", "-", "-o", folder / "t.trace"}, {.in = log + read_bytes(paths::log("2026-05"))});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::string told = run({"show", folder / "t.trace", "--what", "memory"}).out;
    EXPECT_THAT(told, HasSubstr("model: CPU_Mapped 0.41 MiB, Vulkan0 0.15 MiB\nKV cache: Vulkan0 0.03 MiB\n"));
}

TEST(Import, SaysThatALogRoundsItsSizes) {
    const ImportedTrace trace("several");
    EXPECT_THAT(run({"show", trace.path, "--what", "memory", "--eval", "1"}).out, ContainsRegex("\nVulkan0  about 2\\.50 MiB\n"));
    EXPECT_THAT(run({"show", trace.path, "--eval", "1"}).out, HasSubstr("compute buffers about 2.50 MiB"));
    const json buffer = json::parse(run({"show", trace.path, "--what", "memory", "--eval", "1", "--json"}).out)["memory"][0];
    EXPECT_EQ(buffer["size"], 2621440);
    EXPECT_EQ(buffer["size_rounding"], 5243);
}

TEST(Import, ReadsStandardInput) {
    const Folder folder;
    const Outcome outcome = run({"import", "-", "-o", folder / "t.trace"}, {.in = read_bytes(paths::log("2025-07"))});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, HasSubstr("standard input"));
}

TEST(Import, TellsAFullDiskFromALogThatCanNotBeRead) {
    constexpr size_t room = 1 << 20;
    for (const size_t too_many : {100, 100'000}) { // less and more than is written at once
        const Folder folder;
        const Outcome outcome = run({"import", "-", "-o", folder / "t.trace"},
                                    {.in = std::string(room + too_many, 'x'), .largest_file = static_cast<long long>(room)});
        EXPECT_EQ(outcome.code, 4);
        EXPECT_EQ(outcome.err, "schedscope: a temporary file for the log: File too large\n");
    }
}

TEST(Import, StopsAtCtrlCWhileAPipeIsRead) {
    const Folder folder;
    const std::string pipe = folder / "log";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    Program program({"import", pipe, "-o", folder / "t.trace"});
    const int end = open(pipe.c_str(), O_WRONLY | O_CLOEXEC); // waits until the program reads
    program.signal(SIGINT);
    close(end);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.code, 130);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"log"});
}

TEST(Import, OfWhatHasNoEndIsRefused) {
    const Folder folder;
    const Outcome zeros = run({"import", "/dev/zero", "-o", folder / "t.trace"});
    EXPECT_EQ(zeros.code, 3);
    EXPECT_EQ(zeros.out, "");
    EXPECT_EQ(zeros.err, "schedscope: /dev/zero: has a line of more than 64 MiB: it is no log\n");
    write_bytes(folder / "large.log", "## SPLIT #0: CPU # 0 inputs\n");
    std::filesystem::resize_file(folder / "large.log", 6'000'000'000);
    const Outcome large = run({"import", folder / "large.log", "-o", folder / "t.trace"});
    EXPECT_EQ(large.code, 3);
    EXPECT_EQ(large.err,
              "schedscope: " + (folder / "large.log") + ": is longer than 2 GiB, which is the most that is read of a log\n");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"large.log"});
}

TEST(Import, StopsAtCtrlCInALineWithoutAnEnd) {
    const Folder folder;
    const std::string pipe = folder / "log";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    Program program({"import", pipe, "-o", folder / "t.trace"});
    const int end = open(pipe.c_str(), O_WRONLY | O_CLOEXEC); // waits until the program reads
    const std::string piece(1 << 20, 'x');                    // more than a pipe holds: it is being read
    ASSERT_EQ(write(end, piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
    program.signal(SIGINT); // and the pipe stays open
    EXPECT_EQ(program.wait().code, 130);
    close(end);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"log"});
}

TEST(Import, NotesWhatIsMissing) {
    const Folder folder;
    const std::string text = read_bytes(paths::log("2026-05"));
    write_bytes(folder / "cut.log", text.substr(0, text.size() - 60));
    const Outcome outcome = run({"import", folder / "cut.log", "-o", folder / "t.trace"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.err, HasSubstr("cut off"));
    EXPECT_THAT(run({"show", folder / "t.trace"}).out, HasSubstr("notes"));
}

TEST(Import, RefusesWhatIsNoLog) {
    const Folder folder;
    write_bytes(folder / "empty.log", "");
    write_bytes(folder / "other.log", "main: build = 4000\nllama_model_loader: loaded\n");
    std::string one_line = read_bytes(paths::log("2026-05"));
    std::erase(one_line, '\n');
    write_bytes(folder / "line.log", one_line);
    for (const std::string& log :
         {folder / "missing.log", folder / "empty.log", folder / "other.log", folder / "line.log", folder.path()}) {
        const Outcome outcome = run({"import", log, "-o", folder / "t.trace"});
        EXPECT_EQ(outcome.code, 3) << log;
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
        EXPECT_FALSE(exists(folder / "t.trace"));
    }
    EXPECT_EQ(run({"import", paths::log("2026-05")}).code, 2);
}

TEST(Import, SaysThatATraceIsOne) {
    const Folder folder;
    const std::string trace = folder / "first.trace";
    ASSERT_EQ(run({"import", paths::log("2026-05"), "-o", trace}).code, 0);
    const Outcome outcome = run({"import", trace, "-o", folder / "second.trace"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.err,
              "schedscope: " + trace + ": is a trace already, not a log: schedscope inspect " + trace + " opens it\n");
    EXPECT_FALSE(exists(folder / "second.trace"));
}

TEST(Import, OverwritesTracesOnlyUnlessForced) {
    const Folder folder;
    write_bytes(folder / "notes.txt", "mine");
    EXPECT_EQ(run({"import", paths::log("2026-05"), "-o", folder / "notes.txt"}).code, 2);
    EXPECT_EQ(read_bytes(folder / "notes.txt"), "mine");
    EXPECT_EQ(run({"import", paths::log("2026-05"), "-o", folder / "notes.txt", "--force"}).code, 0);
    EXPECT_EQ(run({"import", paths::log("2024-12"), "-o", folder / "notes.txt"}).code, 0); // it is a trace now
    const std::string log = folder / "own.log";
    write_bytes(log, read_bytes(paths::log("2026-05")));
    EXPECT_EQ(run({"import", log, "-o", log, "--force"}).code, 2);
}

/// What a log shows of a plan and what is recorded of the same, by the same model and settings.
TEST(Import, OfALogAndARecordingOfTheSamePlanNothingDiffers) {
    const std::string model = paths::shared("models/stories260K-f32.gguf"), logs = paths::shared("logs/stories260K-");
    if (!std::filesystem::exists(model) || !std::filesystem::exists(logs + "ngl3-faoff-prefill40-causes.log")) {
        GTEST_SKIP() << "no shared models and logs are here";
    }
    const Folder folder;
    const std::string log = folder / "log", filled = folder / "filled", recording = folder / "recording";
    ASSERT_EQ(run({"import", logs + "ngl3-faoff-prefill40-causes.log", "-o", log}).code, 0);
    ASSERT_EQ(run({"import", logs + "ngl3-faoff-prefill40-causes.log", "-m", model, "-o", filled}).code, 0);
    ASSERT_EQ(run({"record", "--dry-run", "-m", model, "--tokens", prompt_ids(40), "-n", "0", "-c", "256", "--device",
                   "vulkan0=vulkan:2GiB,cpu", "-ngl", "3", "-fa", "off", "-o", recording})
                  .code,
              0);
    const std::string hint =
        " is made of a log, which leaves out views, shapes and what is a weight: import LOG -m MODEL fills them "
        "in, and less may differ\n";
    for (const std::string& of_log : {log, filled}) {
        for (const auto& [a, b] : {std::pair{of_log, recording}, {recording, of_log}}) {
            const json result = json::parse(run({"diff", a, b, "--json"}).out);
            EXPECT_EQ(result["differences"], json::array());
            for (const json& m : result["summary"][0]["measures"]) {
                EXPECT_TRUE(m["name"] != "nodes on Vulkan0" || (m.contains("a_at_least") != m.contains("b_at_least"))) << m;
            }
        }
    }
    // A whole run's log, which reserves first, and does not say which graphs are used again.
    const std::string run_log = paths::shared("logs/whole-run-f16-ngl2.log"), half = paths::shared("models/stories260K-f16.gguf"),
                      whole = folder / "whole", whole_recording = folder / "whole-recording";
    ASSERT_EQ(run({"record", "--dry-run", "-m",  half,  "--tokens", prompt_ids(20), "-n",
                   "3",      "-c",        "256", "-ub", "256",      "--device",     "vulkan0=vulkan:2GiB,cpu",
                   "-ngl",   "2",         "-fa", "on",  "-o",       whole_recording})
                  .code,
              0);
    for (const std::vector<std::string>& with_model : {std::vector<std::string>{}, {"-m", half}}) {
        std::vector<std::string> import{"import", run_log, "-o", whole, "--force"};
        import.insert(import.end(), with_model.begin(), with_model.end());
        const Outcome imported = run(import);
        ASSERT_EQ(imported.code, 0) << imported.err;
        if (!with_model.empty()) { // those that memory is reserved for have rows of logits for each token
            EXPECT_THAT(imported.out, HasSubstr("filled in 11 of 11 graphs from the model: "));
        }
        const json same = json::parse(run({"diff", whole, whole_recording, "--json"}).out);
        EXPECT_EQ(same["differences"], json::array());
        for (const json& setting : same["settings"]) { // what both say is the same in other words
            EXPECT_TRUE(setting["name"] == "backend Vulkan0" || setting["a"].is_null() || setting["b"].is_null()) << setting;
        }
        for (const json& summary : same["summary"]) {
            for (const json& m : summary["measures"]) {
                const bool of_both = !m["a"].is_null() && !m["b"].is_null();
                EXPECT_TRUE(m["name"].get<std::string>().find("compute buffer") == std::string::npos || of_both) << m;
            }
        }
    }
    const std::string other = folder / "other";
    ASSERT_EQ(run({"record", "--dry-run", "-m", model, "--tokens", prompt_ids(40), "-n", "0", "-c", "256", "--device",
                   "vulkan0=vulkan:2GiB,cpu", "-ngl", "1", "-fa", "off", "-o", other})
                  .code,
              0);
    const std::string told = run({"diff", log, other}).out;
    EXPECT_THAT(told, HasSubstr("\na" + hint));
    EXPECT_THAT(run({"diff", other, log}).out, HasSubstr("\nb" + hint));
    EXPECT_THAT(run({"diff", filled, other}).out, Not(HasSubstr(hint)));
    const std::string unsaid =
        " is made of a log, whose tensors' sizes are not compared: import LOG -m MODEL fills shapes in, and "
        "then they are\n"; // behind "identical", which is said of all else
    EXPECT_THAT(run({"diff", log, recording}).out, AllOf(::testing::StartsWith("identical: "), HasSubstr("\na" + unsaid)));
    EXPECT_THAT(run({"diff", recording, log}).out, AllOf(::testing::StartsWith("identical: "), HasSubstr("\nb" + unsaid)));
    EXPECT_THAT(run({"diff", filled, recording}).out, Not(HasSubstr(unsaid)));
    EXPECT_THAT(told, ContainsRegex("\nnodes on Vulkan0 +at least [0-9]+ → [0-9]+\n"));
    EXPECT_THAT(told, HasSubstr("\n  splits\n"));
    EXPECT_THAT(told, Not(HasSubstr("\n  nodes\n"))) << "the graphs are the same";
}

/// Logs and the model that they are of, where these are shared.
TEST(Import, FillsInFromTheModelWhatALogLeavesOut) {
    const std::string model = paths::shared("models/stories260K-f32.gguf"), logs = paths::shared("logs/stories260K-");
    if (!std::filesystem::exists(model) || !std::filesystem::exists(logs + "ngl3-decode-stock.log")) {
        GTEST_SKIP() << "no shared models and logs are here";
    }
    struct Expected {
        const char *log, *kind;
        int n_tokens;
    };
    for (const auto& [log, kind, n_tokens] : {Expected{"ngl3-prefill40-stock", "prefill", 40},
                                              {"ngl3-decode-stock", "decode", 1},
                                              {"ngl3-faoff-prefill40-causes", "prefill", 40},
                                              {"ngl0-prefill40-causes", "prefill", 40},
                                              {"ngl6-faon-prefill-causes", "prefill", 16},
                                              {"blas-cpu-faoff-prefill40-causes", "prefill", 40}}) {
        SCOPED_TRACE(log);
        const Folder folder;
        const Outcome plain = run({"import", logs + log + ".log", "-o", folder / "plain"}),
                      filled = run({"import", logs + log + ".log", "-m", model, "-o", folder / "t"});
        ASSERT_EQ(filled.code, 0) << filled.err;
        EXPECT_THAT(filled.out, HasSubstr("filled in 1 of 1 graph from the model: "));
        EXPECT_THAT(run({"show", folder / "t"}).out, HasSubstr("filled in"));
        const std::string what = "assignments";
        const auto rows = [&](const std::string& trace) {
            return json::parse(run({"show", folder / trace, "--what", what, "--json"}).out)[what];
        };
        const std::set<std::string> views{"VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"}; // which a log leaves out
        const auto computed = [&](const json& all) {
            std::vector<std::pair<std::string, std::string>> nodes; // operator and backend, in order
            for (const json& row : all) {
                if (!row["node"].is_null() && !row["op"].is_null() && !views.contains(row["op"])) {
                    nodes.emplace_back(row["op"], row["backend"].is_null() ? "" : row["backend"]);
                }
            }
            return nodes;
        };
        const json now = rows("t");
        EXPECT_FALSE(computed(now).empty());
        EXPECT_EQ(computed(now), computed(rows("plain")));
        for (const json& row : now) {
            EXPECT_FALSE(row["op"].is_null() || row["type"].is_null() || row["ne"].is_null() || row["bytes"].is_null()) << row;
        }
        const std::string lines = run({"export", folder / "t", "--jsonl", "-"}).out;
        EXPECT_THAT(lines, HasSubstr("\"graph_kind\":\"" + std::string(kind) + "\""));
        EXPECT_THAT(lines, HasSubstr("\"n_tokens\":" + std::to_string(n_tokens) + ","));
        EXPECT_EQ(run({"dot", folder / "t", "--view", "splits"}).code, 0);
    }
    const Folder folder;
    const Outcome other = run(
        {"import", logs + "ngl0-prefill40-causes.log", "-m", paths::shared("models/stories260K-q8_0.gguf"), "-o", folder / "t"});
    EXPECT_EQ(other.code, 3);
    EXPECT_EQ(other.out, "");
    EXPECT_THAT(other.err,
                ::testing::ContainsRegex(
                    "^schedscope: .*ngl0-prefill40-causes\\.log: the log is of another model: [a-z0-9_.]+\\.weight has "
                    "[0-9.]+ KiB in the log, [0-9.]+ KiB \\(q8_0\\) in the model; give -m the model that the log "
                    "is of, or leave it out\n$"));
    EXPECT_FALSE(exists(folder / "t"));
    EXPECT_EQ(run({"import", logs + "ngl0-prefill40-causes.log", "-m", paths::log("2026-05"), "-o", folder / "u"}).code, 3);
}

} // namespace
} // namespace schedscope::test
