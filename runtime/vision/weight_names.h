#pragma once

#include "runtime/model/weight_loader.h"
#include "runtime/vision/encoder_hparams.h"
#include "runtime/vision/encoder_weights.h"

#include <initializer_list>
#include <string>

namespace schedscope::vision {

/// Names the weights of an encoder's file, in the names that llama.cpp's converters write. Throws Error(input) as WeightLoader does.
class WeightNames {
public:
    WeightNames(const gguf::File& file, WeightLoader& load) : file_(file), load_(load) {}

    /// NAME.weight and NAME.bias, of block il (−1: none).
    Linear linear(const std::string& name, const Shape& ne, int32_t il = -1);
    Linear maybe_linear(const std::string& name, const Shape& ne, int32_t il = -1);
    /// What is there in one of these shapes: converters drop dimensions of 1. The first shape is the one that errors name.
    Tensor* need(const std::string& name, std::initializer_list<Shape> shapes);
    Tensor* need(const std::string& name, const Shape& ne) { return need(name, {ne}); }
    Tensor* maybe(const std::string& name, const Shape& ne);

    bool has(const std::string& name) const noexcept { return file_.find_tensor(name) != nullptr; }
    /// Dimension `dim` of a tensor, for sizes that no key tells. Throws Error(input) when there is no such tensor.
    int64_t size(const std::string& name, size_t dim) const { return file_.require_tensor(name).ne[dim]; }
    const gguf::File& file() const noexcept { return file_; }

private:
    const gguf::File& file_;
    WeightLoader& load_;
};

/// Everything in front of the projector.
void name_weights(EncoderWeights& weights, WeightNames& load, const EncoderHparams& h);

/// The operator that reads a weight of an encoder's file, for WeightLoader.
Op reader_of(std::string_view name, int32_t layer);

} // namespace schedscope::vision
