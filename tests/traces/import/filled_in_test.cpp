// A graph that is filled in from a model says what the log says, where the two speak of the same.

#include "tests/support/graphs/sketch.h"
#include "tests/support/traces/imported.h"
#include "traces/import/model_graphs.h"
#include "traces/store/reading/reader.h"
#include "traces/store/writer.h"

#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace schedscope::test {
namespace {

/// A model whose one graph multiplies the embeddings of its tokens by their weights again, and picks rows by two inputs, of which
/// the log calls one otherwise.
class TiedModel final : public ModelGraphs {
public:
    int64_t token_bytes() const override { return 16 * 4; }
    int32_t n_ctx_train() const override { return 256; }
    std::shared_ptr<const std::vector<ModelHeader>> models() const override {
        return std::make_shared<const std::vector<ModelHeader>>(1);
    }
    const std::vector<const OwnedGraph*>& graphs(int32_t n_tokens, int32_t) override { return made_[n_tokens].of(n_tokens); }

private:
    class Made {
    public:
        const std::vector<const OwnedGraph*>& of(int64_t n) {
            if (graphs_.empty()) {
                const TensorId weights = leaf("token_embd.weight", BufferUsage::weights, Type::F32, 32),
                               tokens = leaf("inp_tokens", BufferUsage::any, Type::I32, n),
                               chosen = leaf("leaf_5", BufferUsage::any, Type::I32, n);
                node("embd", Op::GET_ROWS, {weights, tokens}, n);
                node("", Op::GET_ROWS, {sketch_.id("embd"), chosen}, n);
                node("result_output", Op::MUL_MAT, {weights, sketch_.graph.nodes.back()}, n);
                graphs_ = {&sketch_.graph};
            }
            return graphs_;
        }

    private:
        TensorId shaped(TensorId id, Type type, int64_t n) {
            TensorInfo& t = sketch_.at(id);
            t.type = type;
            t.ne = type == Type::I32 ? Shape{n, 1, 1, 1} : Shape{16, n, 1, 1};
            t.nb = contiguous_strides(type, *t.ne);
            return id;
        }
        TensorId leaf(const char* name, BufferUsage usage, Type type, int64_t n) {
            return shaped(sketch_.allocated(name, "CPU", usage), type, n);
        }
        void node(const char* name, Op op, std::initializer_list<TensorId> sources, int64_t n) {
            shaped(sketch_.node(name, op, sources), Type::F32, n);
        }

        Sketch sketch_{"CPU"};
        std::vector<const OwnedGraph*> graphs_;
    };
    std::map<int32_t, Made> made_; ///< by the number of tokens
};

constexpr const char* log_of_tied_model =
    "graph_reserve: reserving a graph for ubatch with n_tokens = 4, n_seqs = 1, n_outputs = 4\n"
    "## SPLIT #0: CPU # 0 inputs\n"
    "node #  0 (  GET_ROWS):                 embd (   0K) [  CPU         ] use=1,c=1:    token_embd.weight (   2K) [  CPU        "
    " "
    "]           inp_tokens (   0K) [  CPU         ]\n"
    "\n## SPLIT #1: Vulkan0 # 2 inputs: [embd (   0K)] [chosen_rows (   0K)] \n"
    "node #  1 (  GET_ROWS):               node_1 (   0K) [Vulka         ] use=1,c=1:       Vulkan0#embd#0 (   0K) [ NULL        "
    " "
    "] Vulkan0#chosen_rows# (   0K) [ NULL         ]\n"
    "node #  2 (   MUL_MAT):        result_output (   0K) [Vulka         ] use=0,c=1:    token_embd.weight (   2K) [Vulka        "
    " "
    "]               node_1 (   0K) [Vulka         ]\n";

class FilledInGraph : public ::testing::Test {
protected:
    const OwnedGraph& graph() { return *imported.history->graph_of(state()); }
    const PlanState& state() { return imported.history->plan(0); }
    const TensorInfo& node(size_t index) { return graph().tensors[static_cast<size_t>(graph().nodes.at(index))]; }
    std::string backend_of(TensorId id) {
        return imported.history->backend_name(state().tensors[static_cast<size_t>(id)].backend);
    }

    TiedModel model;
    Imported imported = Imported::text(log_of_tied_model, &model);
};

/// llama.cpp makes a second tensor of a tied output's name on the output's device.
TEST_F(FilledInGraph, AWeightThatLiesInTwoPlacesIsTwoTensors) {
    ASSERT_EQ(imported.result.n_filled_in, 1);
    const TensorId looked_up = node(0).src[0], output = node(2).src[0];
    EXPECT_NE(looked_up, output);
    EXPECT_EQ(backend_of(looked_up), "CPU");
    EXPECT_EQ(backend_of(output), "Vulkan0");
    for (const TensorId weights : {looked_up, output}) {
        const TensorInfo& t = graph().tensors[static_cast<size_t>(weights)];
        EXPECT_EQ(t.name, "token_embd.weight");
        EXPECT_EQ(t.usage, BufferUsage::weights);
        EXPECT_EQ(t.ne, (Shape{16, 32, 1, 1}));
    }
    EXPECT_EQ(state().copies.size(), 2U); // of what the header announced
}

/// That is known of them, though the log says of no tensor what its memory is for.
TEST_F(FilledInGraph, WeightsAreSuchInTheTraceToo) {
    const LogText log(log_of_tied_model), trace("");
    std::remove(trace.path().c_str());
    TraceWriter writer(trace.path());
    import_file(log.path(), writer, nullptr, {}, &model);
    writer.close();
    const TraceReader reader(trace.path());
    int n_weights = 0;
    for (const TensorInfo& t : reader.graph(0).tensors) {
        n_weights += t.usage == BufferUsage::weights ? 1 : 0;
    }
    EXPECT_EQ(n_weights, 2);
}

TEST_F(FilledInGraph, NamesAreTheLogsWhereItStatesThem) {
    ASSERT_EQ(imported.result.n_filled_in, 1);
    EXPECT_EQ(imported.history->tensor_name(state(), node(1).src[1]), "chosen_rows");
    EXPECT_EQ(node(1).name, "node_1");
    EXPECT_EQ(imported.history->tensor_name(state(), node(0).src[1]), "inp_tokens");
}

/// Sizes are cut to whole KiB: where the log names no number of tokens, several come to the same.
TEST_F(FilledInGraph, HowManyTokensThereAreIsSaidToBeUnsureWhereALogCannotTell) {
    const auto notes_of = [&](const std::string& log) {
        const Imported of_log = Imported::text(log, &model);
        EXPECT_EQ(of_log.result.n_filled_in, 1);
        return of_log.result.notes;
    };
    const std::string all = log_of_tied_model;
    EXPECT_THAT(notes_of(all.substr(all.find("## SPLIT #0"))),
                ::testing::Contains("evaluation 0 is filled in as one of 1 token, but up to 15 are logged alike"));
    EXPECT_THAT(notes_of(all), ::testing::Not(::testing::Contains(::testing::HasSubstr("logged alike"))));
}

} // namespace
} // namespace schedscope::test
