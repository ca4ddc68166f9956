#include "runtime/model/weight_loader.h"

#include "runtime/backend/cpu/host_memory.h"
#include "runtime/backend/device.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/device_profile.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace schedscope {

namespace {

/// A node that reads the weight, with a batch as large as a usual prompt's. Throws Error when the operator does not take such a
/// weight.
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

Answer device_can_read(const Device& device, const gguf::FileTensor& info, Op reader) {
    try {
        Graph g;
        return device.supports_op(*reading_node(g, info, reader));
    } catch (const Error& error) {
        return Answer::no(Refusal::shape, error.what());
    }
}

} // namespace

std::vector<PlacedDevice> placed_devices(std::span<Device* const> devices) {
    std::vector<PlacedDevice> placed;
    for (const Device* device : devices) {
        placed.push_back({std::string(device->name()), std::string(device_kind_name(device->kind())),
                          static_cast<int64_t>(device->memory_bytes())});
    }
    return placed;
}

HomeChoice WeightLoader::home_of(const gguf::FileTensor& info, const WeightUse& use) {
    Answer runs = Answer::no(Refusal::none, "");
    const WeightHome choice = policy_.weight(info.name, use.part, [&](int32_t home) {
        runs = device_can_read(*devices_[home], info, use.reader);
        return runs.yes;
    });
    if (!runs.yes) {
        if (!device_can_read(*devices_.back(), info, use.reader).yes) {
            throw Error(ErrorKind::input, file_.path() + ": tensor " + visible_name(info.name) + ": " +
                                              std::string(op_name(use.reader)) + " with weights of type " +
                                              std::string(type_name(info.type)) + " is not supported by " +
                                              std::string(devices_.back()->name()));
        }
        ++left_to_host_[{choice.wanted, info.type, std::string_view(runs.detail).starts_with(DeviceProfile::not_known)}];
    }
    if (named_.insert(&info).second) {
        count_matches(policy_.overrides(), info.name, override_reports_);
    }
    return choice;
}

std::vector<std::string> WeightLoader::notes() const {
    std::vector<std::string> notes;
    for (const auto& [what, n] : left_to_host_) {
        const auto& [home, type, is_unknown] = what;
        notes.push_back(std::to_string(n) + " weights of type " + std::string(type_name(type)) +
                        " stay on the CPU: " + std::string(devices_[home]->name()) +
                        (is_unknown ? " was not asked in its recording whether it runs the operators that read them (taken as no)"
                                    : " can't run the operators that read them"));
    }
    return notes;
}

Tensor* WeightLoader::maybe(const std::string& name, const Shape& ne, const WeightUse& use) {
    const gguf::FileTensor* info = file_.find_tensor(name);
    if (info == nullptr) {
        return nullptr;
    }
    if (info->ne != ne) {
        throw Error(ErrorKind::input,
                    file_.path() + ": tensor " + name + " has shape " + shape_text(info->ne) + ", expected " + shape_text(ne));
    }
    const HomeChoice choice = home_of(*info, use);
    Tensor*& tensor = made_[{info, &devices_[choice.home]->buffer_type()}];
    if (tensor == nullptr) {
        tensor = store_.make(info->type, info->ne, name);
        tensor->role = use.part.role;
        tensor->layer = use.part.layer;
        tensor->why_here = choice.why;
        items_.push_back({tensor, info, choice.home});
    } else if (tensor->part() != use.part) { // several parts of the model read it
        tensor->role = Role::none;
        tensor->layer = -1;
    }
    return tensor;
}

Tensor* WeightLoader::need(const std::string& name, const Shape& ne, const WeightUse& use) {
    Tensor* tensor = maybe(name, ne, use);
    if (tensor == nullptr) {
        throw Error(ErrorKind::input, file_.path() + ": tensor " + name + " is missing");
    }
    return tensor;
}

Linear WeightLoader::linear(const std::string& name, const Shape& ne, const WeightUse& use) {
    const Shape bias{ne[1] > 1 ? ne[1] : ne[0], 1, 1, 1};
    return {need(name + ".weight", ne, use), maybe(name + ".bias", bias, {use.part.role, use.part.layer, Op::ADD})};
}

Linear WeightLoader::maybe_linear(const std::string& name, const Shape& ne, const WeightUse& use) {
    return file_.find_tensor(name + ".weight") != nullptr ? linear(name, ne, use) : Linear{};
}

void WeightLoader::map_host(std::vector<std::unique_ptr<Buffer>>& buffers) {
    // One buffer a part of the file, over just the stretch that holds host weights.
    struct Stretch {
        const std::byte* begin = nullptr;
        const std::byte* end = nullptr;
    };
    std::vector<Stretch> stretches(file_.parts());
    const auto on_host = [&](const Item& item) { return item.home == policy_.host(); };
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
            if (item.home != policy_.host()) {
                tensor_write(*item.tensor, item.info->data, 0, item.info->bytes);
                file_.check_whole();
            }
        }
    }
    file_.check_whole(); // tensors whose names were lost looked as if they were not there
    return buffers;
}

} // namespace schedscope
