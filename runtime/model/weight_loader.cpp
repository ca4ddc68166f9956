#include "runtime/model/weight_loader.h"

#include "runtime/backend/cpu/host_memory.h"
#include "runtime/backend/device.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace schedscope {

namespace {

bool ends_with(std::string_view s, std::string_view end) {
    return s.size() >= end.size() && s.substr(s.size() - end.size()) == end;
}

/// A node that reads the weight, with a batch as large as a usual prompt's. Throws Error when the operator does not take such a weight.
Tensor* reading_node(Graph& g, const gguf::FileTensor& info, Op reader) {
    constexpr int64_t batch = 512;
    Tensor* weight = g.make(info.type, info.ne, info.name);
    switch (reader) {
    case Op::GET_ROWS: return ops::get_rows(g, weight, g.make(Type::I32, {batch, 1, 1, 1}));
    case Op::MUL: return ops::mul(g, g.make(Type::F32, {info.ne[0], batch, 1, 1}), weight);
    case Op::ADD: return ops::add(g, g.make(Type::F32, {info.ne[0], batch, 1, 1}), weight);
    case Op::CONCAT: return ops::concat(g, weight, g.make(info.type, {info.ne[0], batch, 1, 1}), 1);
    case Op::NORM: return ops::norm(g, weight, 1e-6F);
    case Op::IM2COL:
        return ops::im2col(g, weight, g.make(Type::F32, {info.ne[0], info.ne[1], info.ne[2], 1}), 1, 1, 0, 0, 1, 1, true,
                           Type::F32);
    case Op::MUL_MAT_ID:
        return ops::mul_mat_id(g, weight, g.make(Type::F32, {info.ne[0], 1, batch, 1}), g.make(Type::I32, {1, batch, 1, 1}));
    case Op::ROPE: {
        RopeParams p;
        p.n_dims = int_of(2 * info.ne[0]);
        return ops::rope(g, g.make(Type::F32, {2 * info.ne[0], 1, batch, 1}), g.make(Type::I32, {batch, 1, 1, 1}), weight, p);
    }
    default: return ops::mul_mat(g, weight, g.make(Type::F32, {info.ne[0], batch, info.ne[2], info.ne[3]}));
    }
}

bool device_can_read(const Device& device, const gguf::FileTensor& info, Op reader) {
    try {
        Graph g;
        return device.supports_op(*reading_node(g, info, reader)).yes;
    } catch (const Error&) {
        return false;
    }
}

} // namespace

Op WeightLoader::text_reader_of(std::string_view name, int32_t layer) {
    if (name == "token_embd.weight" && layer == input_layer) {
        return Op::GET_ROWS;
    }
    if (name.find("rope_f") != std::string_view::npos) {
        return Op::ROPE;
    }
    if (ends_with(name, ".bias")) {
        return Op::ADD;
    }
    if (name.find("norm") != std::string_view::npos) {
        return Op::MUL;
    }
    return name.find("_exps.") != std::string_view::npos ? Op::MUL_MAT_ID : Op::MUL_MAT;
}

int32_t WeightLoader::home_of(const gguf::FileTensor& info, int32_t layer) {
    const int32_t wanted = layer == input_layer ? placement_.host() : placement_.layer_home(layer);
    const auto [found, first_time] = overridden_.try_emplace(&info);
    if (first_time) {
        // Any home that is none: what comes back then is an override's.
        found->second.home = placement_.tensor_home(info.name, -1, &found->second.why);
    }
    const int32_t home = found->second.home >= 0 ? found->second.home : wanted;
    const Op reader = reader_of_(info.name, layer);
    if (device_can_read(*devices_[home], info, reader)) {
        return home;
    }
    if (!device_can_read(*devices_.back(), info, reader)) {
        throw Error(ErrorKind::input, file_.path() + ": tensor " + visible_name(info.name) + ": " + std::string(op_name(reader)) +
                                          " with weights of type " + std::string(type_name(info.type)) + " is not supported");
    }
    ++left_to_host_[{home, info.type}];
    return placement_.host();
}

void WeightLoader::tell_why(Tensor& tensor, const gguf::FileTensor& info, int32_t layer, int32_t home) {
    const Override& override = overridden_.at(&info);
    tensor.layer = layer_number(layer);
    if (override.home >= 0) {
        tensor.home = Home::user;
        tensor.why_here = override.why;
    } else if (layer == input_layer) {
        tensor.home = Home::host;
        tensor.why_here = "the token embedding is looked up on the host";
    } else {
        tensor.home = Home::layer;
        tensor.why_here = placement_.layer_why(layer);
    }
    const int32_t wanted = override.home >= 0 || layer == input_layer ? override.home : placement_.layer_home(layer);
    if (wanted >= 0 && wanted != home) {
        tensor.why_here = "its device can't run the operator that reads it, so it stays on the host";
    }
}

std::vector<std::string> WeightLoader::notes() const {
    std::vector<std::string> notes;
    for (const auto& [what, n] : left_to_host_) {
        notes.push_back(std::to_string(n) + " weights of type " + std::string(type_name(what.second)) + " stay on the CPU: " +
                        std::string(devices_[what.first]->name()) + " can't run the operators that read them");
    }
    return notes;
}

Tensor* WeightLoader::maybe(const std::string& name, const Shape& ne, int32_t layer) {
    const gguf::FileTensor* info = file_.find_tensor(name);
    if (info == nullptr) {
        return nullptr;
    }
    if (info->ne != ne) {
        throw Error(ErrorKind::input,
                    file_.path() + ": tensor " + name + " has shape " + shape_text(info->ne) + ", expected " + shape_text(ne));
    }
    const int32_t home = home_of(*info, layer);
    const BufferType* type = &devices_[home]->buffer_type();
    Tensor*& tensor = made_[{info, type}];
    if (tensor == nullptr) {
        tensor = store_.make(info->type, info->ne, name);
        items_.push_back({tensor, info, home});
        tell_why(*tensor, *info, layer, home);
    } else if (tensor->home != Home::user && tensor->layer != layer_number(layer)) {
        tensor->home = Home::shared;
        tensor->layer = -1;
    }
    return tensor;
}

Tensor* WeightLoader::need(const std::string& name, const Shape& ne, int32_t layer) {
    Tensor* tensor = maybe(name, ne, layer);
    if (tensor == nullptr) {
        throw Error(ErrorKind::input, file_.path() + ": tensor " + name + " is missing");
    }
    return tensor;
}

Linear WeightLoader::linear(const std::string& name, const Shape& ne, int32_t layer) {
    const Shape bias{ne[1] > 1 ? ne[1] : ne[0], 1, 1, 1};
    return {need(name + ".weight", ne, layer), maybe(name + ".bias", bias, layer)};
}

Linear WeightLoader::maybe_linear(const std::string& name, const Shape& ne, int32_t layer) {
    return file_.find_tensor(name + ".weight") != nullptr ? linear(name, ne, layer) : Linear{};
}

void WeightLoader::map_host(std::vector<std::unique_ptr<Buffer>>& buffers) {
    // One buffer a part of the file, over just the stretch that holds host weights.
    struct Stretch {
        const std::byte* begin = nullptr;
        const std::byte* end = nullptr;
    };
    std::vector<Stretch> stretches(file_.parts());
    const auto on_host = [&](const Item& item) { return item.home == placement_.host(); };
    for (const Item& item : items_) {
        if (!on_host(item)) {
            continue;
        }
        Stretch& s = stretches[item.info->part];
        const std::byte* end = item.info->data + item.info->bytes;
        s.begin = s.begin == nullptr ? item.info->data : std::min(s.begin, item.info->data);
        s.end = std::max(s.end, end);
    }
    std::vector<Buffer*> mapped;
    for (const Stretch& s : stretches) {
        mapped.push_back(nullptr);
        if (s.begin == nullptr) {
            continue;
        }
        // Weights are only read; a mapping that is not writable would stop whoever tried otherwise.
        buffers.push_back(wrap_host_memory(const_cast<std::byte*>(s.begin), s.end - s.begin));
        buffers.back()->usage = BufferUsage::weights;
        mapped.back() = buffers.back().get();
    }
    for (const Item& item : items_) {
        if (on_host(item)) {
            const size_t part = item.info->part;
            item.tensor->buffer = mapped[part];
            item.tensor->offset = item.info->data - stretches[part].begin;
        }
    }
}

std::vector<std::unique_ptr<Buffer>> WeightLoader::load(LoadMode mode) {
    std::vector<std::unique_ptr<Buffer>> buffers;
    if (mode == LoadMode::data) {
        map_host(buffers);
    }
    // In order of first use, so that what a device gets does not depend on addresses.
    std::vector<const BufferType*> types;
    std::vector<std::vector<Tensor*>> tensors;
    for (const Item& item : items_) {
        if (item.tensor->buffer != nullptr) {
            continue;
        }
        const BufferType* type = &devices_[item.home]->buffer_type();
        const size_t at = std::find(types.begin(), types.end(), type) - types.begin();
        if (at == types.size()) {
            types.push_back(type);
            tensors.emplace_back();
        }
        tensors[at].push_back(item.tensor);
    }
    for (size_t i = 0; i < types.size(); ++i) {
        size_t bytes = 0;
        for (const Tensor* t : tensors[i]) {
            bytes += n_bytes(*t);
        }
        try {
            for (auto& buffer : give_buffers(*types[i], tensors[i], BufferUsage::weights, mode)) {
                buffers.push_back(std::move(buffer));
            }
        } catch (const Error& e) {
            throw Error(ErrorKind::device,
                        "weights: " + words::memory(bytes) + ": " + e.what() + ": ask for fewer layers there (-ngl)");
        }
    }
    if (mode == LoadMode::data) {
        for (const Item& item : items_) {
            if (item.home != placement_.host()) {
                tensor_write(*item.tensor, item.info->data, 0, item.info->bytes);
                file_.check_whole();
            }
        }
    }
    file_.check_whole(); // tensors whose names were lost looked as if they were not there
    return buffers;
}

} // namespace schedscope
