// What leaves a trace: pictures and records.
#include "tests/inspector/cli/harness/recorded.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace schedscope::test {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Plans that made no buffer grow lie in those that are there.
TEST(Dot, ThePictureOfMemoryHasTheBuffersInForce) {
    const Recorded recorded({"--device", "cpu"});
    for (const char* evaluation : {"0", "1"}) {
        const json memory = recorded.json("show", {"--what", "memory", "--eval", evaluation})["memory"];
        ASSERT_EQ(memory.size(), 1U);
        EXPECT_GT(memory[0]["size"], memory[0]["most"]);
        EXPECT_GE(memory[0]["peak"], memory[0]["most"]);
        EXPECT_FALSE(memory[0]["holders"].empty());
        const std::string table = recorded.read("show", {"--what", "memory", "--eval", evaluation}).out;
        EXPECT_THAT(table, HasSubstr("\nplaces count the nodes as they run, and two more for each input of a split"));
        const std::string row = table.substr(table.find("\nCPU") + 4, 16);
        const std::string size = row.substr(row.find_first_not_of(' '), row.find("iB") + 2 - row.find_first_not_of(' '));
        const std::string picture = recorded.read("dot", {"--view", "memory", "--eval", evaluation}).out;
        EXPECT_THAT(picture, HasSubstr("1 compute buffer, " + size)) << evaluation;
    }
}

TEST(Show, TellsWhatWasReserved) {
    const Recorded recorded({"--device", "cpu", "-ub", "64"});
    EXPECT_THAT(recorded.read("show", {"--what", "memory"}).out,
                ::testing::ContainsRegex("reserved beforehand for\ndecode of 1 token\nprefill of 64 tokens\n"));
    const json reserves = recorded.json("show", {"--what", "memory"})["reserves"];
    ASSERT_EQ(reserves.size(), 2U);
    EXPECT_EQ(reserves[0]["n_tokens"], 1);
    EXPECT_EQ(reserves[1]["n_tokens"], 64);
    EXPECT_TRUE(reserves[1]["error"].is_null());
}

TEST(Show, TellsOnceWhatWasReservedForSeveralGraphs) {
    const Recorded recorded({"--device", "cpu", "-ub", "1"});
    EXPECT_THAT(recorded.read("show", {"--what", "memory"}).out,
                ::testing::ContainsRegex("reserved beforehand for\ndecode of 1 token\n\n"));
    EXPECT_EQ(recorded.json("show", {"--what", "memory"})["reserves"].size(), 2U);
}

TEST(Dot, WritesTheFormatThatTheNameSays) {
    const Recorded recorded({"--device", "blas,cpu", "-fa", "off"});
    for (const char* view : {"splits", "layers", "nodes", "memory"}) {
        const std::string base = recorded.folder() / view;
        for (const char* suffix : {".dot", ".svg", ".pdf"}) {
            const Outcome outcome = recorded.read("dot", {"--view", view, "-o", base + suffix});
            EXPECT_EQ(outcome.code, 0) << outcome.err;
            EXPECT_EQ(outcome.out + outcome.err, "") << view << suffix;
        }
        EXPECT_THAT(read_bytes(base + ".dot"), StartsWith("digraph")) << view;
        const std::string svg = read_bytes(base + ".svg");
        EXPECT_THAT(svg, HasSubstr("<svg")) << view;
        EXPECT_THAT(svg, EndsWith("</svg>\n")) << view;
        const std::string pdf = read_bytes(base + ".pdf");
        EXPECT_THAT(pdf, StartsWith("%PDF-")) << view;
        EXPECT_THAT(pdf.substr(pdf.size() - 10), HasSubstr("%%EOF")) << view;
    }
    for (const char* view : {"splits", "layers", "memory"}) { // every node as pixels takes seconds
        const std::string png = recorded.folder() / view + ".png";
        ASSERT_EQ(recorded.read("dot", {"--view", view, "-o", png}).code, 0) << view;
        EXPECT_THAT(read_bytes(png), StartsWith("\x89PNG\r\n\x1a\n")) << view;
    }
}

TEST(Dot, PrintsWhatItWouldWrite) {
    const Recorded recorded({"--device", "blas,cpu", "-fa", "off"});
    ASSERT_EQ(recorded.read("dot", {"-o", recorded.folder() / "t.dot"}).code, 0);
    const Outcome printed = recorded.read("dot");
    EXPECT_EQ(printed.code, 0);
    EXPECT_EQ(printed.out, read_bytes(recorded.folder() / "t.dot"));
    EXPECT_EQ(printed.err, "");
}

TEST(Dot, NodesAreAllDrawn) {
    const Recorded recorded({"--device", "cpu"});
    const std::string picture = recorded.read("dot", {"--view", "nodes"}).out;
    const json table = recorded.json("show", {"--what", "assignments"});
    for (const json& row : table["assignments"]) {
        const auto name = row["name"].get<std::string>();
        EXPECT_TRUE(row["op"] == "NONE" || picture.find(name) != std::string::npos) << name;
    }
}

TEST(Dot, ShowsThePlanAsItWasAtAPass) {
    const Recorded recorded({"--device", "blas,cpu", "-fa", "off"});
    const std::string early = recorded.read("dot", {"--view", "nodes", "--eval", "0", "--pass", "1"}).out;
    const std::string late = recorded.read("dot", {"--view", "nodes", "--eval", "0", "--pass", "4"}).out;
    const std::string end = recorded.read("dot", {"--view", "nodes", "--eval", "0"}).out;
    EXPECT_NE(early, late);
    EXPECT_NE(late, end);
    // The record that ends a pass shows the same.
    std::string step;
    for (const std::string& line : lines_of(recorded.read("export", {"--jsonl", "-"}).out)) {
        const json record = json::parse(line);
        if (record["evaluation"] == 0 && record["kind"] == "pass_end" && record["pass"] == "4") {
            step = record["step"].dump();
        }
    }
    const std::string at_step = recorded.read("dot", {"--view", "nodes", "--eval", "0", "--step", step}).out;
    const auto below_the_title = [](const std::string& picture) {
        return picture.substr(std::min(picture.find("\n  edge ["), picture.size()));
    };
    EXPECT_GT(below_the_title(late).size(), 1000U);
    EXPECT_TRUE(below_the_title(at_step) == below_the_title(late));
}

TEST(Export, WritesALineOfJsonForEveryRecord) {
    const Recorded recorded({"--device", "blas,cpu", "-fa", "off"});
    const std::string path = recorded.folder() / "records.jsonl";
    const Outcome outcome = recorded.read("export", {"--jsonl", path});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out + outcome.err, "");
    const std::string text = read_bytes(path);
    EXPECT_EQ(recorded.read("export", {"--jsonl", "-"}).out, text);

    const json summary = recorded.json("show");
    int64_t step = 0, tokens = 0;
    for (const std::string& line : lines_of(text)) {
        const json record = json::parse(line);
        EXPECT_EQ(record["step"], step++);
        EXPECT_TRUE(record.contains("time_ns") && record.contains("evaluation") && record.contains("kind")) << line;
        tokens += record["kind"] == "token" ? 1 : 0;
    }
    EXPECT_EQ(step, summary["steps"].get<int64_t>());
    EXPECT_EQ(tokens, 3);
}

} // namespace
} // namespace schedscope::test
