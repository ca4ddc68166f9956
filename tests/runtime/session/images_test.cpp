// Images in prompts: their rows are read as tokens' embeddings are, where the prompt has them.
#include "tests/support/models/reference.h"

#include "runtime/vision/preprocess/preprocess.h"
#include "tests/support/files.h"
#include "tests/support/models/made_model.h"
#include "tests/support/plain/plain_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::HasSubstr;

namespace {

/// What each position's logits are.
using Logits = std::map<std::pair<int32_t, int32_t>, std::vector<float>>;

struct Images : ::testing::Test {
    /// Every row that this encoder makes is the embedding of a token: so an image must do what as many of these tokens do.
    static constexpr int32_t stands_for = 77;
    static constexpr int n_rows = 16;

    void SetUp() override {
        const auto embeddings =
            std::span(reinterpret_cast<const float*>(model->require_tensor("token_embd.weight").data), 320 * 64);
        PlainEncoder encoder = random_encoder("mlp", 1, 64);
        auto& weight = encoder.tensors["mm.2.weight"].v;
        std::fill(weight.begin(), weight.end(), 0.0F);
        std::copy_n(embeddings.begin() + stands_for * 64, 64, encoder.tensors["mm.2.bias"].v.begin());
        encoder.write(mmproj);
    }

    RunOptions options() const {
        RunOptions o = greedy_options("made.gguf");
        o.mmproj = mmproj;
        o.cache_type_k = o.cache_type_v = Type::F32;
        return o;
    }

    static PromptImage image(int32_t before) {
        auto views = std::make_shared<vision::Views>();
        views->image = {28, 28};
        views->views.emplace_back(vision::Image(28, 28));
        return {before, views};
    }

    /// All logits of the prompts and of what follows them.
    Logits logits_of(std::vector<SequencePrompt> prompts, const RunOptions& o, int32_t n_predict = 3) {
        Session session(registry, model, o);
        GenerateRequest request;
        request.prompts = std::move(prompts);
        request.n_predict = n_predict;
        request.all_logits = true;
        Logits all;
        request.on_logits = [&](int32_t sequence, int32_t position, std::span<const float> row) {
            EXPECT_TRUE(all.try_emplace({sequence, position}, row.begin(), row.end()).second) << sequence << " " << position;
        };
        const GenerateResult result = generate(session, request);
        n_prompt = result.n_prompt;
        return all;
    }

    static void expect_same(const Logits& a, const Logits& b) {
        ASSERT_EQ(a.size(), b.size());
        double most = 0, largest = 0;
        for (const auto& [place, row] : a) {
            ASSERT_TRUE(b.contains(place)) << place.first << " " << place.second;
            for (size_t i = 0; i < row.size(); ++i) {
                most = std::max<double>(most, std::abs(row[i] - b.at(place)[i]));
                largest = std::max<double>(largest, std::abs(row[i]));
            }
        }
        EXPECT_LT(most, 1e-5 * largest);
    }

    /// `tokens` with the token that an image stands for, n_rows times at each of these places.
    static std::vector<Token> as_tokens(std::vector<Token> tokens, std::vector<int32_t> places) {
        for (auto place = places.rbegin(); place != places.rend(); ++place) {
            tokens.insert(tokens.begin() + *place, n_rows, stands_for);
        }
        return tokens;
    }

    Registry registry;
    std::shared_ptr<gguf::File> model = made_model();
    const files::Folder folder;
    const std::string mmproj = folder / "encoder.gguf";
    int64_t n_prompt = 0;
};

TEST_F(Images, DoWhatTheirRowsDoAsTokens) {
    const Logits with_image = logits_of({{.sequence = 0, .tokens = {1, 30, 31, 32}, .images = {image(2)}}}, options());
    EXPECT_EQ(n_prompt, 4 + n_rows);
    expect_same(with_image, logits_of({{0, as_tokens({1, 30, 31, 32}, {2})}}, options()));
}

TEST_F(Images, StandAnywhereAndMoreThanOnce) {
    for (const std::vector<int32_t>& places : {std::vector<int32_t>{0}, {4}, {1, 3}, {2, 2}, {0, 1, 4}}) {
        SequencePrompt prompt{0, {1, 30, 31, 32}};
        for (const int32_t place : places) {
            prompt.images.push_back(image(place));
        }
        expect_same(logits_of({prompt}, options()), logits_of({{0, as_tokens(prompt.tokens, places)}}, options()));
    }
}

TEST_F(Images, AreDecodedInUbatches) {
    RunOptions small = options();
    small.n_batch = 10;
    small.n_ubatch = 7;
    const SequencePrompt prompt{.sequence = 0, .tokens = {1, 30, 31, 32}, .images = {image(2), image(3)}};
    expect_same(logits_of({prompt}, small), logits_of({prompt}, options()));
}

TEST_F(Images, StandInPromptsOfSeveralSequences) {
    const SequencePrompt text{2, {1, 40, 41, 42, 43}};
    const Logits with_image = logits_of({{.sequence = 0, .tokens = {1, 30, 31, 32}, .images = {image(2)}}, text}, options());
    expect_same(with_image, logits_of({{0, as_tokens({1, 30, 31, 32}, {2})}, text}, options()));
}

TEST_F(Images, ChooseTheSameTokensWithoutAllLogits) {
    Session session(registry, model, options());
    const auto text_of = [&](SequencePrompt prompt) {
        GenerateRequest request;
        request.prompts = {std::move(prompt)};
        request.n_predict = 8;
        return generate(session, request).sequences.front().tokens;
    };
    const auto tokens = text_of({.sequence = 0, .tokens = {1, 30, 31, 32}, .images = {image(2)}});
    EXPECT_EQ(tokens.size(), 8U);
    EXPECT_EQ(tokens, text_of({0, as_tokens({1, 30, 31, 32}, {2})}));
}

TEST_F(Images, RaiseTheContext) {
    RunOptions o = options();
    EXPECT_EQ(Session(registry, model, o).context().options().n_ctx, 2048);
    o.n_ctx = 100;
    EXPECT_EQ(Session(registry, model, o).context().options().n_ctx, 2048);
    o.n_ctx = 3000;
    EXPECT_EQ(Session(registry, model, o).context().options().n_ctx, 3072);
}

TEST_F(Images, ArePlannedFromHeaders) {
    RunOptions o = options();
    o.header_only = true;
    o.devices = "gpu=vulkan:1GiB,cpu";
    Session session(registry, model, o);
    GenerateRequest request;
    request.prompts = {{.sequence = 0, .tokens = {1, 30, 31, 32}, .images = {image(2)}}};
    plan_generation(session, request);
    EXPECT_EQ(session.context().n_evaluations(), 4); // two halves and the rows between them; one token more
}

TEST_F(Images, AreRefusedWhereTheyMakeNoSense) {
    Session session(registry, model, options());
    RunOptions without = options();
    without.mmproj.clear();
    Session blind(registry, model, without);
    const auto refusal = [](Session& s, std::vector<SequencePrompt> prompts) {
        return sentence_of(ErrorKind::usage, [&] {
            GenerateRequest request;
            request.prompts = std::move(prompts);
            generate(s, request);
        });
    };
    EXPECT_THAT(refusal(blind, {{.sequence = 0, .tokens = {1}, .images = {image(0)}}}), HasSubstr("--mmproj"));
    EXPECT_THAT(refusal(session, {{.sequence = 0, .tokens = {1}, .images = {image(2)}}}), HasSubstr("token 2"));
    EXPECT_THAT(refusal(session, {{.sequence = 0, .tokens = {1, 2}, .images = {image(2), image(1)}}}), HasSubstr("token 1"));
    EXPECT_THAT(refusal(session, {{.sequence = 0, .tokens = {1}, .images = {image(1)}}, {1, {1, 2}}}),
                HasSubstr("ends in an image"));
}

TEST_F(Images, OfAnotherWidthAreRefused) {
    random_encoder("mlp", 1, 32).write(mmproj);
    EXPECT_THAT(sentence_of(ErrorKind::input, [&] { Session(registry, model, options()); }),
                ::testing::AllOf(HasSubstr("embeddings of 32 values"), HasSubstr("reads 64")));
}

TEST_F(Images, PlaceWeightsByPatternsTogetherWithTheModels) {
    RunOptions o = options();
    o.overrides = {"^v\\.blk\\.0=cpu", "^blk\\.1=cpu"};
    const Session session(registry, model, o);
    EXPECT_THAT(session.notes(),
                ::testing::IsSupersetOf({HasSubstr("v\\.blk\\.0=CPU: 16 tensors"), HasSubstr("blk\\.1=CPU: 9 tensors")}));
    o.overrides = {"nothing=cpu"};
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { Session(registry, model, o); }), HasSubstr("matches no weight"));
}

} // namespace
