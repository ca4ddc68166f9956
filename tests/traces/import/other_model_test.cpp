// A log that is certainly not of the model that it was to be filled in from is refused.

#include "runtime/error.h"
#include "tests/support/files.h"
#include "tests/support/traces/imported.h"
#include "traces/import/model_graphs.h"

#include <gmock/gmock.h>

namespace schedscope::test {
namespace {

using ::testing::HasSubstr;

/// A model of which the header alone is looked at.
class KnownByHeader final : public ModelGraphs {
public:
    explicit KnownByHeader(ModelHeader header)
        : models_(std::make_shared<const std::vector<ModelHeader>>(1, std::move(header))) {}
    int64_t token_bytes() const override { return 64; }
    int32_t n_ctx_train() const override { return 256; }
    std::shared_ptr<const std::vector<ModelHeader>> models() const override { return models_; }
    const std::vector<const OwnedGraph*>& graphs(int32_t, int32_t) override { return none_; }

private:
    std::shared_ptr<const std::vector<ModelHeader>> models_;
    std::vector<const OwnedGraph*> none_;
};

ModelHeader header(int n_blocks, int64_t embedding_bytes = 2048) {
    ModelHeader h;
    h.tensors.push_back({"token_embd.weight", Type::F32, {16, 32, 1, 1}, embedding_bytes});
    for (int i = 0; i < n_blocks; ++i) {
        h.tensors.push_back({"blk." + std::to_string(i) + ".attn_norm.weight", Type::F32, {16, 1, 1, 1}, 64});
    }
    return h;
}

/// Two blocks: a norm each, whose weights' names are cut.
const std::string two_blocks = "## SPLIT #0: CPU # 0 inputs\n"
                               "node #  0 (  GET_ROWS):                 embd (   0K) [  CPU         ] use=1,c=1:    "
                               "token_embd.weight (   2K) [  CPU         ]"
                               "           inp_tokens (   0K) [  CPU         ]\n"
                               "node #  1 (       MUL):          attn_norm-0 (   0K) [  CPU         ] use=1,c=1:                 "
                               "embd (   0K) [  CPU         ]"
                               " blk.0.attn_norm.weig (   0K) [  CPU         ]\n"
                               "node #  2 (       MUL):          attn_norm-1 (   0K) [  CPU         ] use=1,c=1:          "
                               "attn_norm-0 (   0K) [  CPU         ]"
                               " blk.1.attn_norm.weig (   0K) [  CPU         ]\n";
const std::string output = "node #  3 (   MUL_MAT):        result_output (   0K) [  CPU         ] use=0,c=1:    "
                           "token_embd.weight (   2K) [  CPU         ]"
                           "          attn_norm-1 (   0K) [  CPU         ]\n";

/// Why the log is refused; empty: it is not.
std::string refusal(ModelHeader model, const std::string& log = two_blocks + output) {
    KnownByHeader known(std::move(model));
    LiveStore store;
    try {
        import_file(LogText(log).path(), store, nullptr, {}, &known);
        return "";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_EQ(store.n_steps(), 0) << "nothing is recorded";
        return e.what();
    }
}

TEST(OtherModel, ALogOfTheModelIsNotRefused) { EXPECT_EQ(refusal(header(2)), ""); }

TEST(OtherModel, AWeightOfAnotherSizeIsOfAnotherModel) {
    EXPECT_THAT(refusal(header(2, 4096)),
                HasSubstr(": the log is of another model: token_embd.weight has 2.0 KiB in the log, 4.0 KiB "
                          "(f32) in the model; give -m the model that the log is of, or leave it out"));
    EXPECT_EQ(refusal(header(2, 2048 + 1023)), "") << "the log rounds it down";
}

TEST(OtherModel, AWeightThatTheModelLacksIsOfAnother) {
    ModelHeader without = header(2);
    without.tensors.erase(without.tensors.begin());
    EXPECT_THAT(refusal(without), HasSubstr("another model: the model has no token_embd.weight;"));
    EXPECT_EQ(refusal(ModelHeader()), "") << "what its weights are is not known";
}

TEST(OtherModel, ABlockThatTheModelLacksIsOfAnother) {
    EXPECT_THAT(refusal(header(1)), HasSubstr("the log has blk.1.attn_norm.weig, the model has 1 block, numbered from 0;"));
}

TEST(OtherModel, AGraphWithoutTheModelsLastBlockIsOfAnother) {
    EXPECT_THAT(refusal(header(3)), HasSubstr("the log's graphs have 2 blocks, the model has 3;"));
    EXPECT_EQ(refusal(header(3), two_blocks), "") << "the log may be cut off there";
    ModelHeader predicts = header(3);
    predicts.values.push_back({"deepseek2.nextn_predict_layers", "u32", {int64_t{1}}});
    EXPECT_EQ(refusal(predicts), "") << "the last block is not for this token";
}

/// A log may be of several models, as of one that drafts.
TEST(OtherModel, OneGraphThatMayBeOfTheModelIsEnough) {
    std::string larger = two_blocks + output;
    for (size_t at = larger.find("   2K"); at != std::string::npos; at = larger.find("   2K", at)) {
        larger.replace(at, 5, "   4K");
    }
    EXPECT_NE(refusal(header(2), larger), "");
    EXPECT_EQ(refusal(header(2), larger + "\n" + two_blocks + output), "");
}

} // namespace
} // namespace schedscope::test
