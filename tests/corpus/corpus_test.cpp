// The planner against the recorded decisions of ggml, and the reader against files that are no corpus.
#include "runtime/error.h"
#include "runtime/planner/memory/allocate.h"
#include "runtime/system/sanitizers.h"
#include "tests/corpus/corpus_file.h"
#include "tests/corpus/decode.h"
#include "tests/corpus/run_case.h"
#include "tests/corpus/text_lines.h"
#include "tests/support/graphs/lifetime_check.h"
#include "tests/support/paths.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

using namespace schedscope;
using namespace schedscope::corpus;
using ::testing::HasSubstr;

namespace {

/// A file of the whole corpus, or of the sample that comes with the sources.
struct Recorded {
    const char* name;
    bool sample;
};
void PrintTo(const Recorded& r, std::ostream* out) { *out << (r.sample ? "sample of " : "") << r.name; }

class CorpusFile : public ::testing::TestWithParam<Recorded> {
protected:
    void SetUp() override {
        if (sanitized && !GetParam().sample) {
            GTEST_SKIP() << "a sanitizer looks at the sample";
        }
        if (!std::filesystem::exists(file)) {
            GTEST_SKIP() << file << " is not here";
        }
    }
    const std::filesystem::path folder = GetParam().sample ? paths::source("tests/data/corpus") : paths::shared("corpus");
    const std::filesystem::path file = folder / (std::string(GetParam().name) + ".jsonl.gz");
};

/// A small case with everything in it; tests break it.
const char* const whole_case =
    R"({"schema":1,"case":"small","bufts":[{"id":0,"is_host":false,"align":32},{"id":1,"is_host":true,"align":32}],)"
    R"("backends":[{"name":"GPU0","is_cpu":false,"buft":0,"ops":"*","supports_buft":[0]},{"name":"CPU","is_cpu":true,"buft":1,"ops":"*","supports_buft":[1]}],)"
    R"("flags":{"op_offload":true,"n_copies":1,"cur_copy":0,"alloc":false},"tensors":[{"id":0,"op":"NONE","type":"f32","ne":[32,4],"flags":["input"]},)"
    R"({"id":1,"op":"NONE","type":"f32","ne":[32,32],"buffer":{"buft":0,"usage":"weights"}},{"id":2,"op":"MUL_MAT","type":"f32","ne":[32,4],"src":[1,0]}],)"
    R"("leafs":[1,0],"nodes":[2],"expected":{"assign":"100","cause":["1.inp","1.dst","1.wgt0"],"passes":{"1":"100","2a":"100","2b":"100","2c":"100","2d":"100","3":"100","4":"100"},)"
    R"("splits":[{"backend":0,"i_start":0,"i_end":1,"inputs":[0],"why":"first"}],"rewired":[[2,1,0,0,0]],"copies":[[0,0,["GPU0#t0#0"]]],"graph_inputs":[]}})";

/// The case after a change to its JSON.
std::string changed(const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json json = nlohmann::json::parse(whole_case);
    change(json);
    return json.dump();
}

std::vector<std::string> differences(const std::string& line) {
    std::vector<std::string> texts;
    for (const CaseDifference& d : compare_case(decode_case(line))) {
        texts.push_back(to_text(d));
    }
    return texts;
}

std::string refusal(const std::string& line) {
    try {
        decode_case(line);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        return error.what();
    }
    return "accepted";
}

class TemporaryFile {
public:
    TemporaryFile(const std::string& name, const std::string& content)
        : path(std::filesystem::temp_directory_path() / ("schedscope_corpus_test_" + name)) {
        std::ofstream(path, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::filesystem::path path;
};

std::string file_refusal(const std::filesystem::path& file) {
    try {
        compare_file(file, 1);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

} // namespace

TEST_P(CorpusFile, EveryCaseIsIdentical) {
    const FileResult result = compare_file(file, 10);
    std::string differences;
    for (const CaseDifference& d : result.differences) {
        differences += to_text(d) + "\n";
    }
    EXPECT_EQ(result.n_identical, result.n_cases) << differences;
    EXPECT_GT(result.n_cases, 0);
}

TEST_P(CorpusFile, LiveTensorsNeverOverlapInItsMemoryPlans) {
    TextLines lines(file);
    std::string line;
    int n_plans = 0;
    while (lines.next(line)) {
        const Case c = decode_case(line);
        if (!c.allocates || c.error_round >= 0) {
            continue;
        }
        const GraphView graph = c.graph.view();
        const MockCapabilities capabilities(c, graph);
        PlanOptions options;
        options.op_offload = c.op_offload;
        options.n_stages = c.n_stages;
        Carry carry;
        Plan plan;
        make_plan(graph, capabilities, options, carry, plan, nullptr);
        AllocatedGraph allocated;
        copy_graph(graph, plan, graph.nodes, allocated);
        MemoryPlanner planner;
        const MemoryPlan& memory = planner.place(graph, plan, allocated, capabilities, c.session.buffer_types, nullptr);
        EXPECT_EQ(test::LifetimeCheck(graph, plan, allocated).complaint(memory), "") << c.name;
        ++n_plans;
    }
    RecordProperty("memory_plans", n_plans);
}

std::vector<Recorded> recorded_files(bool sample) {
    return {{"minimal", sample}, {"random", sample}, {"transformer", sample}, {"sequence", sample}, {"aborts", sample}};
}
std::string file_name(const ::testing::TestParamInfo<Recorded>& tested) { return tested.param.name; }

INSTANTIATE_TEST_SUITE_P(Reference, CorpusFile, ::testing::ValuesIn(recorded_files(false)), file_name);
INSTANTIATE_TEST_SUITE_P(Sample, CorpusFile, ::testing::ValuesIn(recorded_files(true)), file_name);

TEST(CorpusComparison, ACaseThatAgreesHasNoDifferences) { EXPECT_THAT(differences(whole_case), ::testing::IsEmpty()); }

TEST(CorpusComparison, EachKindOfDifferenceIsFoundAndTold) {
    const auto expect = [](const std::string& text, const std::function<void(nlohmann::json&)>& change) {
        EXPECT_THAT(differences(changed(change)), ::testing::ElementsAre(text));
    };
    expect("small, round 0, assign of 2: expected 1, got 0", [](auto& c) { c["expected"]["assign"] = "101"; });
    expect("small, round 0, cause[2]: expected 1.wgt1, got 1.wgt0", [](auto& c) { c["expected"]["cause"][2] = "1.wgt1"; });
    expect("small, round 0, pass 2b of 0: expected 0, got 1", [](auto& c) { c["expected"]["passes"]["2b"] = "000"; });
    expect("small, round 0, splits[0]: expected backend 0 nodes 0 to 1 inputs [0] why full, got backend 0 nodes 0 to 1 inputs "
           "[0] why first",
           [](auto& c) { c["expected"]["splits"][0]["why"] = "full"; });
    expect("small, round 0, rewired[0]: expected the end, got source 1 of 2 from 0 to its copy 0 on backend 0",
           [](auto& c) { c["expected"]["rewired"].clear(); });
    expect("small, round 0, copies[0]: expected of 0 on backend 0: [GPU0#x#0], got of 0 on backend 0: [GPU0#t0#0]",
           [](auto& c) { c["expected"]["copies"][0][2][0] = "GPU0#x#0"; });
    expect("small, round 0, graph_inputs[0]: expected 0, got the end",
           [](auto& c) { c["expected"]["graph_inputs"].push_back(0); });
}

TEST(CorpusComparison, AnErrorThatDoesNotComeIsADifference) {
    const auto found = differences(changed([](auto& c) {
        c["expected"] = {{"error", "node_unassigned"}, {"where", "pass4"}, {"round", 0}, {"passes", c["expected"]["passes"]}};
    }));
    EXPECT_THAT(found, ::testing::Contains("small, round 0, error: expected node_unassigned, got nothing"));
}

TEST(CorpusReader, WhatIsWrongIsSaid) {
    EXPECT_EQ(refusal("{"), "not JSON");
    EXPECT_THAT(refusal("[]"), HasSubstr("'schema'"));
    EXPECT_EQ(refusal(changed([](auto& c) { c["schema"] = 2; })), "schema: only 1 is known");
    EXPECT_EQ(refusal(changed([](auto& c) { c.erase("bufts"); })), "the key 'bufts' is missing");
    EXPECT_EQ(refusal(changed([](auto& c) { c["nodes"][0] = 9; })), "nodes: 9 is outside 0 to 2");
    EXPECT_EQ(refusal(changed([](auto& c) { c["tensors"][2]["src"][0] = -1; })), "tensor 2: src: -1 is outside 0 to 2");
    EXPECT_EQ(refusal(changed([](auto& c) { c["tensors"][2]["op"] = "FROB"; })), "tensor 2: op: 'FROB' is unknown");
    EXPECT_EQ(refusal(changed([](auto& c) { c["tensors"][1]["buffer"]["buft"] = 7; })),
              "tensor 1: buffer buft: 7 is outside 0 to 1");
    EXPECT_EQ(refusal(changed([](auto& c) { c["backends"].clear(); })), "backends: expected 1 to 16");
    EXPECT_EQ(refusal(changed([](auto& c) { c["expected"]["assign"] = "10"; })), "assign: 2 characters for 3 tensors");
    EXPECT_EQ(refusal(changed([](auto& c) { c["expected"]["assign"] = "109"; })), "assign: '9' is no backend");
    EXPECT_EQ(refusal(changed([](auto& c) { c["tensors"][0]["ne"][0] = 1e30; })), "tensor 0: ne: expected a whole number");
    EXPECT_EQ(refusal(changed([](auto& c) { c["flags"]["n_copies"] = 0; })), "n_copies: 0 is outside 1 to 16");
}

TEST(CorpusReader, FilesThatAreNoCorpusAreRefusedByName) {
    EXPECT_THAT(file_refusal("no/such.jsonl"), HasSubstr("no/such.jsonl: there is no such file"));
    EXPECT_THAT(file_refusal(TemporaryFile("plain.jsonl.gz", whole_case).path), HasSubstr("is not a gzip file"));
    EXPECT_THAT(file_refusal(TemporaryFile("cut.jsonl.gz", "\x1f\x8b\x08").path), HasSubstr("cut.jsonl.gz: "));
    EXPECT_THAT(file_refusal(TemporaryFile("empty.jsonl", "").path), HasSubstr("holds no cases"));
    EXPECT_THAT(file_refusal(TemporaryFile("second.jsonl", std::string(whole_case) + "\nrubbish\n").path),
                HasSubstr("line 2: not JSON"));
    EXPECT_EQ(file_refusal(TemporaryFile("good.jsonl", whole_case).path), "accepted");
}
