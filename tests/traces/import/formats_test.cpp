// One small graph as each generation of the scheduler prints it (logs/), and what must be known of it afterwards.

#include "runtime/system/joined.h"
#include "tests/support/paths.h"
#include "tests/support/traces/imported.h"
#include "tests/support/traces/plan_rows.h"
#include "traces/history/accounts/as_logged.h"
#include "traces/history/accounts/copies.h"
#include "traces/history/accounts/memory.h"
#include "traces/history/namesakes.h"
#include "traces/history/words/unknown.h"
#include "traces/history/words/words.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>

namespace schedscope::test {
namespace {

struct Form {
    const char* file;
    const char* device;
    bool causes;
    const char* activation;
    int stage; ///< −1: not printed
};

std::string file_text(const std::string& name) {
    std::ifstream in(paths::log(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Formats : public ::testing::TestWithParam<Form> {};

TEST_P(Formats, TellTheSameGraph) {
    const Form& form = GetParam();
    Imported imported = Imported::file(paths::log(form.file));
    ASSERT_EQ(imported.history->n_evaluations(), 1);
    EXPECT_TRUE(imported.result.notes.empty()) << imported.result.notes.front();
    History& history = *imported.history;
    const PlanState& state = history.plan(0);
    const std::string device = form.device;

    ASSERT_EQ(history.session().backends.size(), 2U);
    EXPECT_EQ(history.session().backends[0].name, device);
    EXPECT_EQ(history.session().backends[1].name, "CPU");

    const auto splits = test::split_rows(history, state);
    ASSERT_EQ(splits.size(), 3U);
    EXPECT_EQ(splits[0].why, SplitReason::first);
    EXPECT_EQ(splits[1].why, SplitReason::backend);
    EXPECT_EQ(std::pair(splits[0].first_node, splits[0].last_node), std::pair(0, 0));
    EXPECT_EQ(std::pair(splits[1].first_node, splits[1].last_node), std::pair(1, 7));
    EXPECT_EQ(std::pair(splits[2].first_node, splits[2].last_node), std::pair(8, 8));
    ASSERT_EQ(splits[1].inputs.size(), 2U);
    EXPECT_EQ(splits[1].inputs[0].tensor, "inp_embd");
    EXPECT_EQ(splits[1].inputs[0].bytes, 10 * 1024);
    EXPECT_EQ(history.backend_name(splits[1].inputs[0].from), "CPU");
    EXPECT_EQ(splits[1].inputs[1].bytes, std::nullopt); // "0K": less than one, but how many?
    EXPECT_EQ(splits[1].inputs[1].from, no_backend);
    ASSERT_EQ(splits[2].inputs.size(), 1U);
    EXPECT_EQ(splits[2].inputs[0].tensor, "a_very_long_tensor_name-0"); // in full, as the header has it
    EXPECT_EQ(splits[2].inputs[0].bytes, 12 * 1024 * 1024);
    EXPECT_EQ(history.backend_name(splits[2].inputs[0].from), device);

    struct Node {
        int index;
        std::string op, name, backend, cause;
        std::vector<std::string> sources;
    };
    const std::string stage = form.stage < 0 ? "?" : std::to_string(form.stage);
    const std::vector<Node> expected = {
        {0, "GET_ROWS", "inp_embd", "CPU", "1.wgt0", {"token_embd.weight", "inp_tokens"}},
        {1, "RMS_NORM", "norm-0", device, "2.sup", {"inp_embd"}},
        {2, "MUL", "attn_norm-0", device, "1.wgt1", {"norm-0", "blk.0.attn_norm.weig"}},
        {3, "MUL_MAT", "Qcur-0", device, "1.wgt0", {"blk.0.attn_q.weight", "attn_norm-0"}},
        {5, "ROPE", "Qcur-0", device, "2.sup", {"Qcur-0 (reshaped)", "inp_pos"}},
        {6, form.activation, "ffn_act-0", device, "2.sup", {"Qcur-0"}},
        {7, "MUL_MAT", "a_very_long_tensor_name-0", device, "1.wgt0", {"blk.0.ffn_down.weigh", "ffn_act-0"}},
        {8, "ADD", "result", "CPU", "usr", {"a_very_long_tensor_name-0", "inp_embd"}},
    };
    const OwnedGraph& graph = *history.graph_of(state);
    ASSERT_EQ(graph.nodes.size(), 9U);
    EXPECT_TRUE(is_left_out(graph.tensors[static_cast<size_t>(graph.nodes[4])])); // a view
    for (const Node& node : expected) {
        SCOPED_TRACE(node.name);
        const TensorId id = graph.nodes[static_cast<size_t>(node.index)];
        const TensorInfo& info = graph.tensors[static_cast<size_t>(id)];
        const TensorState& t = state.tensors[static_cast<size_t>(id)];
        EXPECT_EQ(info.name, node.name);
        EXPECT_EQ(operator_text(info), node.op);
        EXPECT_EQ(type_text(info), "?");
        EXPECT_EQ(shape_text(info), "?");
        EXPECT_EQ(history.backend_name(t.backend), node.backend);
        EXPECT_EQ(cause_text(t.cause, t.source), form.causes ? node.cause : unknown_text);
        for (size_t i = 0; i < node.sources.size(); ++i) {
            ASSERT_NE(info.src[i], no_tensor);
            EXPECT_EQ(history.tensor_name(state, info.src[i]), node.sources[i]);
        }
    }
    // The second Qcur-0 reads a view of the first, the activation reads the second.
    EXPECT_EQ(graph.tensors[static_cast<size_t>(graph.nodes[6])].src[0], graph.nodes[5]);

    const auto copies = accounts::copies(history, state);
    ASSERT_EQ(copies.size(), 3U);
    EXPECT_EQ(history.tensor_name(state, copies[0].id), device + "#inp_embd#" + stage);
    EXPECT_EQ(copies[0].stage, form.stage < 0 ? std::nullopt : std::optional(form.stage));
    EXPECT_EQ(state.rewires.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(
    Logs, Formats,
    ::testing::Values(Form{"2023-10", "CUDA0", false, "UNARY", -1}, Form{"2024-01", "CUDA0", true, "UNARY", 0},
                      Form{"2024-12", "CUDA0", false, "UNARY", 0}, Form{"2025-07", "Vulkan0", true, "UNARY", 0},
                      Form{"2026-01", "Vulkan0", false, "UNARY", 0}, Form{"2026-05", "Vulkan0", true, "SWIGLU", 0},
                      Form{"prefixed", "Vulkan0", true, "SWIGLU", 0}, Form{"wrapped", "Vulkan0", true, "SWIGLU", 0},
                      Form{"stamped", "Vulkan0", true, "SWIGLU", 0}),
    [](const auto& info) {
        std::string name = info.param.file;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

TEST(ImportedLog, BackendNamesMayHoldBracketsAndCommas) {
    for (const auto& [file, name] :
         {std::pair{"odd-backend", "RPC0[10.0.0.7:50052]"}, std::pair{"meta-backend", "Meta(ROCm0,ROCm1)"}}) {
        SCOPED_TRACE(file);
        Imported imported = Imported::file(paths::log(file));
        const PlanState& state = imported.history->plan(0);
        ASSERT_EQ(imported.history->session().backends.size(), 2U);
        EXPECT_EQ(imported.history->session().backends[0].name, name);
        const OwnedGraph& graph = *imported.history->graph_of(state);
        for (int node : {1, 2, 3, 5, 6, 7}) {
            EXPECT_EQ(state.tensors[static_cast<size_t>(graph.nodes[static_cast<size_t>(node)])].backend, 0) << node;
        }
        EXPECT_EQ(test::split_rows(*imported.history, state)[1].inputs[0].tensor, "inp_embd");
    }
}

TEST(ImportedLog, LevelOneHasSplitsAndNoNodes) {
    Imported imported = Imported::file(paths::log("level-1"));
    const PlanState& state = imported.history->plan(0);
    const auto splits = test::split_rows(*imported.history, state);
    ASSERT_EQ(splits.size(), 3U);
    for (const test::SplitRow& split : splits) {
        EXPECT_FALSE(split.nodes_known);
    }
    EXPECT_EQ(splits[1].inputs[1].tensor, "inp_pos");
    EXPECT_EQ(accounts::copies(*imported.history, state)[0].stage, std::nullopt);
}

TEST(ImportedLog, EveryGraphIsAnEvaluation) {
    Imported imported = Imported::file(paths::log("several"));
    ASSERT_EQ(imported.history->n_evaluations(), 2);
    const record::EvaluationBegin reserved = imported.history->evaluation(0).begin, real = imported.history->evaluation(1).begin;
    EXPECT_EQ(reserved.kind, GraphKind::reserve);
    EXPECT_EQ(reserved.n_tokens, 512);
    EXPECT_EQ(real.n_tokens, std::nullopt);
    EXPECT_EQ(imported.store->n_graphs(), 1); // the same graph both times
    const accounts::MemoryAccount memory = accounts::memory(*imported.history, imported.history->plan(1));
    ASSERT_EQ(memory.memory.size(), 1U);
    EXPECT_EQ(memory.memory[0].buffer_type, "Vulkan0");
    EXPECT_EQ(memory.memory[0].size.bytes, 2621440);
    EXPECT_EQ(memory.memory[0].size.rounding, 5243);
    EXPECT_EQ(session_fact(imported.history->session(), accounts::compute_buffers_fact), "Vulkan0 2.50 MiB");
    EXPECT_FALSE(memory.memory[0].use_known);
    EXPECT_EQ(session_fact(imported.history->session(), "graph_splits"), "3 (with bs=512), 2 (with bs=1)");
    EXPECT_EQ(session_fact(imported.history->session(), "graphs_reused"), "7");
}

/// A terminal breaks each line that is too long for it, wherever its numbers and names stand: at its edge, or at a blank.
TEST(ImportedLog, LinesBesideTheSchedulersThatWereWrappedAreWholeAgain) {
    const std::string text = "print_info: general.name          = Stories of a length that a line has no room for\n"
                             "llama_context: flash_attn            = disabled, as it is slower on this machine\n" +
                             file_text("several");
    const auto wrapped = [&](size_t width, bool at_blanks) {
        std::string all;
        for (size_t begin = 0; begin < text.size();) {
            const size_t line_end = text.find('\n', begin);
            size_t end = std::min(line_end, begin + width);
            if (const size_t blank = text.rfind(' ', end - 1); at_blanks && end < line_end && blank > begin && blank < end) {
                end = blank + 1;
            }
            all += text.substr(begin, end - begin) + "\n";
            begin = end == line_end ? end + 1 : end;
        }
        return all;
    };
    const auto what_is_said = [](const std::string& log) {
        const Imported imported = Imported::text(log);
        std::string said;
        for (const auto& [name, value] : imported.history->session().facts) {
            said += name == accounts::log_fact ? "" : name + "=" + value + "\n";
        }
        for (EvaluationId e = 0; e < imported.history->n_evaluations(); ++e) {
            const record::EvaluationBegin begin = imported.history->evaluation(e).begin;
            said += std::string(kind_text(begin.kind)) + " of " + std::to_string(begin.n_tokens.value_or(0)) + "\n";
        }
        return said;
    };
    const std::string whole = what_is_said(text);
    EXPECT_THAT(whole, ::testing::HasSubstr("reserve of 512\n"));
    EXPECT_THAT(whole, ::testing::HasSubstr("name=Stories of a length that a line has no room for\n"));
    for (size_t width = 45; width <= 120; ++width) {
        EXPECT_EQ(what_is_said(wrapped(width, false)), whole) << "wrapped at " << width;
    }
    for (const size_t width : {60, 72, 80, 100}) {
        EXPECT_EQ(what_is_said(wrapped(width, true)), whole) << "wrapped at blanks before " << width;
    }
}

/// Not what else has such a name: of the training, of a sequence, of a server's slot.
TEST(ImportedLog, SaysTheContextsLength) {
    const std::string graph = file_text("several");
    for (const char* const printed :
         {"llama_context: n_ctx                 = 768", "0.01.234 I llama_context: n_ctx         = 768",
          "llama_new_context_with_model: n_ctx      = 768"}) {
        Imported imported = Imported::text(
            joined({"print_info: n_ctx_train           = 512\n", printed, "\nllama_context: n_ctx_seq             = 256\n", graph,
                    "slot   load_model: id  0 | task -1 | new slot, n_ctx = 128\n"}));
        EXPECT_EQ(session_fact(imported.history->session(), "n_ctx"), "768") << printed;
    }
    EXPECT_EQ(session_fact(Imported::text(graph).history->session(), "n_ctx"), "");
}

/// A header does not say where its inputs lie.
TEST(ImportedLog, ATensorOfOneNameWithAnotherIsOnAnUnknownBackendWhereNoLineSaysIt) {
    Imported imported =
        Imported::text("## SPLIT #0: CPU # 0 inputs\n"
                       "node #  0 (  RMS_NORM):                    x (  10K) [  CPU         ] use=1,c=1:                    y "
                       "(  10K) [  CPU         ]\n\n"
                       "## SPLIT #1: Vulkan0 # 1 inputs: [x (  12K)] \n"
                       "node #  1 (  RMS_NORM):                    z (  12K) [Vulka         ] use=0,c=1:          Vulkan0#x#0 "
                       "(  12K) [ NULL         ]\n");
    const PlanState& state = imported.history->plan(0);
    const std::vector<std::string> lines =
        namesakes_in_words(*imported.history, state, find_namesakes(*imported.history, state, "x"));
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_THAT(lines[0], ::testing::HasSubstr("which computes it; 1 other"));
    EXPECT_THAT(lines[1], ::testing::EndsWith("(?) on ?"));
}

TEST(ImportedLog, NamesCutAlikeAreNotGuessed) {
    Imported imported = Imported::file(paths::log("two-gpus"));
    History& history = *imported.history;
    const PlanState& state = history.plan(0);
    const auto backend_of = [&](const char* name) {
        const OwnedGraph& graph = *history.graph_of(state);
        for (size_t i = 0; i < graph.tensors.size(); ++i) {
            if (graph.tensors[i].name == name) {
                return history.backend_name(state.tensors[i].backend);
            }
        }
        return std::string("no such tensor");
    };
    EXPECT_EQ(backend_of("a"), "Vulkan0"); // nodes: their split says
    EXPECT_EQ(backend_of("b"), "Vulkan1");
    EXPECT_EQ(backend_of("w0"), "-"); // "Vulka" may be either
    EXPECT_EQ(backend_of("x"), "CPU");
}

TEST(ImportedLog, UnitsThatWereCutOffLeaveSizesUnknown) {
    Imported imported = Imported::text("## SPLIT #0: CPU # 0 inputs\n## SPLIT #1: V # 1 inputs: [big (12345)] \n");
    const auto splits = test::split_rows(*imported.history, imported.history->plan(0));
    ASSERT_EQ(splits.size(), 2U);
    EXPECT_EQ(splits[1].inputs.at(0).bytes, std::nullopt);
}

TEST(ImportedLog, ALostBeginningLeavesUnknownSplits) {
    std::string text = file_text("2026-05");
    text.erase(0, text.find("## SPLIT #2"));
    Imported imported = Imported::text(text);
    const auto splits = test::split_rows(*imported.history, imported.history->plan(0));
    ASSERT_EQ(splits.size(), 3U);
    EXPECT_EQ(splits[0].backend, no_backend);
    EXPECT_EQ(splits[1].why, std::nullopt);
    EXPECT_EQ(imported.history->backend_name(splits[2].backend), "CPU");
    EXPECT_FALSE(imported.result.notes.empty());
}

/// What a line that is missing would have said is unknown, and sums are of what is there.
TEST(ImportedLog, InputsOfASplitWithoutItsLineAreUnknown) {
    std::string text = file_text("2026-05");
    text.erase(text.find("## SPLIT #1"), text.find("## SPLIT #2") - text.find("## SPLIT #1"));
    Imported imported = Imported::text(text);
    const PlanState& state = imported.history->plan(0);
    ASSERT_EQ(state.splits.size(), 3U);
    EXPECT_EQ(imported.result.n_splits, 3);
    EXPECT_EQ(state.splits[0].n_inputs(), 0);
    EXPECT_EQ(state.splits[1].n_inputs(), std::nullopt);
    const accounts::RecordedSizes sizes(*imported.history, state);
    EXPECT_EQ(sizes.of_inputs(state.splits[1]).known(), std::nullopt);
    EXPECT_FALSE(accounts::knows_all_inputs(state));
    EXPECT_FALSE(sizes.of_inputs(state).complete);
}

TEST(ImportedLog, InputsThatAreAnnouncedAndCutOffAreCounted) {
    Imported imported = Imported::text("## SPLIT #0: CPU # 0 inputs\n## SPLIT #1: V # 3 inputs: [big (  12K)] [small\n");
    const PlanState& state = imported.history->plan(0);
    const SplitState& split = state.splits.at(1);
    EXPECT_EQ(split.n_inputs(), 3);
    EXPECT_EQ(split.inputs.size(), 1U);
    const SizeSum size = accounts::RecordedSizes(*imported.history, state).of_inputs(split);
    EXPECT_FALSE(size.complete);
    EXPECT_EQ(words::bytes(size), "at least 12.0 KiB");
}

/// Lines print sizes rounded down: 12 KiB are 12,288 bytes or up to 1,023 more; of 0 KiB nothing is known.
TEST(ImportedLog, SizesThatItRoundedDownAreToldAsTheLeast) {
    Imported imported = Imported::text("## SPLIT #0: CPU # 0 inputs\n## SPLIT #1: V # 2 inputs: [big (  12K)] [ids (   0K)]\n");
    const PlanState& state = imported.history->plan(0);
    const SplitState& split = state.splits.at(1);
    const accounts::RecordedSizes sizes(*imported.history, state);
    ASSERT_EQ(split.inputs.size(), 2U);
    EXPECT_EQ(words::bytes(sizes.of(split.inputs[0].tensor, split.inputs[0].bytes)), "at least 12.0 KiB");
    EXPECT_EQ(words::bytes(sizes.of(split.inputs[1].tensor, split.inputs[1].bytes)), "?");
    EXPECT_EQ(sizes.of_inputs(split), (SizeSum{12 * 1024, false, 0, 1023}));
    EXPECT_EQ(words::bytes(sizes.of_copies(state)), "at least 12.0 KiB");
}

} // namespace
} // namespace schedscope::test
