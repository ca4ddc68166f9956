#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/model/hparams.h"
#include "runtime/model/tensor_buffers.h"
#include "runtime/model/weights.h"
#include "runtime/numbers.h"
#include "runtime/planner/placement/policy.h"
#include "runtime/tensor/graph.h"

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace schedscope {

class Device;
class ThreadPool;
struct Architecture;
namespace gguf {
class File;
}

/// A model: what its file says and where its weights lie. Immutable after loading; keeps the file mapped. Devices must outlive
/// it.
class Model {
public:
    /// Throws Error(input) for a file, an architecture, a key or a tensor that is not as it should be, Error(device) when memory
    /// is short, Error(usage) when the placement is not understood. `devices` by priority, the last one the CPU. shared_reports:
    /// overrides are for other models, too; how they fared is added there, and who has it says what matched nothing.
    Model(std::shared_ptr<const gguf::File> file, std::span<Device* const> devices, const PlacementOptions& placement,
          const LoadOptions& loading, std::vector<OverrideReport>* shared_reports = nullptr);
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const gguf::File& file() const noexcept { return *file_; }
    const Architecture& architecture() const noexcept { return *architecture_; }
    const Hparams& hparams() const noexcept { return hparams_; }
    const Weights& weights() const noexcept { return weights_; }
    const std::deque<Tensor>& tensors() const noexcept { return store_.tensors(); } ///< all weights
    const PlacementPolicy& placement() const noexcept { return placement_; }
    LoadMode mode() const noexcept { return mode_; }

    int32_t n_devices() const noexcept { return n_of(devices_); }
    Device& device(int32_t home) const noexcept { return *devices_[home]; }
    const LoadedWeights& loaded() const noexcept { return loaded_; }
    /// What each token reads of the mapped file is copied to memory with large pages, from which a fifth more is read in a second
    /// (Zen 4; 3 % on Zen 3): as much work as some tokens, so not before the first one is there. Values and addresses stay. What
    /// has been moved is not moved again. Not while the model is evaluated. Throws Error(input) where the file was cut short.
    void move_to_large_pages(ThreadPool& threads) const;
    int64_t n_parameters() const noexcept;

private:
    std::shared_ptr<const gguf::File> file_;
    std::vector<Device*> devices_;
    LoadMode mode_;
    const Architecture* architecture_;
    Hparams hparams_;
    PlacementPolicy placement_; // owns the reasons that weights are where they are
    TensorStore store_;
    Weights weights_;
    LoadedWeights loaded_;
};

} // namespace schedscope
