#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/model/tensor_buffers.h"
#include "runtime/planner/placement/policy.h"
#include "runtime/tensor/graph.h"
#include "runtime/vision/encoder_hparams.h"
#include "runtime/vision/encoder_weights.h"
#include "runtime/vision/projector.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace schedscope {
class Device;
namespace gguf {
class File;
}
namespace vision {

/// Opens an encoder's file, and checks that it is one, with a projector that is known and sizes that fit together. Throws
/// Error(input).
std::shared_ptr<const gguf::File> open_encoder(const std::string& path);

/// An image encoder with its projector (a `--mmproj` file): what the file says and where its weights lie. Immutable after
/// loading; keeps the file mapped. Devices must outlive it.
class VisionModel {
public:
    /// Throws Error(input) for a file, a key, a projector or a tensor that is not as it should be, Error(device) when memory is
    /// short, Error(usage) when the placement is not understood. `devices` by priority, the last one the CPU. Weights go to the
    /// first device that holds layers when any layer is offloaded, else to the host; overrides win. shared_reports: as with
    /// Model.
    VisionModel(std::shared_ptr<const gguf::File> file, std::span<Device* const> devices, const PlacementOptions& placement,
                const LoadOptions& loading, std::vector<OverrideReport>* shared_reports = nullptr);
    ~VisionModel();
    VisionModel(const VisionModel&) = delete;
    VisionModel& operator=(const VisionModel&) = delete;

    const gguf::File& file() const noexcept { return *file_; }
    const EncoderHparams& hparams() const noexcept { return hparams_; }
    const EncoderWeights& weights() const noexcept { return weights_; }
    const Projector& projector() const noexcept { return *projector_; }
    const ProjectorWeights& projector_weights() const noexcept { return *projector_weights_; }
    LoadMode mode() const noexcept { return mode_; }
    const LoadedWeights& loaded() const noexcept { return loaded_; }

    int32_t n_embd_text() const noexcept { return n_embd_text_; } ///< width of what comes out: the text model's
    /// Rows that a view of so many patches gives.
    int32_t n_rows(Size patches) const;
    /// What stands at the end of each row of patches with --image-newline, [n_embd_text]; empty when the file has none.
    std::vector<float> image_newline() const;

private:
    std::shared_ptr<const gguf::File> file_;
    LoadMode mode_;
    EncoderHparams hparams_;
    PlacementPolicy placement_; // owns the reasons that weights are where they are
    TensorStore store_;
    EncoderWeights weights_;
    const Projector* projector_ = nullptr;
    std::unique_ptr<ProjectorWeights> projector_weights_;
    int32_t n_embd_text_ = 0;
    LoadedWeights loaded_;
};

} // namespace vision
} // namespace schedscope
