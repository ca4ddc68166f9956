#include "tests/support/models/reference.h"
#include "tests/support/traces/plan_record.h"

#include "runtime/error.h"
#include "runtime/system/sanitizers.h"
#include "tests/support/models/made_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct DevicesCase {
    const char* devices;
    int ngl;
    FlashAttention flash;
    int32_t n_tokens = 200; ///< of the story; fewer where a driver runs on the CPU
};

std::string place_name(const ::testing::TestParamInfo<DevicesCase>& info) {
    std::string name = std::string(info.param.devices) + "_ngl" + std::to_string(info.param.ngl) +
                       (info.param.flash == FlashAttention::on    ? "_flash"
                        : info.param.flash == FlashAttention::off ? "_plain"
                                                                  : "_auto");
    std::replace(name.begin(), name.end(), ',', '_');
    return name;
}

/// The same story wherever its layers are.
class Story : public ::testing::TestWithParam<DevicesCase> {
protected:
    RunOptions options(std::string_view type) const {
        RunOptions o = greedy_options(teller.model(std::string(type)));
        o.devices = GetParam().devices;
        o.n_gpu_layers = GetParam().ngl;
        o.flash_attention = GetParam().flash;
        return o;
    }
    const Storyteller teller;
    Registry registry;
};

TEST_P(Story, is_told_word_by_word_from_f32_and_f16) {
    NEEDS_DEVICES(registry, GetParam().devices);
    for (const char* type : {"f32", "f16"}) {
        Session session(registry, options(type));
        const Generated g = generate_one(session, {1}, GetParam().n_tokens);
        EXPECT_EQ(g.text, teller.text().substr(0, g.text.size())) << type;
        EXPECT_EQ(g.text.size() == teller.text().size(), GetParam().n_tokens == 200) << type;
        EXPECT_EQ(static_cast<int32_t>(g.tokens.size()), GetParam().n_tokens);
        EXPECT_EQ(g.reason, StopReason::count);
    }
}

TEST_P(Story, begins_the_same_from_quantised_weights) {
    NEEDS_DEVICES(registry, GetParam().devices);
    for (const char* type : {"q8_0", "q4_0"}) {
        Session session(registry, options(type));
        const std::vector<int32_t> first_20(teller.ids().begin(), teller.ids().begin() + 20);
        EXPECT_EQ(generate_one(session, {1}, 20).tokens, first_20) << type;
        RunOptions exact = options(type);
        exact.products = Products::floats;
        Session with_floats(registry, exact);
        EXPECT_EQ(generate_one(with_floats, {1}, 20).tokens, first_20) << type << " with floats";
    }
}

TEST_P(Story, is_the_same_with_each_node_as_a_kernel_of_its_own) {
    NEEDS_DEVICES(registry, GetParam().devices);
    const auto told = [&](bool fusion) {
        RunOptions o = options("q4_0");
        o.fusion = fusion;
        Session session(registry, o);
        return generate_one(session, beginning_of(teller, 16), 60).tokens;
    };
    EXPECT_EQ(told(true), told(false));
}

TEST_P(Story, has_the_logits_of_an_independent_computation) {
    NEEDS_DEVICES(registry, GetParam().devices);
    NEEDS(shared + "/models/stories260K-logits-16x512.f32");
    const std::vector<float> truth = read_floats(shared + "/models/stories260K-logits-16x512.f32");
    struct Case {
        const char* weights;
        Type cache;
        float tolerance;
        bool same_argmax;
    };
    for (const Case& c : {Case{"f32", Type::F32, 0.002F, true}, Case{"f32", Type::F16, 0.03F, true},
                          Case{"f16", Type::F16, 0.03F, true}, Case{"q8_0", Type::F16, 0.4F, false}}) {
        RunOptions o = options(c.weights);
        o.cache_type_k = o.cache_type_v = c.cache;
        Session session(registry, o);
        const std::vector<float> logits = all_logits(session, stories_prompt);
        EXPECT_LT(largest_difference(logits, truth), c.tolerance) << c.weights << " cache " << type_name(c.cache);
        if (c.same_argmax) {
            EXPECT_EQ(argmax_rows(logits, 512), argmax_rows(truth, 512)) << c.weights;
        }
        o.products = Products::floats;
        Session exact(registry, o);
        EXPECT_LT(largest_difference(all_logits(exact, stories_prompt), truth), c.tolerance) << c.weights << " with floats";
    }
}

/// The trained model on the CPU, and with more and more of its blocks on a device; for a sanitizer with some of them, and with
/// all.
std::vector<DevicesCase> places() {
    std::vector<DevicesCase> all = {{"cpu", 0, FlashAttention::on},
                                    {"cpu", 0, FlashAttention::off},
                                    {"blas,cpu", 0, FlashAttention::automatic},
                                    {"vulkan0,cpu", 0, FlashAttention::automatic, 20},
                                    {"vulkan0,cpu", 1, FlashAttention::automatic, 20},
                                    {"vulkan0,cpu", 2, FlashAttention::off, 20},
                                    {"vulkan0,cpu", 3, FlashAttention::automatic, 20},
                                    {"vulkan0,cpu", 4, FlashAttention::off, 20},
                                    {"vulkan0,cpu", 5, FlashAttention::automatic, 20},
                                    {"vulkan0,cpu", 6, FlashAttention::off, 20},
                                    {"vulkan0,cpu", 99, FlashAttention::automatic, 200}};
    std::erase_if(all, [](const DevicesCase& c) { return sanitized && c.n_tokens == 20 && c.ngl != 2 && c.ngl != 5; });
    return all;
}

INSTANTIATE_TEST_SUITE_P(stories260K, Story, ::testing::ValuesIn(places()), place_name);

TEST(Generation, does_not_depend_on_how_the_prompt_is_cut) {
    NEEDS(trained_model());
    const std::vector<float> truth = read_floats(shared + "/models/stories260K-logits-16x512.f32");
    Registry registry;
    for (const auto& [n_batch, n_ubatch] : {std::pair{2048, 512}, {16, 5}, {7, 3}, {1, 1}}) {
        RunOptions o = greedy_options(trained_model());
        o.cache_type_k = o.cache_type_v = Type::F32;
        o.n_batch = n_batch;
        o.n_ubatch = n_ubatch;
        Session session(registry, o);
        EXPECT_LT(largest_difference(all_logits(session, stories_prompt), truth), 0.002F) << n_batch << " " << n_ubatch;
    }
}

TEST(Generation, a_steady_loop_runs_one_graph) {
    Registry registry;
    const std::vector<int32_t> prompt_of_16 = beginning_of(Storyteller(), 16);
    Session session(registry, greedy_options(teller::model()));
    generate_one(session, {1}, 101);
    // The prompt is one token, too; its graph fits all that follow until cell 256.
    EXPECT_EQ(session.context().n_evaluations(), 101);
    EXPECT_EQ(session.context().n_reused(), 100);
    generate_one(session, prompt_of_16, 3);
    EXPECT_EQ(session.context().n_reused(), 101)
        << "the prompt of 16 and the first token need new graphs, the second token does not";
}

TEST(Generation, says_which_check_failed_when_a_graph_is_not_reused) {
    Registry registry;
    const std::vector<int32_t> prompt_of_16 = beginning_of(Storyteller(), 16);
    PlanRecord record;
    Session session(registry, greedy_options(teller::model()), &record);
    generate_one(session, prompt_of_16, 245);
    std::vector<std::string> failed;
    for (const auto& begin : record.all<record::EvaluationBegin>()) {
        if (!begin.reused) {
            failed.push_back(record.text(begin.failed_check));
        }
    }
    EXPECT_THAT(failed, ElementsAre("", "n_tokens", "n_kv"));
}

TEST(Generation, says_that_a_shift_took_the_graph_away) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.n_ctx = 256;
    o.sampling.ignore_eos = true;
    o.context_shift = true;
    PlanRecord record;
    Session session(registry, made_model(), o, &record);
    generate_one(session, {1}, 300);
    std::vector<std::string> failed;
    for (const auto& begin : record.all<record::EvaluationBegin>()) {
        if (!begin.reused && begin.kind != GraphKind::other) {
            failed.push_back(record.text(begin.failed_check));
        }
    }
    EXPECT_THAT(failed, ElementsAre("", "k_shift"));
}

TEST(Generation, stops_at_an_end_token) {
    Registry registry;
    // Bias everything else away: the second token is the end.
    RunOptions o = greedy_options("made");
    o.sampling.logit_bias.emplace_back(2, 1000.0F);
    Session session(registry, made_model(), o);
    const Generated g = generate_one(session, {1, 300}, 50);
    EXPECT_THAT(g.tokens, ElementsAre(2));
    EXPECT_EQ(g.reason, StopReason::end_token);
    EXPECT_EQ(g.text, "");
    o.sampling.ignore_eos = true;
    Session goes_on(registry, made_model(), o);
    EXPECT_EQ(generate_one(goes_on, {1, 300}, 50).tokens.size(), 50U);
}

TEST(Generation, ends_when_the_context_is_full_or_shifts_when_asked_to) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.n_ctx = 256;
    o.sampling.ignore_eos = true;
    Session session(registry, made_model(), o);
    const Generated full = generate_one(session, {1, 300}, -1);
    EXPECT_EQ(full.reason, StopReason::context_full);
    EXPECT_EQ(full.tokens.size(), 255U) << "254 were stored behind the prompt, and one more was chosen";
    o.context_shift = true;
    Session shifting(registry, made_model(), o);
    EXPECT_EQ(generate_one(shifting, {1, 300}, 400).tokens.size(), 400U);
}

TEST(Generation, refuses_prompts_that_make_no_sense) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.n_ctx = 256;
    Session session(registry, made_model(), o);
    const auto refusal = [&](const std::vector<SequencePrompt>& prompts) {
        GenerateRequest r;
        r.prompts = prompts;
        return sentence_of(ErrorKind::usage, [&] { generate(session, r); });
    };
    EXPECT_THAT(refusal({}), HasSubstr("prompt"));
    EXPECT_THAT(refusal({{0, {}, std::nullopt}}), HasSubstr("empty"));
    EXPECT_THAT(refusal({{0, {1, 320}, std::nullopt}}), HasSubstr("token 320"));
    EXPECT_THAT(refusal({{0, {1, -1}, std::nullopt}}), HasSubstr("token -1"));
    EXPECT_THAT(refusal({{0, std::vector<Token>(257, 1), std::nullopt}}), HasSubstr("257"));
    EXPECT_THAT(refusal({{64, {1}, std::nullopt}}), HasSubstr("sequence 64"));
    EXPECT_THAT(refusal({{3, {1}, std::nullopt}, {3, {1}, std::nullopt}}), HasSubstr("sequence 3"));
}

TEST(Generation, with_a_seed_repeats_itself) {
    Registry registry;
    RunOptions o;
    o.devices = "cpu";
    o.seed = 11;
    o.sampling.top_k = 0;
    o.sampling.temperature = 1.0F;
    const auto draw = [&](uint32_t seed) {
        o.seed = seed;
        Session session(registry, made_model(), o);
        return generate_one(session, {1}, 30).tokens;
    };
    EXPECT_EQ(draw(11), draw(11));
    EXPECT_NE(draw(11), draw(12));
}

TEST(Generation, records_tokens_samplers_and_evaluations) {
    Registry registry;
    PlanRecord record;
    RunOptions o = greedy_options("made");
    o.sampling.temperature = 0.7F;
    o.seed = 3;
    Session session(registry, made_model(), o, &record);
    const Generated g = generate_one(session, {1, 300, 301}, 4);

    const auto tokens = record.all<record::NextToken>();
    ASSERT_EQ(tokens.size(), 4U);
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(tokens[i].token, g.tokens[i]);
        EXPECT_EQ(tokens[i].position, static_cast<int32_t>(3 + i));
        EXPECT_EQ(tokens[i].host_bytes, 320 * 4);
    }
    std::vector<std::string> samplers;
    for (const auto& s : record.all<record::Sample>()) {
        samplers.push_back(record.text(s.sampler));
    }
    ASSERT_EQ(samplers.size(), 24U);
    EXPECT_THAT(std::vector(samplers.begin(), samplers.begin() + 6),
                ElementsAre("penalties", "top_k", "top_p", "min_p", "temp", "dist"));
    EXPECT_EQ(record.all<record::Sample>()[1].candidates, 40);

    const auto begins = record.all<record::EvaluationBegin>();
    ASSERT_EQ(begins.size(), 4U);
    EXPECT_EQ(begins[0].kind, GraphKind::prefill);
    EXPECT_EQ(begins[0].n_tokens, 3);
    EXPECT_EQ(begins[0].n_outputs, 1);
    EXPECT_EQ(begins[1].kind, GraphKind::decode);
    EXPECT_EQ(begins[3].planned_in, 1);
    EXPECT_EQ(record.all<record::EvaluationEnd>().size(), 4U);
    const auto ubatch = record.all<record::UbatchToken>();
    ASSERT_EQ(ubatch.size(), 6U);
    EXPECT_EQ(ubatch[2].token, 301);
    EXPECT_EQ(ubatch[2].position, 2);
    EXPECT_TRUE(ubatch[2].output);
    EXPECT_FALSE(ubatch[1].output);
    EXPECT_EQ(record.info().facts.at(0).first, "model");
}

TEST(Generation, without_text_records_hold_no_text) {
    Registry registry;
    PlanRecord record;
    RunOptions o = greedy_options("made");
    o.record_text = false;
    Session session(registry, made_model(), o, &record);
    generate_one(session, {1}, 3);
    for (const auto& t : record.all<record::NextToken>()) {
        EXPECT_EQ(t.text, 0);
    }
}

TEST(Generation, hands_out_the_row_each_token_was_chosen_from) {
    Registry registry;
    Session session(registry, made_model(), greedy_options("made"));
    for (const bool all : {false, true}) {
        std::vector<float> rows;
        GenerateRequest r;
        r.prompts.push_back({0, {1, 300, 301}, std::nullopt});
        r.n_predict = 4;
        r.all_logits = all;
        r.on_logits = [&](int32_t, int32_t, std::span<const float> row) { rows.insert(rows.end(), row.begin(), row.end()); };
        const GenerateResult result = generate(session, r);
        const auto best = argmax_rows(rows, 320);
        ASSERT_EQ(best.size(), all ? 6U : 4U);
        for (size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(static_cast<int32_t>(best[best.size() - 4 + i]), result.sequences[0].tokens[i]);
        }
    }
}

TEST(Generation, embeddings_in_the_place_of_tokens_give_the_same_logits) {
    Registry registry;
    const auto file = made_model();
    Session session(registry, file, greedy_options("made"));
    const std::vector<int32_t> prompt{1, 300, 301, 302};
    const std::vector<float> expected = all_logits(session, prompt);
    const auto* rows = reinterpret_cast<const float*>(file->require_tensor("token_embd.weight").data);
    Batch batch;
    for (size_t i = 0; i < prompt.size(); ++i) {
        batch.add_embeddings(std::span(rows + 64 * prompt[i], 64), 1, static_cast<int32_t>(i), only_sequence(0), true);
    }
    session.context().cells().clear();
    session.context().decode(batch);
    std::vector<float> logits;
    for (int32_t i = 0; i < 4; ++i) {
        const auto row = session.context().logits(i);
        logits.insert(logits.end(), row.begin(), row.end());
    }
    EXPECT_EQ(largest_difference(logits, expected), 0.0F);
}

TEST(Generation, is_stopped_from_outside) {
    Registry registry;
    Session session(registry, made_model(), greedy_options("made"));
    std::atomic<bool> stop{false};
    GenerateRequest r;
    r.prompts.push_back({0, {1}, std::nullopt});
    r.n_predict = 100;
    r.stop = &stop;
    r.on_token = [&](const Choice& c) { stop = c.index == 4; };
    const GenerateResult result = generate(session, r);
    EXPECT_EQ(result.sequences[0].tokens.size(), 5U);
    EXPECT_EQ(result.sequences[0].reason, StopReason::stopped);
}

} // namespace
