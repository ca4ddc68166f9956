// Over all graphs of all architectures: where a tensor belongs follows from its part of the model alone, never from its name
// (overrides aside, which are about names).
#include "tests/traces/replay/what_if/planned_run.h"

#include "runtime/model/known_architectures.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

using namespace test;

constexpr const char* architectures[] = {
#define X(name) #name,
    SCHEDSCOPE_ARCHITECTURES(X)
#undef X
};

/// A trace of a program that calls each tensor something else. Tensors of one name still have one.
class Renamed final : public ForwardedSource {
public:
    using ForwardedSource::ForwardedSource;

private:
    void change(OwnedGraph& graph) const override {
        for (TensorInfo& t : graph.tensors) {
            t.name = graph.keep(std::to_string(std::hash<std::string_view>{}(t.name)));
        }
    }
};

class Parts : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (registry().find("vulkan0") == nullptr) {
            GTEST_SKIP() << "no Vulkan device";
        }
    }
    static Planned planned(int32_t n_gpu_layers, int n_prompt, bool cache_on_host) {
        Planned s;
        s.model = std::string(GetParam()) + "/tiny";
        s.devices = "vulkan0,vulkan0,cpu";
        s.n_gpu_layers = n_gpu_layers;
        s.n_prompt = n_prompt;
        s.cache_on_host = cache_on_host;
        return s;
    }
};

/// What the policy says of each tensor of a graph without knowing what it is called.
void expect_by_part(const ReplayInput& in) {
    const PlanSettings& settings = *in.session.settings;
    std::vector<PlacedDevice> devices;
    for (const BackendInfo& b : in.session.backends) {
        devices.push_back({b.device, b.kind.value_or(""), b.memory_bytes.value_or(0)});
    }
    const PlacementPolicy policy(settings.placement, devices, settings.n_layers);
    const auto type_of = [&](int32_t home) { return in.session.backends[home].default_buffer_type; };
    std::vector<std::vector<TensorId>> readers(in.graph.tensors.size());
    for (const TensorId node : in.graph.nodes) {
        for (const TensorId source : in.graph.tensors[node].src) {
            if (source != no_tensor) {
                readers[source].push_back(node);
            }
        }
    }
    int weights = 0, caches = 0, pinned = 0;
    for (size_t i = 0; i < in.graph.tensors.size(); ++i) {
        const TensorInfo& t = in.graph.tensors[i];
        const auto runs = [&](int32_t home, TensorId node) { return in.answers.supports_op(narrow<BackendId>(home), node).yes; };
        if (t.buffer_type != no_buffer_type && t.usage == BufferUsage::weights) {
            for (const TensorId reader : readers[i]) {
                const ModelPart part = PlacementPolicy::places_weights(t.part()) ? t.part() : in.graph.tensors[reader].part();
                ASSERT_TRUE(PlacementPolicy::places_weights(part)) << t.name << " is of no part";
                const WeightHome home = policy.weight("", part, [&](int32_t h) { return runs(h, reader); });
                EXPECT_EQ(type_of(home.home), t.buffer_type) << t.name << ": " << home.why;
                ++weights;
            }
        } else if (t.buffer_type != no_buffer_type && t.role == Role::cache) {
            EXPECT_EQ(type_of(policy.cache(t.layer).home), t.buffer_type) << t.name;
            ++caches;
        } else if (t.op != Op::NONE) {
            const HomeChoice home = policy.pin(*t.op, t.part(), in.n_tokens, [&](int32_t h) { return runs(h, int_of(i)); });
            EXPECT_EQ(home.home, t.user_backend) << t.name << ": " << home.why;
            pinned += home.home >= 0 ? 1 : 0;
        }
    }
    EXPECT_GE(weights, 6 * settings.n_layers);
    EXPECT_EQ(caches, 2 * settings.n_layers);
    if (in.n_tokens < small_batch) {
        EXPECT_GE(pinned, settings.n_layers);
    }
}

TEST_P(Parts, SayWhereEachTensorOfARunLies) {
    for (const int32_t n_gpu_layers : {99, 2, 0}) {
        for (const int n_prompt : {8, 40}) {
            const auto store = recorded(planned(n_gpu_layers, n_prompt, n_gpu_layers == 2));
            ReplayOptions options;
            int graphs = 0;
            options.change = [&](ReplayInput& in) {
                ++graphs;
                expect_by_part(in);
            };
            replay(*store, options);
            EXPECT_GE(graphs, 3);
        }
    }
}

TEST_P(Parts, AnswerWhatIfWhateverTensorsAreCalled) {
    const auto before = recorded(planned(99, 40, false)), after = recorded(planned(2, 40, true));
    const Renamed renamed_before(*before), renamed_after(*after);
    EXPECT_EQ(answer(renamed_before, {}).n_differences, 0);
    expect_equal(renamed_before, {"ngl=2", "nkvo=on"}, renamed_after);
    expect_equal(renamed_after, {"ngl=99", "nkvo=off"}, renamed_before);
}

INSTANTIATE_TEST_SUITE_P(Of, Parts, ::testing::ValuesIn(architectures), [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace schedscope
