#pragma once

#include "runtime/backend/buffer.h"
#include "runtime/gguf/gguf.h"
#include "runtime/model/model_placement.h"
#include "runtime/model/tensor_buffers.h"
#include "runtime/model/weights.h"
#include "runtime/tensor/graph.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

class Device;

/// Makes a model's weight tensors from its file and gives them their memory. First every tensor is named (`need`, `maybe`), with its
/// layer and shape; then `load` (or `describe`) gives all of them buffers at once.
///
/// A tensor goes to its layer's home, or where an override sends it; a device that can't run the tensor's operator (a product with rows of a
/// type that it does not know) leaves it to the CPU. The same name asked for from layers in different memory gives one copy for each memory.
class WeightLoader {
public:
    /// The operator that will read a weight of this name in this layer.
    using ReaderOf = Op (*)(std::string_view name, int32_t layer);

    WeightLoader(const gguf::File& file, std::span<Device* const> devices, ModelPlacement& placement, TensorStore& store,
                 ReaderOf reader_of = text_reader_of)
        : file_(file), devices_(devices.begin(), devices.end()), placement_(placement), store_(store), reader_of_(reader_of) {}

    static constexpr int32_t input_layer = -1; ///< the token embedding: always on the CPU

    /// Of text models, judged by the weight's name as all architectures use it. A tied output reads the embedding as a matrix.
    static Op text_reader_of(std::string_view name, int32_t layer);

    /// Throws Error(input) naming file and tensor when it is missing or has another shape.
    Tensor* need(const std::string& name, const Shape& ne, int32_t layer);
    /// Null when the file has no such tensor.
    Tensor* maybe(const std::string& name, const Shape& ne, int32_t layer);
    /// NAME.weight, which must be there, and NAME.bias [ne[1] or, for a vector, ne[0]], which may.
    Linear linear(const std::string& name, const Shape& ne, int32_t layer);
    /// The same, with nulls when there is no NAME.weight.
    Linear maybe_linear(const std::string& name, const Shape& ne, int32_t layer);

    /// Memory for all of them. With data, host tensors point into the mapped file and the others are uploaded; the file must outlive the
    /// buffers. Throws Error(device) when a device has no memory left, Error(input) when the file was cut short.
    std::vector<std::unique_ptr<Buffer>> load(LoadMode mode);

    /// How many weights devices left to the CPU, one sentence for each device and type.
    std::vector<std::string> notes() const;

private:
    struct Item {
        Tensor* tensor;
        const gguf::FileTensor* info;
        int32_t home;
    };
    struct Override {
        int32_t home = -1; ///< none
        std::string_view why;
    };
    int32_t home_of(const gguf::FileTensor& info, int32_t layer);
    static int32_t layer_number(int32_t layer) noexcept { return layer == input_layer ? -1 : layer; }
    void tell_why(Tensor& tensor, const gguf::FileTensor& info, int32_t layer, int32_t home);
    void map_host(std::vector<std::unique_ptr<Buffer>>& buffers);

    const gguf::File& file_;
    std::vector<Device*> devices_;
    ModelPlacement& placement_;
    TensorStore& store_;
    ReaderOf reader_of_;
    std::vector<Item> items_;
    std::map<std::pair<const gguf::FileTensor*, const BufferType*>, Tensor*> made_;
    std::map<std::pair<int32_t, Type>, int32_t> left_to_host_; ///< by home wanted and type
    std::map<const gguf::FileTensor*, Override> overridden_;   ///< asked for, so that an override counts a tensor once
};

} // namespace schedscope
