#include "tests/support/models/reference.h"

#include "runtime/backend/cpu/cpu_device.h"
#include "tests/support/files.h"
#include "tests/support/models/made_model.h"
#include "tests/support/traces/plan_record.h"
#include "traces/history/history.h"
#include "traces/store/live_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

using namespace schedscope;
using namespace schedscope::test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

struct Refusals : ::testing::Test {
    std::string refusal(ErrorKind kind, const RunOptions& options) {
        return sentence_of(kind, [&] { Session(registry, options); });
    }
    std::string refusal(ErrorKind kind, const RunOptions& options, const std::shared_ptr<gguf::File>& file) {
        return sentence_of(kind, [&] { Session(registry, file, options); });
    }
    /// A file in the test's own folder with these bytes.
    std::string file_with(const std::string& bytes) const {
        const std::string path = folder / "session_test.gguf";
        files::write_bytes(path, bytes);
        return path;
    }
    const files::Folder folder;
    Registry registry;
};

TEST_F(Refusals, a_missing_file) {
    EXPECT_THAT(refusal(ErrorKind::input, greedy_options("nowhere.gguf")), HasSubstr("nowhere.gguf"));
}

TEST_F(Refusals, a_file_that_is_no_model) {
    EXPECT_THAT(refusal(ErrorKind::input, greedy_options(file_with("once upon a time there was a file"))),
                HasSubstr("session_test.gguf"));
}

TEST_F(Refusals, a_model_cut_anywhere) {
    const std::string path = folder / "whole.gguf";
    synthesise(small_shape(), Type::F32, 1, path);
    const std::string whole = files::read_bytes(path);
    for (const size_t size : {size_t{3}, size_t{20}, whole.size() / 100, whole.size() / 2, whole.size() - 1}) {
        EXPECT_THAT(refusal(ErrorKind::input, greedy_options(file_with(whole.substr(0, size)))),
                    AllOf(HasSubstr("session_test.gguf"), Not(HasSubstr("\n"))))
            << size;
    }
}

TEST_F(Refusals, a_file_of_another_kind_of_model) {
    gguf::Writer w;
    w.set("general.architecture", "clip");
    const auto file = std::make_shared<gguf::File>(gguf::File::from_bytes(w.to_bytes(), "eye.gguf"));
    EXPECT_THAT(refusal(ErrorKind::input, greedy_options("eye.gguf"), file),
                AllOf(HasSubstr("eye.gguf"), HasSubstr("'clip' is not supported")));
}

TEST_F(Refusals, a_context_that_fits_nowhere) {
    RunOptions o = greedy_options("made");
    for (const int32_t n : {2000000000, 1000000000}) {
        o.n_ctx = n;
        EXPECT_THAT(refusal(ErrorKind::device, o, made_model()), AllOf(HasSubstr("KV cache"), Not(HasSubstr("\n")))) << n;
    }
}

TEST_F(Refusals, cache_types_that_do_not_fit) {
    RunOptions o = greedy_options("made");
    o.cache_type_k = Type::Q8_0;
    EXPECT_THAT(refusal(ErrorKind::usage, o, made_model()), AllOf(HasSubstr("-ctk q8_0"), HasSubstr("16")));
    o = greedy_options("made");
    o.cache_type_v = Type::Q4_0;
    EXPECT_THAT(refusal(ErrorKind::usage, o, made_model()), HasSubstr("-ctv q4_0"));
    SynthShape shape = small_shape();
    shape.n_head = 2;
    shape.n_head_kv = 1;
    o.flash_attention = FlashAttention::off;
    for (const Type type : {Type::Q8_0, Type::Q4_0, Type::Q4_1, Type::IQ4_NL, Type::Q5_0, Type::Q5_1}) {
        o.cache_type_v = type;
        EXPECT_THAT(refusal(ErrorKind::usage, o, made_model(shape)), HasSubstr("flash attention")) << type_name(type);
    }
    for (const Type type : {Type::I32, Type::Q4_K, Type::IQ4_XS}) {
        o.cache_type_v = type;
        EXPECT_THAT(refusal(ErrorKind::usage, o, made_model(shape)), HasSubstr("one of f16, f32")) << type_name(type);
    }
}

TEST_F(Refusals, sampling_values_that_make_no_sense) {
    RunOptions o = greedy_options("made");
    o.sampling.min_p = 2.0F;
    EXPECT_THAT(refusal(ErrorKind::usage, o, made_model()), HasSubstr("--min-p: can't be 2"));
}

/// Of what differs, as a share of what is expected: roots of sums of squares.
float share_of_noise(const std::vector<float>& logits, const std::vector<float>& expected) {
    EXPECT_EQ(logits.size(), expected.size());
    double noise = 0, all = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        noise += std::pow(logits[i] - expected[i], 2);
        all += std::pow(expected[i], 2);
    }
    return static_cast<float>(std::sqrt(noise / all));
}

/// That a cache of the type makes in a small model with heads of 32.
float most_noise(Type type) {
    switch (type) {
    case Type::F32:
    case Type::F16: return 0.002F;
    case Type::BF16: return 0.01F;
    case Type::Q8_0: return 0.04F;
    case Type::Q5_0:
    case Type::Q5_1: return 0.15F;
    default: return 0.3F; // four bits
    }
}

class CacheTypes : public ::testing::TestWithParam<const char*> {
protected:
    static std::shared_ptr<gguf::File> model() {
        SynthShape shape = small_shape();
        shape.n_head = 2;
        shape.n_head_kv = 1;
        return made_model(shape);
    }
    RunOptions options(Type keys, Type values, FlashAttention flash) const {
        RunOptions o = greedy_options("made");
        o.devices = GetParam();
        o.cache_type_k = keys;
        o.cache_type_v = values;
        o.flash_attention = flash;
        return o;
    }
    Registry registry;
};

TEST_P(CacheTypes, give_logits_near_those_of_f16) {
    NEEDS_DEVICES(registry, GetParam());
    std::vector<int32_t> prompt{1};
    for (int32_t i = 0; i < 40; ++i) {
        prompt.push_back(260 + i * 7 % 60);
    }
    for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off}) {
        Session half(registry, model(), options(Type::F16, Type::F16, flash));
        const std::vector<float> expected = all_logits(half, prompt);
        for (const Type type : cache_types()) {
            const Type values = flash == FlashAttention::off && traits(type).quantised() ? Type::F16 : type;
            Session session(registry, model(), options(type, values, flash));
            EXPECT_EQ(session.flash_attention(), flash == FlashAttention::on);
            const float error = share_of_noise(all_logits(session, prompt), expected);
            EXPECT_LT(error, most_noise(type)) << type_name(type);
            EXPECT_EQ(error > 0, type != Type::F16) << type_name(type);
        }
    }
}

/// Keys are turned where they lie: read, turned and stored in their type again.
TEST_P(CacheTypes, are_turned_when_the_context_shifts) {
    NEEDS_DEVICES(registry, GetParam());
    const auto shifted = [&](Type type, int32_t by) {
        Session session(registry, model(), options(type, type, FlashAttention::on));
        Batch batch;
        for (int32_t i = 0; i < 20; ++i) {
            batch.add(260 + i * 7 % 60, i + by, only_sequence(0), false);
        }
        session.context().decode(batch);
        if (by != 0) {
            session.context().cells().shift(0, 0, -1, -by);
        }
        batch.clear();
        batch.add(300, 20, only_sequence(0), true);
        session.context().decode(batch);
        const auto row = session.context().logits(0);
        return std::vector<float>(row.begin(), row.end());
    };
    const std::vector<float> expected = shifted(Type::F32, 0);
    for (const Type type : cache_types()) {
        EXPECT_LT(share_of_noise(shifted(type, 5), expected), most_noise(type)) << type_name(type);
    }
}

TEST_P(CacheTypes, are_as_large_as_their_blocks) {
    NEEDS_DEVICES(registry, GetParam());
    for (const Type type : cache_types()) {
        const Session session(registry, model(), options(type, type, FlashAttention::on));
        EXPECT_EQ(session.context().cache().bytes(), 3 * 2 * 512 * static_cast<int64_t>(row_bytes(type, 32))) << type_name(type);
    }
}

INSTANTIATE_TEST_SUITE_P(On, CacheTypes, ::testing::Values("cpu", "vulkan0"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Session, context_is_the_models_training_length_up_to_4096) {
    Registry registry;
    EXPECT_EQ(Session(registry, made_model(), greedy_options("made")).context().options().n_ctx, 512);
    RunOptions o = greedy_options("made");
    o.n_ctx = 300;
    EXPECT_EQ(Session(registry, made_model(), o).context().options().n_ctx, 512) << "rounded up to cells of 256";
    SynthShape longer = small_shape();
    longer.n_ctx_train = 100000;
    EXPECT_EQ(Session(registry, made_model(longer), greedy_options("made")).context().options().n_ctx, 4096);
}

TEST(Session, sampling_metadata_of_the_model_beats_defaults) {
    Registry registry;
    const auto file = changed_model([](gguf::Writer& w) {
        w.set("general.sampling.top_k", int32_t{7});
        w.set("general.sampling.temp", 0.25F);
        w.set("general.sampling.min_p", "0.125"); // as some write numbers
    });
    RunOptions o;
    o.devices = "cpu";
    Session session(registry, file, o);
    EXPECT_EQ(session.sampling().top_k, 7);
    EXPECT_FLOAT_EQ(session.sampling().temperature, 0.25F);
    EXPECT_FLOAT_EQ(session.sampling().min_p, 0.125F);
    EXPECT_FLOAT_EQ(session.sampling().top_p, 0.95F);
}

TEST(Session, from_the_header_alone_plans_and_computes_nothing) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.header_only = true;
    Session session(registry, made_model(), o);
    GenerateRequest r;
    r.prompts.push_back({0, {1, 300, 301}, std::nullopt});
    plan_generation(session, r);
    EXPECT_EQ(session.context().n_evaluations(), 2);
    EXPECT_EQ(session.scheduler().n_splits(), 1);
}

TEST(Session, says_how_overrides_fared) {
    Registry registry;
    RunOptions o = greedy_options("made");
    o.overrides = {"ffn_up=cpu"};
    Session session(registry, made_model(), o);
    ASSERT_EQ(session.notes().size(), 1U);
    EXPECT_THAT(session.notes()[0], AllOf(HasSubstr("ffn_up"), HasSubstr("3 tensors")));
}

TEST(Session, cpu_layers_give_the_same_logits_from_experts_as_one_by_one) {
    // A batch and single tokens take the experts in another order.
    SynthShape shape = small_shape();
    shape.n_expert = 4;
    shape.n_expert_used = 2;
    Registry registry;
    RunOptions o = greedy_options("made");
    o.cache_type_k = o.cache_type_v = Type::F32;
    Session together(registry, made_model(shape), o);
    o.n_ubatch = 1;
    Session single(registry, made_model(shape), o);
    const std::vector<int32_t> prompt{1, 300, 301, 302, 303, 304, 305};
    EXPECT_LT(largest_difference(all_logits(together, prompt), all_logits(single, prompt)), 1e-4F);
}

/// As the records have it; empty: they say nothing of it.
std::string fact_of(const Notebook& records, std::string_view what) {
    for (const auto& [name, value] : records.info().facts) {
        if (name == what) {
            return value;
        }
    }
    return "";
}

TEST(Threads, of_batches_and_of_single_tokens_give_the_same_logits) {
    const std::vector<int32_t> prompt{1, 300, 301, 302, 303, 304, 305};
    Registry registry;
    for (const int32_t n_ubatch : {512, 1}) { // the prompt as a batch, and token by token
        std::vector<float> first;
        for (const auto& [n, n_batch] : {std::pair{1, 0}, {1, 3}, {3, 1}, {2, 4}}) {
            RunOptions o = greedy_options("made");
            o.n_ubatch = n_ubatch;
            o.n_threads = n;
            o.n_threads_batch = n_batch;
            Session session(registry, made_model(), o);
            const std::vector<float> logits = all_logits(session, prompt);
            first = first.empty() ? logits : first;
            EXPECT_EQ(logits.size(), prompt.size() * 320);
            EXPECT_EQ(logits, first) << n << " and " << n_batch;
        }
    }
}

TEST(Threads, and_their_processors_are_recorded) {
    const ProcessorSet here = ProcessorSet::usable();
    Registry registry;
    RunOptions o = greedy_options("made");
    {
        PlanRecord record;
        Session session(registry, made_model(), o, &record);
        EXPECT_EQ(fact_of(record, "threads"), "2");
        EXPECT_EQ(fact_of(record, "batch_threads"), "");
        EXPECT_EQ(fact_of(record, "processors"), "");
        EXPECT_EQ(fact_of(record, "cpu_products"), "int8");
        EXPECT_EQ(fact_of(record, "cpu_instructions"), cpu_instructions());
    }
    o.products = Products::floats;
    o.n_threads = 1;
    o.n_threads_batch = 3;
    o.processors = here;
    {
        PlanRecord record;
        Session session(registry, made_model(), o, &record);
        generate_one(session, {1, 300}, 2);
        EXPECT_EQ(fact_of(record, "threads"), "1");
        EXPECT_EQ(fact_of(record, "batch_threads"), "3");
        EXPECT_EQ(fact_of(record, "processors"), here.text());
        EXPECT_EQ(fact_of(record, "cpu_products"), "float");
        EXPECT_EQ(ProcessorSet::usable(), here);
    }
    o.header_only = true;
    PlanRecord record;
    Session session(registry, made_model(), o, &record);
    for (const char* fact : {"threads", "cpu_products", "cpu_instructions"}) {
        EXPECT_EQ(fact_of(record, fact), "") << "nothing is computed";
    }
}

TEST(Threads, that_share_processors_are_told_of) {
    const std::string here = ProcessorSet::usable().text();
    const std::string first = here.substr(0, here.find_first_of("-,"));
    Registry registry;
    RunOptions o = greedy_options("made");
    o.processors = ProcessorSet::of_range(first + "-" + first);
    o.n_threads = 1;
    EXPECT_TRUE(Session(registry, made_model(), o).notes().empty());
    o.n_threads_batch = 2;
    EXPECT_EQ(Session(registry, made_model(), o).notes(),
              std::vector<std::string>{"2 threads share 1 processor (" + first + "): fewer are faster (-t, -tb)"});
    o.processors = {};
    o.n_threads_batch = ProcessorSet::usable().size() + 1;
    EXPECT_THAT(Session(registry, made_model(), o).notes(), ::testing::ElementsAre(HasSubstr(" share ")))
        << "of all that there are";
}

TEST(Loading, gives_the_same_logits_however_the_file_is_read) {
    const files::Folder folder;
    RunOptions o = greedy_options(folder / "made.gguf");
    synthesise(small_shape(), Type::Q8_0, 1, o.model);
    Registry registry;
    const std::vector<int32_t> prompt{1, 300, 301, 302, 303, 304, 305};
    Session usual(registry, o);
    const std::vector<float> expected = all_logits(usual, prompt);
    for (const bool mmap : {true, false}) {
        o.mmap = mmap;
        o.mlock = true;
        int64_t loaded = 0;
        o.on_load = [&](int64_t done, int64_t) { loaded = done; };
        Session session(registry, o);
        EXPECT_GT(loaded, 0);
        EXPECT_EQ(all_logits(session, prompt), expected);
    }
    o.header_only = true;
    o.on_load = [&](int64_t, int64_t) { ADD_FAILURE() << "nothing is loaded"; };
    const Session plans(registry, o);
}

/// The texts are the same whoever listens, and each recorder can answer for what it was told: it has the plan of all it has.
TEST(ChangedRecorder, hears_of_the_session_and_of_the_plan) {
    Registry registry;
    const auto first = std::make_shared<LiveStore>(), second = std::make_shared<LiveStore>();
    Session session(registry, made_model(), greedy_options("made"), first.get());
    GenerateRequest request;
    request.prompts.push_back({0, {1, 3, 4}, std::nullopt});
    request.n_predict = 4;
    const std::vector<Token> expected = generate(session, request).sequences[0].tokens;
    const EvaluationId heard = first->n_evaluations();
    session.set_recorder(nullptr);
    EXPECT_EQ(generate(session, request).sequences[0].tokens, expected);
    EXPECT_EQ(first->n_evaluations(), heard);
    session.set_recorder(second.get());
    EXPECT_EQ(generate(session, request).sequences[0].tokens, expected);

    EXPECT_EQ(first->n_evaluations(), heard);
    session.set_recorder(first.get());
    EXPECT_EQ(generate(session, request).sequences[0].tokens, expected);

    EXPECT_EQ(first->n_evaluations(), 4 * heard);
    EXPECT_EQ(second->session().backends.size(), first->session().backends.size());
    for (const auto& [store, n_recorded] : {std::pair{first, 2 * heard}, std::pair{second, heard}}) {
        History history(store);
        int32_t n = 0;
        for (EvaluationId id = 0; id < history.n_evaluations(); ++id) {
            const EvaluationSpan span = history.evaluation(id);
            if (span.first < span.end) { // else another heard it, or none
                const EvaluationSpan planned = history.evaluation(span.begin.planned_in);
                EXPECT_LT(planned.first, planned.end) << id;
                EXPECT_NE(history.graph_of(history.plan(id)), nullptr) << id;
                ++n;
            }
        }
        EXPECT_EQ(n, n_recorded);
    }
}

} // namespace
