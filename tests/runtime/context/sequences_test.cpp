#include "tests/support/models/reference.h"

#include "runtime/context/inference_context.h"
#include "tests/runtime/context/last_position.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

using namespace schedscope;
using namespace schedscope::test;

namespace {

const std::string folder = shared + "/models/arch/llama-multi";
const std::vector<std::vector<int32_t>> prompts{
    {1, 326, 198, 175, 197, 287, 280, 175, 303, 234, 231, 310, 225, 27, 232, 175, 29, 271, 30, 134, 313, 209, 117, 25},
    {1, 326, 198, 175, 197, 287, 50, 113, 272, 238, 77, 204, 198, 267, 307, 113, 241},
    {1, 326, 198, 175, 197, 287, 118, 217, 58}};
const std::vector<std::vector<int32_t>> greedy{
    {9, 288, 9, 187, 263, 185, 119, 224}, {323, 25, 257, 203, 181, 236, 205, 159}, {299, 195, 4, 158, 316, 187, 191, 148}};
constexpr size_t n_words = 331;
constexpr float tolerance = 1e-4F;

struct Sequences : ::testing::Test {
    void SetUp() override {
        NEEDS(folder);
        RunOptions o = greedy_options(shared + "/models/arch/llama/model.gguf");
        o.cache_type_k = o.cache_type_v = Type::F32;
        o.flash_attention = FlashAttention::off;
        o.n_ctx = 256;
        session = std::make_unique<Session>(registry, o);
    }
    std::vector<float> rows(const std::vector<int>& which) const {
        std::vector<float> out;
        for (const int row : which) {
            const auto logits = session->context().logits(row);
            out.insert(out.end(), logits.begin(), logits.end());
        }
        return out;
    }
    static std::vector<float> truth(const std::string& mode, size_t sequence, const char* part = "") {
        return read_floats(folder + "/" + mode + std::to_string(sequence) + part + ".f32");
    }
    /// Eight batches of one token of each sequence, against the recorded logits.
    void expect_generation(const std::string& mode) {
        InferenceContext& context = session->context();
        std::map<size_t, std::vector<float>> got;
        for (size_t step = 0; step < 8; ++step) {
            Batch batch;
            for (size_t s = 0; s < 3; ++s) {
                batch.add(greedy[s][step], static_cast<int32_t>(prompts[s].size() + step), only_sequence(static_cast<int32_t>(s)),
                          true);
            }
            context.decode(batch);
            for (size_t s = 0; s < 3; ++s) {
                const auto logits = context.logits(static_cast<int32_t>(s));
                got[s].insert(got[s].end(), logits.begin(), logits.end());
            }
        }
        for (size_t s = 0; s < 3; ++s) {
            EXPECT_LT(largest_difference(got[s], truth(mode, s, "_gen")), tolerance) << "sequence " << s;
        }
    }
    Registry registry;
    std::unique_ptr<Session> session;
};

TEST_F(Sequences, in_one_batch_do_not_see_each_other) {
    Batch batch;
    std::vector<std::vector<int>> which(3);
    for (size_t s = 0; s < 3; ++s) {
        for (size_t i = 0; i < prompts[s].size(); ++i) {
            which[s].push_back(batch.size());
            batch.add(prompts[s][i], static_cast<int32_t>(i), only_sequence(static_cast<int32_t>(s)), true);
        }
    }
    session->context().decode(batch);
    for (size_t s = 0; s < 3; ++s) {
        EXPECT_LT(largest_difference(rows(which[s]), truth("concat_unified", s)), tolerance) << "sequence " << s;
    }
    expect_generation("concat_unified");
}

TEST_F(Sequences, share_the_tokens_that_belong_to_all_of_them) {
    constexpr size_t n_shared = 6;
    const SequenceSet all = only_sequence(0) | only_sequence(1) | only_sequence(2);
    Batch batch;
    std::vector<std::vector<int>> which(3);
    for (size_t i = 0; i < n_shared; ++i) {
        for (auto& w : which) {
            w.push_back(batch.size());
        }
        batch.add(prompts[0][i], static_cast<int32_t>(i), all, true);
    }
    for (size_t s = 0; s < 3; ++s) {
        for (size_t i = n_shared; i < prompts[s].size(); ++i) {
            which[s].push_back(batch.size());
            batch.add(prompts[s][i], static_cast<int32_t>(i), only_sequence(static_cast<int32_t>(s)), true);
        }
    }
    session->context().decode(batch);
    for (size_t s = 0; s < 3; ++s) {
        EXPECT_LT(largest_difference(rows(which[s]), truth("shared_prefix_unified", s)), tolerance) << "sequence " << s;
    }
    expect_generation("shared_prefix_unified");
}

TEST_F(Sequences, are_generated_together_as_each_would_be_alone) {
    GenerateRequest r;
    for (const int32_t s : {2, 0, 1}) {
        r.prompts.push_back({s, prompts[static_cast<size_t>(s)], std::nullopt});
    }
    r.n_predict = 8;
    const GenerateResult result = generate(*session, r);
    ASSERT_EQ(result.sequences.size(), 3U);
    for (size_t s = 0; s < 3; ++s) {
        EXPECT_EQ(result.sequences[s].sequence, static_cast<int32_t>(s));
        EXPECT_EQ(result.sequences[s].tokens, greedy[s]);
    }
}

TEST_F(Sequences, that_are_copied_and_cut_go_on_from_there) {
    // Sequence 1 begins as sequence 0 does: copy that, drop what differs.
    InferenceContext& context = session->context();
    Batch first;
    for (size_t i = 0; i < prompts[0].size(); ++i) {
        first.add(prompts[0][i], static_cast<int32_t>(i), only_sequence(0), false);
    }
    context.decode(first);
    context.cells().copy(0, 1, 0, -1);
    context.cells().remove(1, 6, -1);
    EXPECT_EQ(last_position(context.cells(), 0), 23);
    EXPECT_EQ(last_position(context.cells(), 1), 5);
    Batch rest;
    for (size_t i = 6; i < prompts[1].size(); ++i) {
        rest.add(prompts[1][i], static_cast<int32_t>(i), only_sequence(1), true);
    }
    context.decode(rest);
    std::vector<int> which(static_cast<size_t>(rest.size()));
    std::iota(which.begin(), which.end(), 0);
    std::vector<float> expected = truth("concat_unified", 1);
    expected.erase(expected.begin(), expected.begin() + 6 * n_words);
    EXPECT_LT(largest_difference(rows(which), expected), tolerance);
}

TEST_F(Sequences, that_move_keep_their_meaning) {
    // Positions are relative: a sequence that lies 7 positions later gives the same logits. Rotated keys are what is tested.
    InferenceContext& context = session->context();
    const auto decode = [&](int32_t from, int32_t to, int32_t offset) {
        Batch batch;
        for (int32_t i = from; i < to; ++i) {
            batch.add(prompts[0][static_cast<size_t>(i)], i + offset, only_sequence(0), i == to - 1);
        }
        context.decode(batch);
    };
    decode(0, 20, 7);
    context.cells().shift(0, 0, -1, -7);
    decode(20, 24, 0);
    std::vector<float> expected = truth("concat_unified", 0);
    expected.erase(expected.begin(), expected.begin() + 23 * n_words);
    EXPECT_LT(largest_difference(rows({0}), expected), tolerance);
}

} // namespace
