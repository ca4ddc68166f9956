// Blocks of evaluations come in any order, from any thread, and some are dropped; the trace has one evaluation after the
// other, with what is known of it.

#include "tests/support/traces/stopper.h"
#include "tests/traces/stream/streamed.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::optional<int32_t>> tokens(const ImportedStream& imported) {
    std::vector<std::optional<int32_t>> all;
    for (const record::NextToken& t : imported.facts<record::NextToken>()) {
        all.push_back(t.token);
    }
    return all;
}

TEST(StreamOrder, EvaluationsAreStoredOneAfterTheOther) {
    StreamInFile file;
    SmallProgram p(file.stream);
    for (const auto& [evaluation, token, ends] :
         {std::tuple{5, 1, false}, {9, 2, false}, {5, 3, false}, {9, 4, true}, {7, 5, true}, {5, 6, true}}) {
        SmallBlock block(file.stream, evaluation);
        block.put(p.token, token, 0);
        if (ends) {
            block.put(p.end);
        }
        block.commit();
    }
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(imported.result.notes, IsEmpty());
    EXPECT_EQ(imported.store->n_evaluations(), 3); // 5, 9, 7
    EXPECT_THAT(tokens(imported), ElementsAre(1, 3, 6, 2, 4, 5));
    EvaluationId last = 0;
    for (const Record& r : imported.records()) {
        EXPECT_GE(r.evaluation, last);
        last = r.evaluation;
    }
}

TEST(StreamOrder, APlanWhoseGraphDidNotComeBeforeItIsLeftOut) {
    StreamInFile file;
    SmallProgram p(file.stream);
    SmallBlock plan(file.stream, 0);
    p.plan(plan, 3);
    plan.put(p.end).commit();
    SmallBlock next(file.stream, 1);
    next.put(p.begin, 0).put(p.kernel, 1, 1, 10, 20).put(p.end).commit();
    p.describe(3);
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_EQ(imported.result.n_graphs, 0);
    EXPECT_THAT(imported.facts<record::Assign>(), IsEmpty());
    // plan_begin, assign and execute; plan_end names nothing.
    EXPECT_THAT(imported.result.notes,
                ElementsAre("3 records left out that speak of a plan or a graph that is not in the stream"));
}

TEST(StreamOrder, APlanMayComeInSeveralBlocks) {
    StreamInFile file;
    SmallProgram p(file.stream);
    p.describe(3);
    SmallBlock(file.stream, 0).put(p.plan_begin, 3).commit();
    SmallBlock(file.stream, 0).put(p.assign, 1, 0, -1).put(p.plan_end).commit();
    SmallBlock(file.stream, 0).put(p.kernel, 1, 1, 10, 20).put(p.end).commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(imported.result.notes, IsEmpty());
    ASSERT_EQ(imported.facts<record::Assign>().size(), 1U);
    EXPECT_EQ(imported.facts<record::Assign>()[0].tensor, 1);
    EXPECT_EQ(imported.facts<record::Execute>().size(), 1U);
    EXPECT_EQ(imported.result.n_graphs, 1);
    EXPECT_EQ(imported.result.n_nodes, 1);
}

TEST(StreamOrder, WhatRanOfADroppedPlanIsLeftOutAndCounted) {
    StreamInFile file;
    SmallProgram p(file.stream);
    p.describe(0);
    SmallBlock run(file.stream, 4); // its evaluation_begin and its plan were dropped
    run.put(p.kernel, 1, 1, 10, 20).put(p.token, 8, 0).put(p.end).commit();
    SmallBlock again(file.stream, 5); // runs it again
    again.put(p.begin, 4).put(p.kernel, 1, 1, 10, 20).put(p.token, 9, 0).put(p.end).commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(tokens(imported), ElementsAre(8, 9));
    EXPECT_THAT(imported.facts<record::Execute>(), IsEmpty());
    EXPECT_THAT(imported.result.notes,
                ElementsAre("2 records left out that speak of a plan or a graph that is not in the stream"));
}

TEST(StreamOrder, AnEvaluationRunsThePlanOfAnother) {
    StreamInFile file;
    SmallProgram p(file.stream);
    p.describe(0);
    SmallBlock plan(file.stream, 30);
    p.plan(plan, 0);
    plan.put(p.end).commit();
    for (const int evaluation : {31, 32}) { // the second one names who does not plan himself
        SmallBlock run(file.stream, evaluation);
        run.put(p.begin, evaluation - 1).put(p.kernel, 1, 1, 10, 20).put(p.end).commit();
    }
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    const auto begins = imported.facts<record::EvaluationBegin>();
    ASSERT_EQ(begins.size(), 3U);
    EXPECT_EQ(begins[1].planned_in, 0);
    EXPECT_EQ(begins[2].planned_in, 0);
    EXPECT_EQ(imported.facts<record::Execute>().size(), 2U);
    EXPECT_THAT(imported.result.notes, ElementsAre("the stream has no end: the program was killed, or still runs"));
}

TEST(StreamOrder, WhatComesAfterTheEndOfItsEvaluationIsCounted) {
    StreamInFile file;
    SmallProgram p(file.stream);
    SmallBlock(file.stream, 0).put(p.token, 1, 0).put(p.end).put(p.token, 2, 0).commit();
    SmallBlock(file.stream, 0).put(p.token, 3, 0).commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_THAT(tokens(imported), ElementsAre(1));
    EXPECT_THAT(imported.result.notes, ElementsAre("2 records left out that came after the end of their evaluation"));
}

TEST(StreamOrder, OfTooManyEvaluationsAtOnceTheOldestIsTakenToHaveEnded) {
    StreamInFile file;
    SmallProgram p(file.stream);
    const int n = static_cast<int>(budget::stream_open_evaluations) + 10;
    for (int e = 0; e < n; ++e) {
        SmallBlock(file.stream, e).put(p.token, e, 0).commit();
    }
    SmallBlock(file.stream, 0).put(p.token, 1000, 0).commit();
    SmallBlock(file.stream, n - 1).put(p.token, 1001, 0).commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    const auto all = tokens(imported);
    EXPECT_EQ(all.size(), static_cast<size_t>(n) + 1);
    EXPECT_EQ(all.back(), 1001);
    EXPECT_THAT(imported.result.notes, Contains("1 record left out that came after the end of their evaluation"));
}

TEST(StreamOrder, ABlockThatDoesNotFitIsDroppedWholeAndCounted) {
    StreamInFile file;
    SmallProgram p(file.stream);
    SmallBlock block(file.stream, 0);
    for (int i = 0; i < 5000; ++i) {
        block.put(p.token, i, 0);
    }
    EXPECT_EQ(block.commit(), 0);
    SmallBlock(file.stream, 1).put(p.token, 7, 0).put(p.end).commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(tokens(imported), ElementsAre(7));
    EXPECT_THAT(imported.result.notes, ElementsAre("1 block dropped by the program, for which there was no room"));
}

TEST(StreamOrder, AnImportThatSomebodyStopsHasTheEvaluationsThatWereComplete) {
    StreamInFile file;
    SmallProgram p(file.stream);
    for (int e = 0; e < 4; ++e) {
        SmallBlock(file.stream, e).put(p.token, e, 0).put(p.end).commit();
    }
    sscp_close(&file.stream);
    Stopper recorder(2);
    const ImportResult result = import_file(file.path(), recorder, &recorder.stop);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(recorder.store->n_evaluations(), 2);
    EXPECT_THAT(result.notes, ElementsAre("the import was stopped: what follows in the stream is not here"));
}

TEST(StreamKernels, WithoutTimesWereNotTimedAndBelongToTheirSplit) {
    StreamInFile file;
    SmallProgram p(file.stream);
    p.describe(0);
    const uint32_t run = sscp_kind(&file.stream, "split_run split:i32 backend:i32 start_ns:i32 end_ns:i32"),
                   kernel = sscp_kind(&file.stream, "execute split:i32 backend:i32 first:i32 last:i32 kernel:text");
    for (int e = 0; e < 2; ++e) {
        SmallBlock block(file.stream, e);
        p.plan(block, 0);
        const uint32_t name = block.text("sqr_f32");
        for (int split = 0; split < 2; ++split) {
            block.put(kernel, split, 0, 0, 0, name).put(kernel, split, 0, 1, 1, name);
            if (split == 0) { // of the other one it is not known when it ran
                block.put(run, split, 0, 100, 250);
            }
        }
        block.put(p.end).commit();
    }
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(imported.facts<record::Execute>(), IsEmpty());
    const auto runs = imported.facts<record::SplitRun>();
    ASSERT_EQ(runs.size(), 4U);
    for (size_t i = 0; i < runs.size(); ++i) {
        EXPECT_EQ(runs[i].split, static_cast<int32_t>(i % 2));
        EXPECT_EQ(runs[i].end_ns, i % 2 == 0 ? std::optional<int64_t>(250) : std::nullopt);
        EXPECT_EQ(runs[i].kernels, runs[i % 2].kernels); // the same ones are kept once
        const KernelList& kernels = imported.store->kernels(runs[i].kernels);
        ASSERT_EQ(kernels.size(), 2U);
        EXPECT_EQ(kernels[1].first, 1);
        EXPECT_EQ(imported.store->text(kernels[1].kernel), "sqr_f32");
    }
}

TEST(StreamKernels, WithTimesAreRecordsOfTheirOwnInThePlaceWhereTheyRan) {
    StreamInFile file;
    SmallProgram p(file.stream);
    p.describe(0);
    SmallBlock block(file.stream, 0);
    p.plan(block, 0);
    block.put(p.kernel, 0, 0, 10, 20)
        .put(p.kernel, 1, 1, 20, 30)
        .put(p.token, 5, 0)
        .put(p.kernel, 1, 1, 40, 50)
        .put(p.end)
        .commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    std::vector<std::string> kinds;
    for (const Record& r : imported.records()) {
        kinds.emplace_back(fact_name(r.fact));
    }
    EXPECT_THAT(kinds, ElementsAre("evaluation_begin", "plan_begin", "assign", "plan_end", "execute", "execute", "token",
                                   "execute", "evaluation_end"));
    EXPECT_EQ(imported.facts<record::Execute>()[1].start_ns, 20);
}

TEST(StreamWords, WhatIsNotKnownHereIsLeftOutAndTold) {
    StreamInFile file;
    SmallProgram p(file.stream);
    p.describe(0);
    const uint32_t mood = sscp_kind(&file.stream, "mood of:text"),
                   odd = sscp_kind(&file.stream, "assign tensor:i32 cause:text colour:i32");
    SmallBlock block(file.stream, 0);
    block.put(p.plan_begin, 0).put(mood, 0).put(mood, 0).put(odd, 1, block.text("9.magic"), 3).put(p.end).commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(imported.result.notes, ElementsAre("not known here and left out: cause '9.magic' of 'assign' (1 time), "
                                                   "field 'colour' of 'assign', kind 'mood' (2 times)"));
    ASSERT_EQ(imported.facts<record::Assign>().size(), 1U);
    EXPECT_FALSE(imported.facts<record::Assign>()[0].cause) << "not known, which is not the same as none";
}

TEST(StreamWords, OfATensorThatAreNotKnownHereAreLeftOutAndTold) {
    StreamInFile file;
    const SmallProgram p(file.stream);
    const uint32_t tensor = sscp_kind(&file.stream, "tensor role:text layer:i32 usage:text");
    SmallBlock block(file.stream);
    block.put(p.graph, 0, 2);
    block.put(tensor, block.text("router"), 3, block.text("weights"));
    block.put(tensor, block.text("spleen"), 4, block.text("heirloom")).commit();
    sscp_close(&file.stream);
    const ImportedStream imported = ImportedStream::file(file.path());
    EXPECT_EQ(imported.error, "");
    EXPECT_THAT(imported.result.notes, ElementsAre("not known here and left out: role 'spleen' of 'tensor' (1 time), "
                                                   "usage 'heirloom' of 'tensor' (1 time)"));
    const std::vector<TensorInfo>& tensors = imported.store->graph(0).tensors;
    EXPECT_EQ(tensors[0].part(), (ModelPart{Role::router, 3}));
    EXPECT_EQ(tensors[0].usage, BufferUsage::weights);
    EXPECT_EQ(tensors[1].part(), (ModelPart{Role::none, 4}));
    EXPECT_EQ(tensors[1].usage, BufferUsage::any);
}

TEST(StreamFacts, ALibraryWithoutADeviceIsToldOfUntilOneTurnsUp) {
    StreamInFile file;
    const SmallProgram p(file.stream);
    const uint32_t meta = sscp_kind(&file.stream, "meta key:text value:text");
    const auto say = [&](const char* value) {
        SmallBlock block(file.stream);
        block.put(meta, block.text("no_device"), block.text(value)).commit();
        return ImportedStream::file(file.path());
    };
    const std::string sentence = "libggml-cuda.so was loaded, but the program uses no device of it";
    const ImportedStream idle = say(sentence.c_str());
    EXPECT_THAT(idle.result.notes, Contains(sentence));
    EXPECT_EQ(session_fact(idle.store->session(), "no_device"), sentence);
    EXPECT_THAT(session_fact(idle.store->session(), "notes"), ::testing::Not(HasSubstr(sentence))) << "once is enough";
    const ImportedStream used = say("");
    EXPECT_THAT(used.result.notes, ::testing::Not(Contains(HasSubstr("libggml-cuda.so"))));
    EXPECT_EQ(session_fact(used.store->session(), "no_device"), "");
}

TEST(StreamSettings, AreKnownWhenEachOfThemIs) {
    StreamInFile file;
    const SmallProgram p(file.stream);
    const uint32_t most = sscp_kind(&file.stream, "settings n_layers:i32 n_gpu_layers:i32 cache_on_host:i32 op_offload:i32 "
                                                  "offload_min_batch:i32 n_stages:i32 fusion:i32"),
                   rest = sscp_kind(&file.stream, "settings n_layers:i32 flash_attention_asked:text"),
                   share = sscp_kind(&file.stream, "device_share share:i32"),
                   override = sscp_kind(&file.stream, "tensor_override pattern:text device:text");
    SmallBlock(file.stream).put(most, 12, 9, 1, 0, 7, 2, 0).put(share, 3).put(share, 1).commit();
    const ImportedStream some = ImportedStream::file(file.path());
    EXPECT_EQ(some.store->session().settings, std::nullopt);
    EXPECT_THAT(some.result.notes, Contains("the settings are left out, because flash_attention_asked never came"));
    SmallBlock block(file.stream);
    block.put(rest, 14, block.text("on")).put(override, block.text("ffn_.*"), block.text("CPU")).commit();
    sscp_close(&file.stream);
    const ImportedStream all = ImportedStream::file(file.path());
    EXPECT_EQ(all.result.notes, std::vector<std::string>());
    const PlanSettings expected{.placement = {9, {3, 1}, {{"ffn_.*", "CPU"}}, true},
                                .n_layers = 14, // what was said last
                                .flash_attention_asked = FlashAttention::on,
                                .flash_attention = std::nullopt, // there may be none
                                .op_offload = false,
                                .offload_min_batch = 7,
                                .n_stages = 2,
                                .fusion = false};
    EXPECT_EQ(all.store->session().settings, expected);
}

} // namespace
} // namespace schedscope::test
