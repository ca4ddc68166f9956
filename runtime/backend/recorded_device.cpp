#include "runtime/backend/recorded_device.h"

#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/backend/described_buffer.h"
#include "runtime/backend/described_device.h"
#include "runtime/error.h"

#include <utility>

namespace schedscope {

namespace {

class RecordedBufferType final : public BufferType {
public:
    RecordedBufferType(std::string name, const BufferTypeInfo& info) : name_(std::move(name)), info_(info) {}
    std::string_view name() const noexcept override { return name_; }
    bool is_host() const noexcept override { return info_.is_host; }
    size_t alignment() const noexcept override { return info_.alignment.value_or(usual_alignment); }
    size_t max_size() const noexcept override {
        const int64_t most = info_.max_size.value_or(-1);
        return most < 0 ? SIZE_MAX : most;
    }
    std::unique_ptr<Buffer> allocate(size_t bytes) const override { return std::make_unique<DescribedBuffer>(*this, bytes); }

private:
    static constexpr int64_t usual_alignment = 32; ///< where the trace does not say
    std::string name_;
    BufferTypeInfo info_;
};

class RecordedBackend final : public Backend {
public:
    RecordedBackend(Device& device, const BackendOptions& options, bool is_ours)
        : device_(device), name_(options.name.empty() ? std::string(device.name()) : options.name), fusion_(options.fusion),
          is_ours_(is_ours) {}
    std::string_view name() const noexcept override { return name_; }
    Device& device() const noexcept override { return device_; }
    /// What another program's backend makes of the order is not known.
    void optimise(SplitGraph& split) override {
        if (fusion_ && is_ours_) {
            optimise_like(device_kind_name(device_.kind()), split);
        }
    }
    bool keeps_order() const noexcept override { return !is_ours_; }
    void compute(const SplitGraph&, int32_t, int32_t, KernelLog*) override {
        throw Error(ErrorKind::usage, name_ + ": the device was only described, it computes nothing");
    }

private:
    Device& device_;
    std::string name_;
    bool fusion_;
    bool is_ours_;
};

/// A node and what it reads, without data.
class AskedInfos {
public:
    explicit AskedInfos(const Tensor& node) {
        take(node, infos_[0]);
        question_.node = infos_.data();
        for (size_t s = 0; s < node.src.size(); ++s) {
            if (node.src[s] != nullptr) {
                take(*node.src[s], infos_[s + 1]);
                question_.src[s] = &infos_[s + 1];
                const Buffer* const buffer = node.src[s]->buffer;
                question_.reads_host_weight |=
                    buffer != nullptr && buffer->usage == BufferUsage::weights && buffer->type().is_host();
            }
        }
    }
    const OpQuestion& question() const noexcept { return question_; }

private:
    static void take(const Tensor& t, TensorInfo& info) {
        info.op = t.op;
        info.type = t.type;
        info.ne = t.ne;
        info.nb = t.nb;
        info.params = t.params;
    }
    std::array<TensorInfo, max_sources + 1> infos_;
    OpQuestion question_;
};

/// A word that this program does not have is taken for a device of its own.
DeviceKind kind_of(const DeviceProfile& profile) {
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::blas, DeviceKind::software}) {
        if (profile.backend().kind == device_kind_name(kind)) {
            return kind;
        }
    }
    return DeviceKind::gpu;
}

class RecordedDevice final : public Device {
public:
    RecordedDevice(std::string name, int64_t memory_bytes, std::shared_ptr<const DeviceProfile> profile)
        : name_(std::move(name)), memory_bytes_(memory_bytes), profile_(std::move(profile)), kind_(kind_of(*profile_)),
          type_(name_, profile_->memory()) {}

    std::string_view name() const noexcept override { return name_; }
    DeviceKind kind() const noexcept override { return kind_; }
    std::string description() const override { return "as recorded: " + profile_->backend().description; }
    size_t memory_bytes() const override {
        return memory_bytes_ > 0 ? memory_bytes_ : profile_->backend().memory_bytes.value_or(0);
    }
    std::vector<std::string> features() const override { return {"recorded"}; }
    const BufferType& buffer_type() const override { return type_; }
    Answer supports_op(const Tensor& node) const override { return profile_->supports_op(AskedInfos(node).question()); }
    bool supports_buffer_type(const BufferType& type) const override {
        return &type == &type_ || (type.is_host() && profile_->uses_host_memory()) ||
               (repacks() && &type == &cpu_repack_buffer_type());
    }
    const BufferType* repack_buffer_type(Type type, const Shape& ne) const override {
        return repacks() && can_be_repacked(type, ne) ? &cpu_repack_buffer_type() : nullptr;
    }
    bool wants_offload(const Tensor& node, int64_t min_batch) const override {
        return profile_->wants_offload(AskedInfos(node).question(), min_batch);
    }
    std::unique_ptr<Device> another(const std::string& name) const override {
        return kind_ == DeviceKind::cpu ? nullptr : std::make_unique<RecordedDevice>(name, memory_bytes_, profile_);
    }
    std::unique_ptr<Backend> make_backend(const BackendOptions& options) override {
        return std::make_unique<RecordedBackend>(*this, options, profile_->is_ours());
    }

private:
    bool repacks() const noexcept { return kind_ == DeviceKind::cpu && profile_->is_ours(); }

    std::string name_;
    int64_t memory_bytes_;
    std::shared_ptr<const DeviceProfile> profile_;
    DeviceKind kind_;
    RecordedBufferType type_;
};

} // namespace

std::unique_ptr<Device> make_recorded_device(const DeviceDescription& d, std::shared_ptr<const DeviceProfile> profile) {
    require_fitting_name(d, *profile);
    return std::make_unique<RecordedDevice>(d.name, d.memory_bytes, std::move(profile));
}

} // namespace schedscope
