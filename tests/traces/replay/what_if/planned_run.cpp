#include "tests/traces/replay/what_if/planned_run.h"

#include "runtime/model/synth/synth.h"
#include "runtime/scheduler/optimised_order.h"
#include "runtime/scheduler/watch.h"
#include "runtime/vision/preprocess/preprocess.h"
#include "runtime/vision/synth_llava.h"
#include "tests/support/models/storyteller.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace schedscope::test {

const Registry& registry() { return Registry::kept(); }

namespace {

std::shared_ptr<const gguf::File> model_named(const std::string& name) {
    static std::map<std::string, std::shared_ptr<const gguf::File>> made;
    auto& file = made[name];
    if (file != nullptr) {
        return file;
    }
    constexpr std::string_view told = "storyteller-"; // the type follows
    if (name.starts_with(told)) {
        return file = std::make_shared<const gguf::File>(gguf::File::open(test::Storyteller().model(name.substr(told.size()))));
    }
    const size_t slash = name.find('/');
    const bool other = slash != std::string::npos, changed = name == "tied" || name == "stretched" || name == "wide";
    SynthShape shape = synth_preset(other ? name.substr(0, slash) : "llama", other     ? name.substr(slash + 1)
                                                                             : changed ? "tiny"
                                                                                       : name);
    shape.tied = shape.tied || name == "tied";
    shape.n_ff = name == "wide" ? 4112 : shape.n_ff;
    shape.rope_factor = name == "stretched" ? 8.0F : shape.rope_factor;
    return file =
               std::make_shared<const gguf::File>(synthesise_in_memory(shape, name == "wide" ? Type::F16 : Type::Q8_0, 1, name));
}

std::shared_ptr<const gguf::File> encoder() {
    static const files::Folder folder;
    static const auto file = [] {
        synthesise_encoder(vision::encoder_preset("tiny"), Type::Q8_0, 1, folder.file("eye.gguf"));
        return vision::open_encoder(folder.file("eye.gguf"));
    }();
    return file;
}

PromptImage image() {
    const int32_t side = vision::encoder_preset("tiny").image_size;
    auto views = std::make_shared<vision::Views>();
    views->image = {side, side};
    views->views.emplace_back(vision::Image(side, side));
    return {1, views};
}

class WatchBegin final : public Watcher {
public:
    explicit WatchBegin(std::string begin) : begin_(std::move(begin)) {}
    bool wants(const WatchCandidate& c) override { return c.node >= 0 && c.tensor.name.starts_with(begin_); }
    void check_found() const override {}

private:
    std::string begin_;
};

} // namespace

std::unique_ptr<LiveStore> recorded(const Planned& s) {
    RunOptions o;
    o.model = s.model;
    o.devices = s.devices;
    o.n_gpu_layers = s.n_gpu_layers;
    o.flash_attention = s.flash;
    o.overrides = s.overrides;
    o.tensor_split = s.tensor_split;
    o.cache_on_host = s.cache_on_host;
    o.op_offload = s.op_offload;
    o.offload_min_batch = s.offload_min_batch;
    o.stages = s.stages;
    o.fusion = s.fusion;
    o.mmap = s.mmap;
    o.mlock = s.mlock;
    o.repack = s.repack;
    o.n_threads = 1;
    o.n_ctx = s.image ? 2048 : 512;
    o.n_ubatch = 48;
    o.sampling.temperature = s.sample_in_graph ? 0.8F : 0.0F;
    o.sampling.ignore_eos = true;
    o.sample_in_graph = s.sample_in_graph;
    o.seed = 1;
    o.watcher = s.watched.empty() ? nullptr : std::make_shared<WatchBegin>(s.watched);
    o.header_only = !s.runs;
    auto store = std::make_unique<LiveStore>();
    Session session(registry(), ModelFiles{model_named(s.model), s.image ? encoder() : nullptr}, o, store.get());
    GenerateRequest request;
    request.n_predict = 3;
    std::vector<Token> prompt{1};
    for (int i = 1; i < s.n_prompt; ++i) {
        prompt.push_back(300 + i % 100);
    }
    request.prompts.push_back({0, prompt, std::nullopt});
    if (s.image) {
        request.prompts.back().images.push_back(image());
    }
    if (s.runs) {
        generate(session, request);
    } else {
        plan_generation(session, request);
    }
    return store;
}

std::vector<ModelOnDevices> each_on_each(const std::vector<std::string>& models, const std::vector<std::string>& devices) {
    std::vector<ModelOnDevices> all;
    for (const std::string& model : models) {
        for (const std::string& each : devices) {
            all.push_back({model, each});
        }
    }
    return all;
}

std::string name_of(const ::testing::TestParamInfo<ModelOnDevices>& info) {
    std::string name = info.param.model + "_" + info.param.devices;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

void OnDevices::SetUp() {
    for (const char* device : {"blas", "vulkan0"}) {
        if (GetParam().devices.find(device) != std::string::npos && registry().find(device) == nullptr) {
            GTEST_SKIP() << "no device " << device;
        }
    }
}

Planned OnDevices::planned(int32_t n_gpu_layers, int n_prompt) {
    Planned s;
    s.model = GetParam().model;
    s.devices = GetParam().devices;
    s.n_gpu_layers = n_gpu_layers;
    s.n_prompt = n_prompt;
    return s;
}

ReplayResult answer(const RecordSource& from, const std::vector<std::string>& settings, const RecordSource* expected) {
    WhatIf what_if;
    for (const std::string& setting : settings) {
        what_if.set(setting);
    }
    ReplayOptions options = options_for(what_if, from);
    options.optimise = optimised_nodes;
    options.expected = expected;
    return replay(from, options);
}

const OwnedGraph& first_graph(const RecordSource& source) {
    std::vector<Record> begin;
    const Step at = source.next_of(-1, fact_bit<record::PlanBegin>());
    source.read(at, at + 1, begin);
    return source.graph(std::get<record::PlanBegin>(begin.at(0).fact).graph);
}

void expect_equal(const RecordSource& before, const std::vector<std::string>& settings, const RecordSource& after) {
    const ReplayResult result = answer(before, settings, &after);
    EXPECT_EQ(result.n_differences, 0);
    EXPECT_GT(result.compared, 100);
    for (size_t i = 0; i < std::min<size_t>(result.differences.size(), 5); ++i) {
        const ReplayDifference& d = result.differences[i];
        ADD_FAILURE() << "evaluation " << d.evaluation << ", " << d.what << " of " << d.name << ": the run has " << d.recorded
                      << ", the answer is " << d.now;
    }
}

void expect_equal(const Planned& before, const std::vector<std::string>& settings, const Planned& after) {
    expect_equal(*recorded(before), settings, *recorded(after));
}

} // namespace schedscope::test
