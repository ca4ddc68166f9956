// Sampling in the graph of a model: the same tokens, the same graph whoever takes part, and no more copied than is needed.
#include "tests/support/models/reference.h"
#include "tests/support/traces/plan_record.h"

#include "runtime/error.h"
#include "runtime/sampling/make_chain.h"
#include "tests/support/models/made_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

constexpr int32_t n_vocab = 320;

RunOptions options_on(const char* devices) {
    RunOptions o = greedy_options("made");
    o.devices = devices;
    o.sampling.ignore_eos = true;
    o.seed = 21;
    o.n_ctx = 256;
    return o;
}

std::shared_ptr<SamplerChain> chain(const Session& session, const char* text, uint32_t seed = 1) {
    return std::make_shared<SamplerChain>(parse_chain(text, session.sampling(), seed));
}

class SamplingInGraph : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override { NEEDS_DEVICES(registry, GetParam()); }
    Registry registry;
};

std::vector<std::vector<Token>> tokens_of(const GenerateResult& result) {
    std::vector<std::vector<Token>> all;
    for (const Generated& g : result.sequences) {
        all.push_back(g.tokens);
    }
    return all;
}

std::vector<std::vector<Token>> generated(Session& session, const std::vector<std::string>& chains, int32_t n) {
    GenerateRequest r;
    for (size_t s = 0; s < chains.size(); ++s) {
        SequencePrompt p{static_cast<int32_t>(s), {1, static_cast<Token>(300 + s), static_cast<Token>(40 + 7 * s)}, std::nullopt};
        if (!chains[s].empty()) {
            p.chain = parse_chain(chains[s], session.sampling(), 100 + static_cast<uint32_t>(s));
        }
        r.prompts.push_back(std::move(p));
    }
    r.n_predict = n;
    return tokens_of(generate(session, r));
}

TEST_P(SamplingInGraph, GreedyIsGreedyForEveryTokenOfEverySequence) {
    RunOptions o = options_on(GetParam());
    Session on_host(registry, made_model(), o);
    o.sample_in_graph = true;
    Session in_graph(registry, made_model(), o);
    EXPECT_EQ(generated(in_graph, {"", "greedy", "top_k=3;greedy"}, 60),
              generated(on_host, {"", "greedy", "top_k=3;greedy"}, 60));
}

TEST_P(SamplingInGraph, TheStoryIsToldWordByWord) {
    const Storyteller teller;
    RunOptions o = greedy_options(teller.model());
    o.devices = GetParam();
    o.sample_in_graph = true;
    Session session(registry, o);
    const Generated g = generate_one(session, {1}, 60);
    EXPECT_EQ(g.text, teller.text().substr(0, g.text.size()));
    EXPECT_EQ(g.tokens.size(), 60U);
}

TEST_P(SamplingInGraph, OneSeedGivesTheSameTokensAsTheHost) {
    RunOptions o = options_on(GetParam());
    o.sampling.temperature = 0.9F;
    o.sampling.repeat_penalty = 1.2F;
    Session on_host(registry, made_model(), o);
    o.sample_in_graph = true;
    Session in_graph(registry, made_model(), o);
    const std::vector<std::string> chains{"", "top_k=30;temp=1.1;dist", "top_k=50;xtc=0.5,0.02;dist",
                                          "top_p=0.9;temp=0.8,0.4,1.2;dist"};
    EXPECT_EQ(generated(in_graph, chains, 30), generated(on_host, chains, 30));
}

TEST_P(SamplingInGraph, ASteadyLoopRunsOneGraph) {
    RunOptions o = options_on(GetParam());
    o.sample_in_graph = true;
    Session session(registry, made_model(), o);
    generated(session, {"", "top_k=5;dist"}, 50);
    EXPECT_EQ(session.context().n_evaluations(), 50);
    EXPECT_EQ(session.context().n_reused(), 48) << "the prompts and the first tokens need a graph each";
}

/// The plan of an evaluation as its records tell it: every node with its sources, backends and causes.
std::vector<std::string> plan_of(const PlanRecord& record) {
    std::vector<std::string> lines;
    for (int i = 0; i < record.n_nodes(); ++i) {
        const PlanRecord::Node n = record.node(i);
        std::string line = n.op + ' ' + n.name + ' ' + n.backend + ' ' + n.cause + ' ' + std::to_string(n.bytes);
        for (const PlanRecord::Source& s : n.sources) {
            line += " | " + s.name + ' ' + s.backend + ' ' + s.cause + ' ' + std::to_string(s.bytes);
        }
        lines.push_back(std::move(line));
    }
    for (const PlanRecord::SplitHeader& s : record.splits()) {
        lines.push_back("split " + s.backend + ' ' + std::to_string(s.inputs.size()));
    }
    return lines;
}

TEST_P(SamplingInGraph, ThePlanIsTheSameWhicheverSequencesAreActive) {
    const auto planned = [&](const std::vector<int32_t>& active) {
        PlanRecord record;
        Session session(registry, made_model(), options_on(GetParam()), &record);
        for (const int32_t s : {0, 1, 2, 5}) {
            session.context().set_sampler(s, chain(session, "top_k=9;temp=0.7;dist", static_cast<uint32_t>(s)));
        }
        Batch batch;
        for (const int32_t s : active) {
            batch.add(40 + s, 0, only_sequence(s), true);
        }
        session.context().decode(batch);
        return plan_of(record);
    };
    const auto plan = planned({0, 1});
    EXPECT_EQ(plan, planned({1, 5}));
    EXPECT_EQ(plan, planned({2, 0}));
    EXPECT_EQ(plan, planned({3, 4})) << "nor do sequences without a chain change it";
    EXPECT_NE(plan, planned({0, 1, 2})) << "three outputs are another graph";
}

TEST_P(SamplingInGraph, OneGraphServesWhicheverSequencesAreActive) {
    Session session(registry, made_model(), options_on(GetParam()));
    InferenceContext& context = session.context();
    const std::vector<std::pair<int32_t, int32_t>> pairs{{0, 1}, {1, 2}, {0, 2}, {2, 1}, {0, 3}};
    for (const int32_t s : {0, 1, 2}) {
        context.set_sampler(s, chain(session, "top_k=4;greedy"));
    }
    std::map<int32_t, int32_t> position;
    for (const auto& [a, b] : pairs) {
        Batch batch;
        for (const int32_t s : {a, b}) {
            batch.add(40 + s, position[s]++, only_sequence(s), static_cast<uint8_t>(output_choice | output_logits));
        }
        context.decode(batch);
        for (const int32_t row : {0, 1}) {
            const int32_t s = row == 0 ? a : b;
            const auto logits = context.logits(row);
            const auto best = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
            if (s < 3) {
                EXPECT_EQ(context.sampling().sampled(s).token, best) << a << " " << b;
            } else {
                EXPECT_THROW(context.sampling().sampled(s), Error);
            }
        }
    }
    EXPECT_EQ(context.n_reused(), 4);
}

TEST_P(SamplingInGraph, AMixedBatchCopiesLogitsOnlyForThoseThatAreSampledOnTheHost) {
    RunOptions o = options_on(GetParam());
    o.sampling.ignore_eos = false; // a bias of end tokens would run in the graph before xtc
    Session session(registry, made_model(), o);
    InferenceContext& context = session.context();
    context.set_sampler(1, chain(session, "top_k=40;cpu:temp=0.8;dist"));
    context.set_sampler(2, chain(session, "greedy"));
    context.set_sampler(4, chain(session, "xtc=0.5;dist")); // nothing of it can run there
    Batch batch;
    for (const int32_t s : {0, 1, 2, 3, 4}) {
        batch.add(60 + s, 0, only_sequence(s), true);
    }
    context.decode(batch);
    EXPECT_EQ(context.n_outputs(), 5);
    EXPECT_EQ(context.sampling().sequences(), only_sequence(1) | only_sequence(2));
    for (const int32_t row : {0, 3, 4}) {
        EXPECT_EQ(context.logits(row).size(), static_cast<size_t>(n_vocab));
    }
    for (const int32_t row : {1, 2}) {
        EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { context.logits(row); }), HasSubstr("sampled in the graph"));
    }
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { context.logits(5); }), HasSubstr("row 5 of 5"));
    EXPECT_EQ(context.sampling().sampled(1).host_bytes, 40 * 8);
    EXPECT_EQ(context.sampling().sampled(2).host_bytes, 8);
    // Each row is the sequence's own: a session without chains has the same.
    Session plain(registry, made_model(), options_on(GetParam()));
    plain.context().decode(batch);
    for (const int32_t row : {0, 3, 4}) {
        const auto a = context.logits(row), b = plain.context().logits(row);
        EXPECT_EQ(largest_difference({a.begin(), a.end()}, {b.begin(), b.end()}), 0.0F) << row;
    }
    const auto second = plain.context().logits(2);
    EXPECT_EQ(context.sampling().sampled(2).token, std::max_element(second.begin(), second.end()) - second.begin());
}

TEST_P(SamplingInGraph, ChainsAreSetAndTakenAwayBetweenDecodes) {
    PlanRecord record;
    Session session(registry, made_model(), options_on(GetParam()), &record);
    InferenceContext& context = session.context();
    int32_t position = 0;
    const auto decode = [&] {
        Batch batch;
        batch.add(50, position, only_sequence(0), true);
        batch.add(51, position++, only_sequence(1), true);
        context.decode(batch);
    };
    decode();
    EXPECT_EQ(context.logits(1).size(), static_cast<size_t>(n_vocab));
    context.set_sampler(1, chain(session, "greedy"));
    decode();
    EXPECT_THROW(context.logits(1), Error);
    EXPECT_GE(context.sampling().sampled(1).token, 0);
    decode();
    context.set_sampler(0, chain(session, "dist"));
    decode();
    context.set_sampler(1, nullptr);
    decode();
    EXPECT_EQ(context.logits(1).size(), static_cast<size_t>(n_vocab));
    EXPECT_THROW(context.logits(0), Error);
    EXPECT_THROW(context.set_sampler(64, nullptr), Error);
    std::vector<std::string> failed;
    for (const auto& begin : record.all<record::EvaluationBegin>()) {
        failed.push_back(begin.reused ? "reused" : record.text(begin.failed_check));
    }
    EXPECT_THAT(failed, ElementsAre("", "samplers", "reused", "samplers", "samplers"));
}

TEST_P(SamplingInGraph, TwoOutputsToChooseFromAreRefused) {
    Session session(registry, made_model(), options_on(GetParam()));
    InferenceContext& context = session.context();
    context.set_sampler(0, chain(session, "greedy"));
    Batch batch;
    batch.add(50, 0, only_sequence(0), true);
    batch.add(51, 1, only_sequence(0), true);
    EXPECT_THAT(sentence_of(ErrorKind::usage, [&] { context.decode(batch); }), HasSubstr("sequence 0"));
    batch.outputs[0] = output_logits;
    context.decode(batch);
    EXPECT_EQ(context.logits(0).size(), static_cast<size_t>(n_vocab));
    EXPECT_THROW(context.logits(1), Error);
}

TEST_P(SamplingInGraph, RowsOfLogitsAreHandedOutWhereTheyAreAskedFor) {
    RunOptions o = options_on(GetParam());
    o.n_ubatch = 2; // the prompt is cut: what is chosen comes from its last part
    const auto rows = [&](bool in_graph, std::vector<Token>& tokens) {
        o.sample_in_graph = in_graph;
        Session session(registry, made_model(), o);
        std::vector<float> all;
        GenerateRequest r;
        r.prompts.push_back({0, {1, 300, 301, 302, 303}, parse_chain("top_k=7;dist", session.sampling(), 9)});
        r.n_predict = 6;
        r.all_logits = true;
        r.on_logits = [&](int32_t, int32_t, std::span<const float> row) { all.insert(all.end(), row.begin(), row.end()); };
        tokens = generate(session, r).sequences[0].tokens;
        return all;
    };
    std::vector<Token> in_graph, on_host;
    const auto a = rows(true, in_graph), b = rows(false, on_host);
    EXPECT_EQ(in_graph, on_host) << "a number is drawn once a token, however the prompt is cut";
    EXPECT_EQ(a.size(), 10U * n_vocab);
    EXPECT_LT(largest_difference(a, b), 1e-5F);
}

TEST_P(SamplingInGraph, IsRecordedSamplerBySampler) {
    PlanRecord record;
    RunOptions o = options_on(GetParam());
    o.sampling.temperature = 0.7F;
    o.sample_in_graph = true;
    Session session(registry, made_model(), o, &record);
    GenerateRequest r;
    r.prompts.push_back({0, {1, 300}, std::nullopt});
    r.prompts.push_back({1, {1, 301}, parse_chain("top_k=12;xtc=0.5;temp=0.9;dist", session.sampling(), 1)});
    r.n_predict = 3;
    generate(session, r);
    const std::string device = std::string(GetParam()) == "vulkan0,cpu" ? "Vulkan0" : "CPU"; // BLAS has products only
    int n_cut = 0;
    for (const auto& s : record.all<record::Sample>()) {
        const std::string name = record.text(s.sampler), why = record.text(s.why_not_in_graph);
        EXPECT_FALSE(s.refused);
        if (s.backend != no_backend) {
            EXPECT_EQ(record.info().backends[static_cast<size_t>(s.backend)].name, device);
            EXPECT_EQ(why, "");
            EXPECT_EQ(s.n_nodes > 0, name != "penalties") << name << " is switched off";
            EXPECT_EQ(s.tensor != no_tensor, s.n_nodes > 0);
            EXPECT_LE(s.candidates, name == "top_k" ? 40 : 320);
        } else {
            ++n_cut;
            EXPECT_EQ(s.sequence, 1);
            EXPECT_THAT(why, name == "xtc" ? HasSubstr("CPU only") : HasSubstr("behind xtc"));
            EXPECT_EQ(s.n_nodes, 0);
        }
    }
    EXPECT_EQ(n_cut, 9);
    for (const auto& t : record.all<record::NextToken>()) {
        EXPECT_EQ(t.host_bytes, t.sequence == 0 ? 8 : 12 * 8);
        EXPECT_LE(t.host_bytes, 1024);
    }
}

TEST_P(SamplingInGraph, IsPlannedFromTheHeaderAlone) {
    RunOptions o = options_on(GetParam());
    o.sampling.ignore_eos = false;
    o.sample_in_graph = true;
    o.header_only = true;
    o.sampling.temperature = 0.8F;
    PlanRecord record;
    Session session(registry, made_model(), o, &record);
    GenerateRequest r;
    r.prompts.push_back({0, {1, 300}, std::nullopt});
    plan_generation(session, r);
    bool found = false;
    for (int i = 0; i < record.n_nodes(); ++i) {
        found = found || record.node(i).name == "seq0.dist.cumsum";
    }
    EXPECT_TRUE(found);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, SamplingInGraph, ::testing::Values("cpu", "vulkan0,cpu", "blas,cpu"), [](const auto& param) {
    return std::string(param.param).substr(0, std::string(param.param).find(','));
});

/// A model of ten letters: byte-level BPE takes token 11 as the end where a file names none, and there is no token 11.
std::shared_ptr<gguf::File> ten_letters() {
    const auto source = made_model();
    gguf::Writer w;
    for (const gguf::MetadataEntry& e : source->metadata()) {
        w.set(e.key, e.value);
    }
    w.set("tokenizer.ggml.model", "gpt2");
    w.set("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
    w.set("tokenizer.ggml.token_type", std::vector<int32_t>(10, 1));
    w.set("tokenizer.ggml.merges", std::vector<std::string>{"a b"});
    w.set("tokenizer.ggml.eos_token_id", int32_t{-1});
    w.set("llama.vocab_size", uint32_t{10});
    for (const gguf::FileTensor& t : source->tensors()) {
        Shape ne = t.ne;
        ne[1] = ne[1] == n_vocab ? 10 : ne[1];
        w.add(t.name, t.type, ne, std::span(t.data, row_bytes(t.type, ne[0]) * static_cast<size_t>(ne[1])));
    }
    return std::make_shared<gguf::File>(gguf::File::from_bytes(w.to_bytes(), "letters.gguf"));
}

TEST(IgnoringEndTokens, WithoutAnyWarnsAndGoesOn) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.sampling.ignore_eos = true;
    const auto file = ten_letters();
    for (const bool in_graph : {false, true}) {
        o.sample_in_graph = in_graph;
        Session session(registry, file, o);
        EXPECT_THAT(session.notes(), ::testing::Contains(HasSubstr("no token that ends a generation")));
        EXPECT_EQ(generate_one(session, {1, 3}, 5).tokens.size(), 5U);
    }
}

TEST(ModelsOwnValues, AreTakenWhereTheUserGaveNone) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.sampling = {};
    const auto file = changed_model([](gguf::Writer& w) {
        w.set("general.sampling.sequence", "top_k;xtc;temperature");
        w.set("general.sampling.top_k", int32_t{7});
        w.set("general.sampling.xtc_probability", 0.25F);
        w.set("general.sampling.xtc_threshold", 0.2F);
        w.set("general.sampling.temp", 0.6F);
    });
    Session session(registry, file, o);
    EXPECT_EQ(session.sampling().top_k, 7);
    EXPECT_FLOAT_EQ(session.sampling().xtc.probability, 0.25F);
    EXPECT_FLOAT_EQ(session.sampling().xtc.threshold, 0.2F);
    EXPECT_FLOAT_EQ(session.sampling().temperature, 0.6F);
    std::vector<std::string> names;
    const SamplerChain own = make_chain(session.sampling(), 1);
    for (const auto& s : own.samplers()) {
        names.emplace_back(s->name());
    }
    EXPECT_THAT(names, ElementsAre("top_k", "xtc", "temp", "dist"));
    o.sampling.top_k = 3;
    EXPECT_EQ(Session(registry, file, o).sampling().top_k, 3);
}

} // namespace
