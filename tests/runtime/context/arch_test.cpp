#include "reference.h"

#include <gtest/gtest.h>

using namespace schedscope;
using namespace schedscope::test;

namespace {

class Arch : public testing::TestWithParam<const char*> {
protected:
    std::string dir() const { return shared + "/models/arch/" + GetParam(); }
    RunOptions options() const {
        RunOptions o = greedy_options(dir() + "/model.gguf");
        o.cache_type_k = o.cache_type_v = Type::F32;
        return o;
    }
    Registry registry;
};

TEST_P(Arch, has_the_logits_of_two_independent_computations) {
    NEEDS(dir());
    const std::vector<float> truth = read_floats(dir() + "/ref_f64.f32");
    const std::vector<float> reference = read_floats(dir() + "/logits.f32");
    for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
        RunOptions o = options();
        o.flash_attention = flash;
        Session session(registry, o);
        const std::vector<float> logits = all_logits(session, read_ids(dir() + "/tokens.txt"));
        EXPECT_LT(largest_difference(logits, truth), 1e-4F * largest(truth));
        EXPECT_LT(largest_difference(logits, reference), 1e-4F * largest(truth));
    }
}

TEST_P(Arch, goes_on_with_the_same_tokens) {
    NEEDS(dir());
    Session session(registry, options());
    EXPECT_EQ(generate_one(session, read_ids(dir() + "/tokens.txt"), 16).tokens, read_ids(dir() + "/greedy.txt"));
}

INSTANTIATE_TEST_SUITE_P(tiny, Arch, testing::Values("llama", "llama-rope-llama3", "llama-moe"), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace
