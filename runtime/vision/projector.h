#pragma once

#include "runtime/tensor/tensor.h"
#include "runtime/vision/encoder_hparams.h"
#include "runtime/vision/weight_names.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::vision {

class EncoderGraphBuilder;

/// What a projector keeps of its own.
struct ProjectorWeights {
    virtual ~ProjectorWeights() = default;
    int32_t n_embd_text = 0; ///< values of a row that comes out
};

/// The part between the encoder and the text model: rows of patches in, rows of the text model's width out.
struct Projector {
    std::string_view name; ///< as `clip.projector_type` says it
    /// Names all weights. n_in: width of a row that comes in.
    std::unique_ptr<ProjectorWeights> (*weights)(WeightNames& load, const EncoderHparams& h, int64_t n_in);
    /// Adds its part of the graph. x: [n_in, patches] → [n_embd_text, rows].
    Tensor* (*graph)(EncoderGraphBuilder& build, const ProjectorWeights& weights, Tensor* x);
    /// Rows that come out for a view of so many patches.
    int32_t (*n_rows)(const ProjectorWeights& weights, Size patches);
};

/// All there are. One line in projector.cpp adds one.
std::span<const Projector* const> projectors() noexcept;

/// By the file's key, or for old files that say just "mlp", by their tensors. Throws Error(input) naming the file and what is
/// supported.
const Projector& find_projector(const gguf::File& file);

/// A row for each patch.
int32_t one_row_per_patch(const ProjectorWeights& weights, Size patches);

} // namespace schedscope::vision
