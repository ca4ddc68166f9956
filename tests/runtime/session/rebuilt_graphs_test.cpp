// A trace of our runtime keeps what its graphs can be built from again: the model's header and the settings, and neither
// vocabulary nor weights.
#include "runtime/model/architecture.h"
#include "runtime/session/generate.h"
#include "runtime/session/model_header.h"
#include "tests/support/files.h"
#include "tests/support/models/made_model.h"
#include "traces/store/live_store.h"
#include "traces/store/reading/reader.h"
#include "traces/store/sqlite.h"
#include "traces/store/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace schedscope {
namespace {

using namespace test;
using files::Folder;

const Registry& registry() { return Registry::kept(); }

template <typename T> std::vector<T> all_as(const ModelHeader::Value& value) {
    std::vector<T> all;
    for (const auto& element : value.elements) {
        all.push_back(static_cast<T>(std::get<int64_t>(element)));
    }
    return all;
}

/// A file with these keys and tensors, and zeros for all weights.
void write_header(const ModelHeader& header, const std::string& path) {
    gguf::Writer writer;
    for (const ModelHeader::Value& v : header.values) {
        const auto& first = v.elements.front();
        if (v.type == "u32") {
            writer.set(v.key, static_cast<uint32_t>(std::get<int64_t>(first)));
        } else if (v.type == "f32") {
            writer.set(v.key, static_cast<float>(std::get<double>(first)));
        } else if (v.type == "bool") {
            writer.set(v.key, std::get<int64_t>(first) != 0);
        } else if (v.type == "string") {
            writer.set(v.key, std::get<std::string>(first));
        } else {
            ADD_FAILURE() << v.key << " is " << v.type;
        }
    }
    for (const ModelHeader::Tensor& t : header.tensors) {
        writer.add(t.name, t.type, t.ne, gguf::Writer::Produce([](const auto&) {}));
    }
    writer.write_header(path);
}

/// The prompts as they went in, by sequence: what stands in the evaluations before the first token was chosen.
std::vector<SequencePrompt> prompts_of(const RecordSource& trace) {
    std::map<int32_t, std::vector<Token>> tokens;
    bool chosen = false;
    trace.for_each(0, trace.n_steps(), [&](const Record& r) {
        chosen = chosen || std::holds_alternative<record::NextToken>(r.fact);
        if (const auto* in = std::get_if<record::UbatchToken>(&r.fact); in != nullptr && !chosen) {
            tokens[in->sequence].push_back(in->token.value_or(1)); // without texts any token will do
        }
    });
    std::vector<SequencePrompt> prompts;
    for (const auto& [sequence, in] : tokens) {
        prompts.push_back({sequence, in, std::nullopt});
    }
    return prompts;
}

/// Plans again what a trace recorded, from the trace alone.
std::unique_ptr<LiveStore> planned_again(const std::string& path) {
    const Folder folder;
    const TraceReader trace(path);
    const SessionInfo session = trace.session();
    write_header(session.models->at(0), folder.file("again.gguf"));
    const PlanSettings& s = *session.settings;
    RunOptions o;
    o.model = folder.file("again.gguf");
    for (const BackendInfo& b : session.backends) {
        o.devices += (o.devices.empty() ? "" : ",") + b.device;
    }
    o.n_gpu_layers = s.placement.n_gpu_layers;
    o.cache_on_host = s.placement.cache_on_host;
    o.flash_attention = *s.flash_attention ? FlashAttention::on : FlashAttention::off;
    o.cache_type_k = *s.context.cache_type_k;
    o.cache_type_v = *s.context.cache_type_v;
    o.n_ctx = *s.context.n_ctx;
    o.n_batch = *s.context.n_batch;
    o.n_ubatch = *s.context.n_ubatch;
    o.sampling.temperature = 0.0F;
    o.header_only = true;
    auto store = std::make_unique<LiveStore>();
    Session again(registry(), o, store.get());
    GenerateRequest request;
    request.prompts = prompts_of(trace);
    plan_generation(again, request);
    return store;
}

struct Recorded {
    std::string architecture;
    bool texts = true;
    FlashAttention flash = FlashAttention::automatic;
    Type cache = Type::F16;
};

class RebuiltGraphs : public ::testing::TestWithParam<Recorded> {
protected:
    RebuiltGraphs() {
        RunOptions o;
        o.model = "made-up.gguf";
        o.devices = "cpu";
        o.n_threads = 1;
        o.n_ctx = 512;
        o.n_ubatch = 48;
        o.flash_attention = GetParam().flash;
        o.cache_type_k = o.cache_type_v = GetParam().cache;
        o.sampling.temperature = 0.0F;
        o.sampling.ignore_eos = true;
        TraceWriter writer(path, {.texts = GetParam().texts});
        Session session(registry(), file, o, &writer);
        GenerateRequest request;
        request.n_predict = 3;
        for (const auto& [sequence, n] : {std::pair{0, 60}, std::pair{1, 5}}) {
            request.prompts.push_back({sequence, std::vector<Token>(static_cast<size_t>(n), 300 + sequence), std::nullopt});
        }
        generate(session, request);
        writer.close();
    }
    Folder folder;
    const std::string path = folder.file("t.trace");
    const std::shared_ptr<const gguf::File> file = std::make_shared<const gguf::File>(
        synthesise_in_memory(synth_preset(GetParam().architecture, "tiny"), Type::Q8_0, 1, "made-up.gguf"));
};

TEST_P(RebuiltGraphs, AreThoseThatWereRecorded) {
    const auto again = planned_again(path);
    const TraceReader trace(path);
    ASSERT_GE(again->n_graphs(), 2);
    ASSERT_LE(again->n_graphs(), trace.n_graphs());
    for (GraphId g = 0; g < again->n_graphs(); ++g) {
        const OwnedGraph &a = trace.graph(g), &b = again->graph(g);
        ASSERT_EQ(a.nodes, b.nodes) << g;
        ASSERT_EQ(a.leafs, b.leafs) << g;
        ASSERT_EQ(a.tensors.size(), b.tensors.size()) << g;
        for (size_t i = 0; i < a.tensors.size(); ++i) {
            const TensorInfo &x = a.tensors[i], &y = b.tensors[i];
            EXPECT_EQ(x.name, y.name);
            EXPECT_TRUE(x.op == y.op && x.type == y.type && x.ne == y.ne && x.nb == y.nb && x.params == y.params &&
                        x.src == y.src && x.view_source == y.view_source && x.view_offset == y.view_offset &&
                        x.flags == y.flags && x.usage == y.usage && x.role == y.role && x.layer == y.layer)
                << "graph " << g << ", " << x.name;
        }
    }
}

TEST_P(RebuiltGraphs, TheHeaderIsTheFilesWithoutItsVocabulary) {
    const auto models = TraceReader(path).session().models;
    ASSERT_TRUE(models != nullptr && models->size() == 1);
    EXPECT_EQ(models->front(), header_of(*file));
    ASSERT_EQ(models->front().tensors.size(), file->tensors().size());
    for (const ModelHeader::Value& value : models->front().values) {
        EXPECT_TRUE(value.key == "general.architecture" || value.key.starts_with(GetParam().architecture + ".")) << value.key;
        EXPECT_LT(value.elements.size(), 100U) << value.key;
    }
    const Hparams whole = read_hparams(*file);
    write_header(models->front(), folder.file("again.gguf"));
    const Hparams again = read_hparams(gguf::File::open(folder.file("again.gguf")));
    EXPECT_EQ(again.n_vocab, whole.n_vocab);
    EXPECT_EQ(again.n_layer, whole.n_layer);
}

TEST_P(RebuiltGraphs, NoTableOfTheModelNamesAFile) {
    sqlite::Database database(path, sqlite::Database::Mode::read);
    sqlite::Statement named(database, "SELECT count(*) FROM model_value WHERE key || '|' || type || '|' || value LIKE '%gguf%'");
    ASSERT_TRUE(named.step());
    EXPECT_EQ(named.integer(0), 0);
}

std::vector<Recorded> runs() {
    std::vector<Recorded> all;
    for (const Architecture* a : architectures()) {
        all.push_back({std::string(a->name)});
    }
    all.push_back({"llama", false});
    all.push_back({"llama", true, FlashAttention::off});
    all.push_back({"llama", true, FlashAttention::on, Type::F32});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Runs, RebuiltGraphs, ::testing::ValuesIn(runs()),
                         [](const auto& info) { return info.param.architecture + "_" + std::to_string(info.index); });

} // namespace
} // namespace schedscope
