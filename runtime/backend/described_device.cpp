#include "runtime/backend/described_device.h"

#include "runtime/backend/cpu/kernels/fused_kernels.h"
#include "runtime/backend/recorded_device.h"
#include "runtime/backend/vulkan/vulkan.h"
#include "runtime/backend/vulkan/vulkan_backend.h"
#include "runtime/error.h"

#include <algorithm>
#include <utility>

namespace schedscope {

namespace {

/// A described device as those see it who know graphs without data.
class DescribedProfile final : public DeviceProfile {
public:
    explicit DescribedProfile(std::unique_ptr<Device> device) : device_(std::move(device)) {
        backend_.name = backend_.device = device_->name();
        backend_.kind = device_kind_name(device_->kind());
        backend_.description = device_->description();
        backend_.memory_bytes = static_cast<int64_t>(device_->memory_bytes());
        memory_.name = device_->buffer_type().name();
        memory_.is_host = device_->buffer_type().is_host();
        memory_.alignment = static_cast<int64_t>(device_->buffer_type().alignment());
    }

    const BackendInfo& backend() const override { return backend_; }
    const BufferTypeInfo& memory() const override { return memory_; }
    bool uses_host_memory() const override { return false; }
    bool is_ours() const override { return true; }
    Answer supports_op(const OpQuestion& question) const override {
        return is_known(question) ? device_->supports_op(AskedTensors(question).node())
                                  : Answer::no(Refusal::op, "this program does not have the operator");
    }
    bool wants_offload(const OpQuestion& question, int64_t min_batch) const override {
        return is_known(question) && device_->wants_offload(AskedTensors(question).node(), min_batch);
    }
    ProfileCounts counts() const override { return {}; }

private:
    /// The question with tensors.
    class AskedTensors {
    public:
        explicit AskedTensors(const OpQuestion& question) {
            take(all_[0], *question.node);
            for (size_t s = 0; s < question.src.size(); ++s) {
                if (question.src[s] != nullptr) {
                    take(all_[s + 1], *question.src[s]);
                    all_[0].src[s] = &all_[s + 1];
                }
            }
        }
        const Tensor& node() const { return all_[0]; }

    private:
        static void take(Tensor& t, const TensorInfo& info) {
            t.op = *info.op;
            t.type = *info.type;
            t.ne = *info.ne;
            t.nb = *info.nb;
            t.params = info.params.value_or(Params{});
        }
        std::array<Tensor, max_sources + 1> all_;
    };

    static bool is_known(const TensorInfo& t) { return t.op && t.type && t.ne && t.nb && t.foreign == nullptr; }
    static bool is_known(const OpQuestion& q) {
        const auto known = [](const TensorInfo* source) { return source == nullptr || is_known(*source); };
        return is_known(*q.node) && std::all_of(q.src.begin(), q.src.end(), known) && has_sources(q);
    }
    static bool has_sources(const OpQuestion& q) {
        const auto n = static_cast<size_t>(traits(*q.node->op).sources);
        return std::none_of(q.src.begin(), q.src.begin() + n, [](const TensorInfo* source) { return source == nullptr; });
    }

    std::unique_ptr<Device> device_;
    BackendInfo backend_;
    BufferTypeInfo memory_;
};

} // namespace

std::unique_ptr<Device> describe_device(const DeviceDescription& description, const ProfileSource& profiles) {
    if (description.trace.empty()) {
        return describe_vulkan_device(description.name, description.memory_bytes);
    }
    if (!profiles) {
        throw Error(ErrorKind::usage, "--device " + description.text + ": recorded devices are not read here");
    }
    return make_recorded_device(description, profiles(description));
}

std::shared_ptr<const DeviceProfile> profile_of_vulkan(const DeviceDescription& description) {
    return std::make_shared<DescribedProfile>(describe_vulkan_device(description.name, description.memory_bytes));
}

void optimise_like(std::string_view device_kind, SplitGraph& split) {
    const bool software = device_kind == device_kind_name(DeviceKind::software);
    if (software || device_kind == device_kind_name(DeviceKind::gpu)) {
        vulkan::optimise_split(split, vulkan::full_dispatch_options(software));
    } else if (device_kind == device_kind_name(DeviceKind::cpu)) {
        find_groups(split, cpu::fused_kernels());
    }
}

} // namespace schedscope
