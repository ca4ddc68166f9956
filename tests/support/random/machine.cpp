#include "tests/support/random/machine.h"

#include <algorithm>

namespace schedscope::test {

namespace {

size_t below(std::mt19937& random, size_t n) { return random() % n; }
bool one_in(std::mt19937& random, size_t n) { return below(random, n) == 0; }

/// What a device may refuse, apart from writes into caches: those must run somewhere near their memory.
constexpr Op refusable[] = {Op::ADD,   Op::SUB,      Op::MUL,      Op::MUL_MAT, Op::MUL_MAT_ID, Op::RMS_NORM, Op::UNARY,
                            Op::GLU,   Op::SCALE,    Op::SOFT_MAX, Op::ROPE,    Op::GET_ROWS,   Op::CONT,     Op::CONCAT,
                            Op::CLAMP, Op::SUM_ROWS, Op::REPEAT,   Op::ARGSORT, Op::SQR,        Op::ADD_ID};

} // namespace

DeviceTraits Machine::random_traits(std::mt19937& random, DeviceKind kind, const std::string& name) const {
    DeviceTraits traits;
    traits.name = name;
    traits.kind = kind;
    const size_t likely = kind == DeviceKind::blas ? 2 : 3 + below(random, 20);
    for (const Op op : refusable) {
        if (one_in(random, likely)) {
            traits.refuses.insert(op);
        }
    }
    if (one_in(random, 8)) { // views and leafs are asked about too
        traits.refuses.insert(one_in(random, 2) ? Op::VIEW : Op::RESHAPE);
    }
    if (one_in(random, 5)) {
        traits.refuses_types.insert({Op::CPY, Type::F16});
    }
    if (one_in(random, 5)) {
        traits.refuses_types.insert({Op::MUL_MAT, Type::F16});
    }
    if (one_in(random, 5)) {
        traits.most_elements = 64 + static_cast<int64_t>(below(random, 400));
    }
    traits.offloads = kind == DeviceKind::gpu && !one_in(random, 3);
    traits.copies_on_queue = !one_in(random, 4);
    traits.has_events = !one_in(random, 4);
    traits.reorders = one_in(random, 3);
    traits.diligence = static_cast<Diligence>(one_in(random, 2) ? 0 : below(random, 3));
    return traits;
}

void Machine::add_devices(std::mt19937& random) {
    const size_t n_others = below(random, 5);
    auto host = std::make_unique<SimulatedMemory>("Host", true, SIZE_MAX, *watch_);
    struct Planned {
        DeviceTraits traits;
        const BufferType* memory;
        size_t twin; ///< index of the device that this is another queue of; n_others: none
        std::set<const BufferType*> uses{};
    };
    std::vector<Planned> planned;
    for (size_t i = 0; i < n_others; ++i) {
        const size_t of = below(random, std::max<size_t>(i, 1));
        const bool has_gpu_before = i > 0 && planned[of].traits.kind == DeviceKind::gpu && planned[of].twin == n_others;
        if (has_gpu_before && one_in(random, 4)) {
            planned.push_back({planned[of].traits, planned[of].memory, of});
            const auto same = [&](const Planned& p) { return p.twin == of; };
            planned.back().traits.name += "." + std::to_string(std::count_if(planned.begin(), planned.end(), same));
        } else if (one_in(random, 4)) {
            planned.push_back({random_traits(random, DeviceKind::blas, "BLAS" + std::to_string(i)), host.get(), n_others});
        } else {
            const std::string name = "GPU" + std::to_string(i);
            const BufferType* memory = has_gpu_before && one_in(random, 5) ? planned[of].memory : nullptr;
            if (memory == nullptr) {
                const size_t max_size = one_in(random, 4) ? 2048 + below(random, 4096) : SIZE_MAX;
                memory = memories_.emplace_back(std::make_unique<SimulatedMemory>(name, false, max_size, *watch_)).get();
            }
            planned.push_back({random_traits(random, DeviceKind::gpu, name), memory, n_others});
        }
    }
    for (Planned& p : planned) {
        p.uses.insert(p.memory);
        if (p.traits.kind == DeviceKind::gpu && one_in(random, 6)) {
            p.uses.insert(host.get());
        }
        if (p.traits.kind == DeviceKind::gpu && one_in(random, 6)) {
            p.uses.insert(memories_[below(random, memories_.size())].get());
        }
    }
    // A result in place stays in the memory of its source: whoever can use what a device makes can use all that this device can.
    for (size_t round = 0; round < planned.size(); ++round) {
        for (Planned& p : planned) {
            for (const Planned& other : planned) {
                if (p.uses.contains(other.memory)) {
                    p.uses.insert(other.uses.begin(), other.uses.end());
                }
            }
        }
    }
    for (size_t i = 0; i < planned.size(); ++i) {
        const Planned& p = planned[i];
        const size_t at = devices_.size();
        if (p.twin != n_others) {
            BackendOptions options;
            options.name = p.traits.name;
            backends_.push_back(devices_[p.twin]->make_backend(options));
            devices_.push_back(nullptr);
            continue;
        }
        devices_.push_back(std::make_unique<SimulatedDevice>(p.traits, *p.memory, p.uses, *watch_, random()));
        backends_.push_back(devices_[at]->make_backend({}));
    }
    DeviceTraits cpu;
    cpu.name = "CPU";
    cpu.kind = DeviceKind::cpu;
    cpu.reorders = one_in(random, 3);
    devices_.push_back(std::make_unique<SimulatedDevice>(cpu, *host, std::set<const BufferType*>{host.get()}, *watch_, random()));
    backends_.push_back(devices_.back()->make_backend({}));
    memories_.push_back(std::move(host));
}

Machine::Machine(uint32_t seed) {
    std::mt19937 random(seed);
    add_devices(random);
}

void Machine::all_offer_offload() {
    for (auto& device : devices_) {
        if (device != nullptr && !device->works_at_once()) {
            device->change().offloads = true;
        }
    }
}

void Machine::refuse(const std::string& device, Op op) {
    for (auto& d : devices_) {
        if (d != nullptr && d->name() == device) {
            d->change().refuses.insert(op);
        }
    }
}

void Machine::select(const std::vector<std::string>& backends) {
    std::vector<std::unique_ptr<Backend>> selected;
    for (const std::string& name : backends) {
        for (auto& backend : backends_) {
            if (backend != nullptr && backend != backends_.back() && backend->name() == name) {
                selected.push_back(std::move(backend));
            }
        }
    }
    selected.push_back(std::move(backends_.back()));
    backends_ = std::move(selected);
}

std::string Machine::description() const {
    constexpr const char* diligences[] = {"lazy", "eager", "random"};
    std::string text;
    for (const auto& backend : backends_) {
        const auto& device = static_cast<const SimulatedDevice&>(backend->device());
        const DeviceTraits& traits = device.traits();
        text += (text.empty() ? "" : ", ") + std::string(backend->name()) + " in " + std::string(device.buffer_type().name());
        if (!device.works_at_once()) {
            text += std::string(" ") + diligences[static_cast<size_t>(traits.diligence)];
        }
        for (const Op op : traits.refuses) {
            text += " -" + std::string(op_name(op));
        }
    }
    return text;
}

void pin_some(const Graph& graph, const Machine& machine, std::mt19937& random) {
    for (Tensor* node : graph.nodes()) {
        if (node->view_source == nullptr && one_in(random, 25)) {
            const size_t b = below(random, machine.backends().size());
            if (machine.backends()[b]->device().supports_op(*node).yes) {
                node->pinned = static_cast<int16_t>(b);
            }
        }
    }
}

} // namespace schedscope::test
