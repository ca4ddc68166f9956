#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/tensor_buffers.h"
#include "runtime/model/weights.h"
#include "runtime/planner/answer.h"
#include "runtime/planner/placement/policy.h"
#include "runtime/tensor/graph.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace schedscope {

class Device;

/// What a weight is for: which part of the model reads it, by which operator.
struct WeightUse {
    WeightUse(Role role, int32_t layer) noexcept
        : WeightUse(role, layer,
                    role == Role::embedding ? Op::GET_ROWS
                    : role == Role::norm    ? Op::MUL
                    : role == Role::experts ? Op::MUL_MAT_ID
                                            : Op::MUL_MAT) {}
    WeightUse(Role role, int32_t layer, Op reader) noexcept : part{role, layer}, reader(reader) {}

    ModelPart part;
    Op reader;
};

/// The devices as the placement policy wants to know them.
std::vector<PlacedDevice> placed_devices(std::span<Device* const> devices);

/// Whether a device can run the operator that reads a weight, with a batch as large as a usual prompt's.
Answer device_can_read(const Device& device, const gguf::FileTensor& weight, Op reader);

/// Makes a model's weight tensors from its file and gives them their memory. First every tensor is named (`need`, `maybe`), with
/// its use and shape; then `load` gives all of them buffers at once.
///
/// A tensor goes where the policy says, which leaves it to the CPU where its device can't run the operator that reads it (a
/// product with rows of a type that it does not know). The same name asked for from parts in different memory gives one copy for
/// each memory.
class WeightLoader {
public:
    /// override_reports: counts are added to those of other files, if there are any.
    WeightLoader(const gguf::File& file, std::span<Device* const> devices, const PlacementPolicy& policy, LoadOptions options,
                 TensorStore& store, std::vector<OverrideReport>& override_reports);

    /// Throws Error(input) naming file and tensor when it is missing or has another shape.
    Tensor* need(const std::string& name, const Shape& ne, const WeightUse& use);
    /// Null when the file has no such tensor.
    Tensor* maybe(const std::string& name, const Shape& ne, const WeightUse& use);
    /// NAME.weight, which must be there, and NAME.bias [ne[1] or, for a vector, ne[0]], which may.
    Linear linear(const std::string& name, const Shape& ne, const WeightUse& use);
    /// The same, with nulls when there is no NAME.weight.
    Linear maybe_linear(const std::string& name, const Shape& ne, const WeightUse& use);

    /// Memory for all of them. With data, the others than the host's are uploaded; those of the host point into the mapped file,
    /// which must outlive the buffers, and are read ahead, unless they are more than there is memory; or they are read. Those
    /// that matrix products read are laid out where the policy, their device and the options say so; what was mapped of them is
    /// let go. Throws Error(device) when a device has no memory left, Error(input) when the file was cut short.
    LoadedWeights load();

private:
    struct Item {
        Tensor* tensor;
        const gguf::FileTensor* info;
        int32_t home;
        const BufferType* memory;
        bool in_file = false;     ///< it stays there, which is mapped
        bool is_streamed = false; ///< each token reads all of it, and it may be copied
    };
    bool is_streamed(const WeightHome& choice, const WeightUse& use) const noexcept;
    bool may_be_twice() const noexcept { return options_.mapped && !options_.locked; }
    /// Of a weight that products of the CPU read: why it lies as it does in the file; empty: it is laid out.
    std::string why_not_laid_out(const gguf::FileTensor& info, const WeightHome& choice, const WeightUse& use) const;
    bool is_laid_out(const Item& item) const noexcept;
    bool is_laid_out_too(const Item& item) const;
    WeightHome home_of(const gguf::FileTensor& info, const WeightUse& use);
    void map_host(std::vector<std::unique_ptr<Buffer>>& buffers);
    void fill();
    using Done = std::function<void(size_t bytes)>;
    void write(const Item& item, size_t at, size_t n, std::vector<std::byte>& room);
    void upload(const Item& item, std::vector<std::byte>& room, const Done& done);
    void lay_out(const Item& item, const Done& done);
    void lock_host();
    bool fits_host(int64_t bytes) const;
    int64_t bytes_of(bool on_host) const;
    int64_t bytes_in_file() const;
    bool leaves_file(const Item& item) const noexcept;
    std::vector<const gguf::FileTensor*> streamed() const;
    std::vector<std::string> notes() const;
    std::vector<LaidOutType> laid_out() const;

    const gguf::File& file_;
    std::vector<Device*> devices_;
    const PlacementPolicy& policy_;
    const LoadOptions options_;
    bool lays_out_ = false;
    TensorStore& store_;
    std::vector<Item> items_;
    std::map<std::pair<const gguf::FileTensor*, const BufferType*>, size_t> made_; ///< places among the items
    /// By home wanted, type, and whether it is unknown what the device there runs.
    std::map<std::tuple<int32_t, Type, bool>, int32_t> left_to_host_;
    std::set<const gguf::FileTensor*> named_;
    std::vector<OverrideReport>& override_reports_;
    std::string not_locked_; ///< a sentence; empty: nothing was to be, or all is
};

} // namespace schedscope
