#pragma once

#include "runtime/model/weight_loader.h"
#include "runtime/vision/encoder_hparams.h"
#include "runtime/vision/encoder_weights.h"

#include <initializer_list>
#include <string>

namespace schedscope::vision {

/// Names the weights of an encoder's file, in the names that llama.cpp's converters write. Throws Error(input) as WeightLoader
/// does.
class WeightNames {
public:
    WeightNames(const gguf::File& file, WeightLoader& load) : file_(file), load_(load) {}

    /// NAME.weight and NAME.bias of a product or a norm, of block il (−1: none).
    Linear linear(const std::string& name, const Shape& ne, int32_t il = -1);
    Linear norm(const std::string& name, const Shape& ne, int32_t il = -1);
    Linear maybe_norm(const std::string& name, const Shape& ne);
    /// What is there in one of these shapes: converters drop dimensions of 1. The first shape is the one that errors name.
    /// reader: the operator that reads it.
    Tensor* need(const std::string& name, std::initializer_list<Shape> shapes, Op reader = Op::MUL_MAT);
    Tensor* need(const std::string& name, const Shape& ne, Op reader = Op::MUL_MAT) { return need(name, {ne}, reader); }
    Tensor* maybe(const std::string& name, const Shape& ne, Op reader);

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

} // namespace schedscope::vision
