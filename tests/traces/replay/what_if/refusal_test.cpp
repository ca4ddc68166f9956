// refuse=DEVICE:OP is what a run decides on a device that lacks the operator: also weights stay away from it that it can't read.
#include "runtime/backend/registry.h"
#include "runtime/context/inference_context.h"
#include "runtime/model/synth/synth.h"
#include "runtime/scheduler/optimised_order.h"
#include "traces/replay/what_if.h"
#include "traces/store/live_store.h"

#include <gmock/gmock.h>

namespace schedscope {
namespace {

/// A device that was described, and lacks one operator.
class Lacking final : public Device {
public:
    Lacking(Device& device, Op lacks) : device_(device), lacks_(lacks) {}

    std::string_view name() const noexcept override { return device_.name(); }
    DeviceKind kind() const noexcept override { return device_.kind(); }
    std::string description() const override { return device_.description(); }
    size_t memory_bytes() const override { return device_.memory_bytes(); }
    std::vector<std::string> features() const override { return device_.features(); }
    const BufferType& buffer_type() const override { return device_.buffer_type(); }
    Answer supports_op(const Tensor& node) const override {
        return lacks_ != Op::NONE && node.op == lacks_ ? Answer::no(Refusal::op, "lacking") : device_.supports_op(node);
    }
    bool supports_buffer_type(const BufferType& type) const override { return device_.supports_buffer_type(type); }
    bool wants_offload(const Tensor& node, int64_t min_batch) const override { return device_.wants_offload(node, min_batch); }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<Queue>(*this, device_.make_backend(options));
    }

private:
    class Queue final : public Backend {
    public:
        Queue(Device& device, std::unique_ptr<Backend> backend) : device_(device), backend_(std::move(backend)) {}
        std::string_view name() const noexcept override { return backend_->name(); }
        Device& device() const noexcept override { return device_; }
        void optimise(SplitGraph& split) override { backend_->optimise(split); }
        void compute(const SplitGraph&, int32_t, int32_t, KernelLog*) override {}

    private:
        Device& device_;
        std::unique_ptr<Backend> backend_;
    };

    Device& device_;
    Op lacks_;
};

/// The plans of a prompt and a token on "big", which lacks an operator, and the CPU.
std::unique_ptr<LiveStore> planned(Op lacks, int32_t n_gpu_layers, bool flash_attention) {
    const Registry& registry = Registry::kept();
    std::vector<std::unique_ptr<Device>> described;
    std::vector<Device*> devices = registry.select("big=vulkan:1GiB,cpu", described);
    Lacking lacking(*devices[0], lacks);
    devices[0] = &lacking;
    std::vector<std::unique_ptr<Backend>> backends;
    for (Device* device : devices) {
        backends.push_back(device->make_backend({.n_threads = 1, .name = std::string(device->name())}));
    }
    const auto file =
        std::make_shared<const gguf::File>(synthesise_in_memory(synth_preset("llama", "tiny-moe"), Type::Q8_0, 1, "made"));
    const Model model(file, devices, {.n_gpu_layers = n_gpu_layers}, LoadMode::header);
    Scheduler scheduler(backends, {.plans_only = true});
    auto store = std::make_unique<LiveStore>();
    scheduler.set_recorder(store.get());
    SessionInfo info = scheduler.session();
    PlanSettings settings;
    settings.n_layers = model.hparams().n_layer;
    settings.placement.n_gpu_layers = n_gpu_layers;
    settings.flash_attention = flash_attention;
    settings.flash_attention_asked = flash_attention ? FlashAttention::on : FlashAttention::off;
    info.settings = settings;
    store->session(info);
    ContextOptions options;
    options.n_ctx = 512;
    options.flash_attention = flash_attention;
    InferenceContext context(model, scheduler, options);
    Batch prompt, next;
    for (int32_t i = 0; i < 40; ++i) {
        prompt.add(300, i, only_sequence(0), i == 39);
    }
    context.plan_only(prompt);
    next.kind = GraphKind::decode;
    next.add(300, 40, only_sequence(0), true);
    context.plan_only(next);
    return store;
}

class Refused : public ::testing::TestWithParam<Op> {};

TEST_P(Refused, IsWhatADeviceDecidesThatLacksIt) {
    for (const int32_t n_gpu_layers : {99, 2}) {
        for (const bool flash_attention : {true, false}) {
            const auto from = planned(Op::NONE, n_gpu_layers, flash_attention),
                       to = planned(GetParam(), n_gpu_layers, flash_attention);
            WhatIf what_if;
            what_if.set("refuse=big:" + std::string(op_name(GetParam())));
            ReplayOptions options = options_for(what_if, *from);
            options.optimise = optimised_nodes;
            options.expected = to.get();
            const ReplayResult result = replay(*from, options);
            EXPECT_GT(result.compared, 100);
            EXPECT_EQ(result.n_differences, 0) << n_gpu_layers << ' ' << flash_attention;
            for (size_t i = 0; i < std::min<size_t>(result.differences.size(), 5); ++i) {
                const ReplayDifference& d = result.differences[i];
                ADD_FAILURE() << d.evaluation << ' ' << d.what << " of " << d.name << ": the plan has " << d.recorded
                              << ", the answer is " << d.now;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(WhatIf, Refused,
                         ::testing::Values(Op::ROPE, Op::RMS_NORM, Op::MUL, Op::MUL_MAT, Op::MUL_MAT_ID, Op::SOFT_MAX, Op::GLU,
                                           Op::ADD),
                         [](const auto& info) { return std::string(op_name(info.param)); });

TEST(WhatIf, ACacheThatNoBackendCanWriteLeavesNoPlan) {
    const auto from = planned(Op::NONE, 99, true);
    WhatIf what_if;
    what_if.set("refuse=big:SET_ROWS");
    const ReplayResult result = replay(*from, options_for(what_if, *from));
    ASSERT_EQ(result.comparisons.size(), 2U);
    for (const PlanComparison& c : result.comparisons) {
        EXPECT_EQ(c.recorded.error, "");
        EXPECT_THAT(c.now.error, ::testing::HasSubstr("no backend that can use it supports SET_ROWS"));
    }
    EXPECT_ANY_THROW(planned(Op::SET_ROWS, 99, true)); // as in a run
}

} // namespace
} // namespace schedscope
