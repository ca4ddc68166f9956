#include "runtime/model/weight_loader.h"

#include "runtime/backend/cpu/host_memory.h"
#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/backend/cpu/thread_pool.h"
#include "runtime/backend/device.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/planner/device_profile.h"
#include "runtime/system/number_words.h"
#include "runtime/system/visible_text.h"
#include "runtime/tensor/ops.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

namespace schedscope {

namespace {

constexpr size_t piece = size_t{16} << 20U;        ///< bytes that are read at once
constexpr size_t repacked_part = size_t{1} << 20U; ///< the same of what a thread lays out: it is then in memory twice
constexpr size_t parts_at_once = 16;               ///< until progress is told

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

} // namespace

Answer device_can_read(const Device& device, const gguf::FileTensor& weight, Op reader) {
    try {
        Graph g;
        return device.supports_op(*reading_node(g, weight, reader));
    } catch (const Error& error) {
        return Answer::no(Refusal::shape, error.what());
    }
}

std::vector<PlacedDevice> placed_devices(std::span<Device* const> devices) {
    std::vector<PlacedDevice> placed;
    for (const Device* device : devices) {
        placed.push_back({std::string(device->name()), std::string(device_kind_name(device->kind())),
                          static_cast<int64_t>(device->memory_bytes())});
    }
    return placed;
}

WeightLoader::WeightLoader(const gguf::File& file, std::span<Device* const> devices, const PlacementPolicy& policy,
                           LoadOptions options, TensorStore& store, std::vector<OverrideReport>& override_reports)
    : file_(file), devices_(devices.begin(), devices.end()), policy_(policy), options_(std::move(options)), store_(store),
      override_reports_(override_reports) {
    int64_t bytes = 0;
    for (const gguf::FileTensor& info : file.tensors()) {
        bytes += static_cast<int64_t>(info.bytes);
    }
    bytes += options_.bytes_beside;
    const int64_t room_for_the_rest = bytes / 8;                          // caches, and what is computed with
    lays_out_ = options_.repacks && fits_host(bytes + room_for_the_rest); // else what is mapped is read again when it is needed
    if (override_reports_.empty()) {
        override_reports_ = schedscope::override_reports(policy.overrides());
    }
}

WeightHome WeightLoader::home_of(const gguf::FileTensor& info, const WeightUse& use) {
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
    if (!not_locked_.empty()) {
        notes.push_back(not_locked_);
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
    const WeightHome choice = home_of(*info, use);
    const BufferType* memory = &devices_[choice.home]->buffer_type();
    std::string layout;
    if (choice.home == policy_.host() && use.reader == Op::MUL_MAT) {
        const std::string why_not = why_not_laid_out(*info, choice, use);
        memory = why_not.empty() ? devices_[choice.home]->repack_buffer_type(info->type, info->ne) : memory;
        layout = why_not.empty() ? "; laid out for products" : "; not laid out: " + why_not;
    }
    const auto [at, is_new] = made_.try_emplace({info, memory}, items_.size());
    if (is_new) {
        Tensor* const tensor = store_.make(info->type, info->ne, name);
        tensor->role = use.part.role;
        tensor->layer = use.part.layer;
        items_.push_back({tensor, info, choice.home, memory});
        items_.back().in_file = options_.mapped && choice.home == policy_.host() && !is_laid_out(items_.back());
        tensor->why_here = choice.why;
    }
    Item& item = items_[at->second];
    if (item.tensor->why_here.find(layout) == std::string_view::npos) { // said once, whoever reads it first
        item.tensor->why_here = store_.keep(std::string(item.tensor->why_here) + layout);
    }
    item.is_streamed = item.is_streamed || is_streamed(choice, use);
    if (item.tensor->part() != use.part) { // several parts of the model read it
        item.tensor->role = Role::none;
        item.tensor->layer = -1;
    }
    return item.tensor;
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

/// Does each token read all of it?
bool WeightLoader::is_streamed(const WeightHome& choice, const WeightUse& use) const noexcept {
    return lays_out_ && choice.is_for_cpu_alone && use.reader == Op::MUL_MAT && use.part.role != Role::encoder;
}

/// Who looks rows up wants them as they are, and is named first: then it is there twice, if that costs no memory because the
/// other one stays in the file.
std::string WeightLoader::why_not_laid_out(const gguf::FileTensor& info, const WeightHome& choice, const WeightUse& use) const {
    const std::optional<LaidOutType> layout = layout_of(info.type);
    const std::string type(type_name(info.type));
    if (!layout) {
        return "rows of " + type + " have no layout";
    }
    if (!pays_laid_out(info.type, use.part.role)) {
        return "an encoder reads floats once for many patches";
    }
    if (info.ne[0] <= layout->longer_than) {
        return "rows of " + type + " with up to " + std::to_string(layout->longer_than) + " numbers are read as fast as they lie";
    }
    if (!layout->takes(info.ne)) {
        return "its " + std::to_string(info.ne[1]) + " rows are no multiple of " + std::to_string(layout->rows);
    }
    if (!choice.is_for_cpu_alone) {
        return "another device could not read it";
    }
    if (!options_.repacks) {
        return "as asked for (--no-repack, --cpu-products float)";
    }
    if (!lays_out_) {
        return "memory is short";
    }
    if (!may_be_twice() && made_.contains({&info, &devices_[choice.home]->buffer_type()})) {
        return "rows are looked up in it, and only what stays in a mapped file is there twice";
    }
    return devices_[choice.home]->repack_buffer_type(info.type, info.ne) != nullptr ? "" : "its device has no such memory";
}

/// Then few of its rows are read in the file.
bool WeightLoader::is_laid_out_too(const Item& item) const {
    const auto with_it = [&](const Item& other) { return other.info == item.info && is_laid_out(other); };
    return std::any_of(items_.begin(), items_.end(), with_it);
}

std::vector<LaidOutType> WeightLoader::laid_out() const {
    std::vector<LaidOutType> types;
    for (int i = 0; i < ordinal(Type::count) && lays_out_; ++i) {
        std::optional<LaidOutType> layout = layout_of(static_cast<Type>(i));
        const int64_t block = traits(static_cast<Type>(i)).block;
        if (layout &&
            devices_.back()->repack_buffer_type(layout->type, {layout->longer_than + block, layout->rows, 1, 1}) != nullptr) {
            layout->is_copy = may_be_twice();
            types.push_back(*layout);
        }
    }
    return types;
}

int64_t WeightLoader::bytes_in_file() const {
    int64_t bytes = 0;
    for (const Item& item : items_) {
        bytes += item.in_file && !leaves_file(item) ? static_cast<int64_t>(item.info->bytes) : 0;
    }
    return bytes;
}

/// What is locked is not copied: the system may refuse to lock the copy.
bool WeightLoader::leaves_file(const Item& item) const noexcept { return item.in_file && item.is_streamed && !options_.locked; }

std::vector<const gguf::FileTensor*> WeightLoader::streamed() const {
    std::vector<const gguf::FileTensor*> streamed;
    for (const Item& item : items_) {
        if (leaves_file(item)) {
            streamed.push_back(item.info);
        }
    }
    return streamed;
}

bool WeightLoader::is_laid_out(const Item& item) const noexcept { return item.memory != &devices_[item.home]->buffer_type(); }
void WeightLoader::map_host(std::vector<std::unique_ptr<Buffer>>& buffers) {
    // One buffer a part of the file, over just the stretch that holds host weights.
    struct Stretch {
        const std::byte* begin = nullptr;
        const std::byte* end = nullptr;
    };
    std::vector<Stretch> stretches(file_.parts());
    for (const Item& item : items_) {
        if (!item.in_file) {
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
        if (item.in_file) {
            const size_t part = item.info->part;
            item.tensor->buffer = mapped[part];
            item.tensor->offset = item.info->data - stretches[part].begin;
        }
    }
}

int64_t WeightLoader::bytes_of(bool on_host) const {
    int64_t bytes = 0;
    for (const Item& item : items_) {
        bytes += (item.home == policy_.host()) == on_host ? item.info->bytes : 0;
    }
    return bytes;
}

/// Else what is read last pushes out what came first.
bool WeightLoader::fits_host(int64_t bytes) const {
    const size_t memory = devices_.back()->memory_bytes();
    return memory == 0 || std::cmp_less_equal(bytes, memory);
}

/// What is in memory twice until it is done. room: for what is not mapped.
void WeightLoader::write(const Item& item, size_t at, size_t n, std::vector<std::byte>& room) {
    const gguf::FileTensor& info = *item.info;
    if (options_.mapped) {
        file_.read_ahead(info, at, n);
        tensor_write(*item.tensor, info.data + at, at, n);
        file_.let_go(info, at, n);
    } else {
        room.resize(std::max(room.size(), n));
        file_.read(info, at, std::span(room).first(n));
        tensor_write(*item.tensor, room.data(), at, n);
    }
}

/// A device's weights, or the host's that are not mapped, piece by piece: no more of the file than that is in memory twice.
void WeightLoader::upload(const Item& item, std::vector<std::byte>& room, const Done& done) {
    const gguf::FileTensor& info = *item.info;
    std::byte* const host = item.home == policy_.host() ? host_data(*item.tensor) : nullptr;
    for (size_t at = 0; at < info.bytes; at += piece) {
        const size_t n = std::min(piece, info.bytes - at);
        if (!options_.mapped && host != nullptr) {
            file_.read(info, at, {host + at, n});
        } else {
            write(item, at, n, room);
        }
        done(n);
    }
    file_.let_go(info);
}

/// By all threads, each of which has one part at a time in memory twice. Most of the time goes into new pages.
void WeightLoader::lay_out(const Item& item, const Done& done) {
    const gguf::FileTensor& info = *item.info;
    ThreadPool alone(1);
    ThreadPool& threads = options_.threads != nullptr ? *options_.threads : alone;
    const size_t together = rows_laid_out_together * row_bytes(info.type, info.ne[0]);
    const size_t part = std::max<size_t>(repacked_part / together, 1) * together;
    for (size_t at = 0; at < info.bytes; at += parts_at_once * part) {
        const size_t end = std::min(at + parts_at_once * part, info.bytes);
        const auto lay = [&](int i) {
            const size_t first = at + i * part;
            std::vector<std::byte> room;
            write(item, first, std::min(part, end - first), room);
        };
        threads.run(int_of((end - at + part - 1) / part), lay);
        done(end - at);
    }
    file_.let_go(info);
}

/// In the order of the file.
void WeightLoader::fill() {
    const int64_t on_host = bytes_of(true), total = on_host + bytes_of(false);
    const bool ahead = fits_host(on_host);
    std::vector<const Item*> items;
    std::transform(items_.begin(), items_.end(), std::back_inserter(items), [](const Item& item) { return &item; });
    std::stable_sort(items.begin(), items.end(), [](const Item* a, const Item* b) {
        return std::pair(a->info->part, a->info->offset) < std::pair(b->info->part, b->info->offset);
    });
    int64_t loaded = 0;
    const auto done = [&](size_t bytes) {
        loaded += bytes;
        if (options_.progress) {
            options_.progress(loaded, total);
        }
    };
    std::vector<std::byte> room;
    for (const Item* item : items) {
        if (!item->in_file) {
            if (is_laid_out(*item)) {
                lay_out(*item, done);
            } else {
                upload(*item, room, done);
            }
            file_.check_whole();
            continue;
        }
        for (size_t at = 0; at < item->info->bytes; at += piece) {
            const size_t n = std::min(piece, item->info->bytes - at);
            if (ahead && !is_laid_out_too(*item)) {
                file_.read_ahead(*item->info, at, n);
            }
            done(n);
        }
    }
}

void WeightLoader::lock_host() {
    int64_t locked = 0;
    std::string why;
    for (const Item& item : items_) {
        if (item.home == policy_.host() && why.empty()) {
            why = item.tensor->buffer->lock(item.tensor->offset, item.info->bytes);
            locked += why.empty() ? item.info->bytes : 0;
        }
    }
    if (!why.empty()) {
        not_locked_ = "--mlock: of " + words::memory(bytes_of(true)) + " of weights " + words::memory(locked) +
                      " are locked in memory: " + why + ": raise the limit (ulimit -l)";
    }
}

LoadedWeights WeightLoader::load() {
    std::vector<std::unique_ptr<Buffer>> buffers;
    if (options_.mode == LoadMode::data && options_.mapped) {
        map_host(buffers);
    }
    // In order of first use, so that what a device gets does not depend on addresses.
    std::vector<const BufferType*> types;
    std::vector<std::vector<Tensor*>> tensors;
    for (const Item& item : items_) {
        if (item.tensor->buffer != nullptr) {
            continue;
        }
        const BufferType* type = item.memory;
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
            for (auto& buffer : give_buffers(*types[i], tensors[i], BufferUsage::weights, options_.mode)) {
                buffers.push_back(std::move(buffer));
            }
        } catch (const Error& e) {
            const bool on_host = types[i] == &devices_[policy_.host()]->buffer_type();
            const char* const advice = on_host && !options_.mapped ? ": leave them in the file (without --no-mmap)"
                                       : policy_.repacks()         ? ": leave them as they are (--no-repack)"
                                                                   : ": ask for fewer layers there (-ngl)";
            throw Error(ErrorKind::device, "weights: " + words::memory(bytes) + ": " + e.what() + advice);
        }
    }
    if (options_.mode == LoadMode::data) {
        fill();
        if (options_.locked) {
            lock_host();
        }
    }
    file_.check_whole(); // tensors whose names were lost looked as if they were not there
    return {std::move(buffers), bytes_in_file(), streamed(), notes(), laid_out()};
}

} // namespace schedscope
