#include "runtime/context/kv_cache.h"

#include "runtime/backend/device.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace schedscope {

namespace {

constexpr std::array known_cache_types = {Type::F16,  Type::F32,    Type::BF16, Type::Q8_0, Type::Q4_0,
                                          Type::Q4_1, Type::IQ4_NL, Type::Q5_0, Type::Q5_1};

void require_fitting_heads(Type type, int32_t head, const char* option) {
    if (std::find(known_cache_types.begin(), known_cache_types.end(), type) == known_cache_types.end()) {
        std::string names;
        for (const Type t : known_cache_types) {
            names += (names.empty() ? "" : ", ") + std::string(type_name(t));
        }
        throw Error(ErrorKind::usage,
                    std::string(option) + " " + std::string(type_name(type)) + ": the KV cache can be one of " + names);
    }
    if (head % traits(type).block != 0) {
        throw Error(ErrorKind::usage, std::string(option) + " " + std::string(type_name(type)) + ": heads of " +
                                          std::to_string(head) + " do not divide into its blocks of " +
                                          std::to_string(traits(type).block));
    }
}

} // namespace

std::span<const Type> cache_types() noexcept { return known_cache_types; }

KvCache::KvCache(const Model& model, const KvCacheOptions& options) : options_(options), cells_(0) {
    options_.n_cells = (options.n_cells + granule - 1) / granule * granule;
    cells_ = KvCells(options_.n_cells);
    const Hparams& h = model.hparams();
    require_fitting_heads(options.type_k, h.head_length_k, "-ctk");
    require_fitting_heads(options.type_v, h.head_length_v, "-ctv");
    if (options.v_transposed && traits(options.type_v).quantised()) {
        throw Error(ErrorKind::usage,
                    "-ctv " + std::string(type_name(options.type_v)) + ": quantised values need flash attention (-fa on)");
    }
    for (int32_t il = 0; il < h.n_layer; ++il) {
        const std::string layer = std::to_string(il);
        layers_.push_back({store_.make(options.type_k, {h.n_embd_k(), options_.n_cells, 1, 1}, "cache_k_l" + layer),
                           store_.make(options.type_v, {h.n_embd_v(), options_.n_cells, 1, 1}, "cache_v_l" + layer)});
    }
    allocate(model);
}

void KvCache::allocate(const Model& model) {
    struct Share {
        Device* device = nullptr;
        std::vector<Tensor*> tensors;
        size_t bytes = 0;
    };
    std::map<const BufferType*, Share> shares;
    for (size_t il = 0; il < layers_.size(); ++il) {
        const HomeChoice choice = model.placement().cache(int_of(il));
        Device& device = model.device(choice.home);
        Share& share = shares[&device.buffer_type()];
        share.device = &device;
        for (Tensor* t : {layers_[il].k, layers_[il].v}) {
            t->role = Role::cache;
            t->layer = int_of(il);
            t->why_here = choice.why;
            share.bytes += n_bytes(*t);
            share.tensors.push_back(t);
        }
    }
    for (const auto& [type, share] : shares) {
        const std::string what =
            "KV cache: " + words::memory(share.bytes) + " for " + std::to_string(options_.n_cells) + " cells";
        const size_t memory = share.device->memory_bytes();
        const std::string advice = type->is_host() ? ": ask for a shorter context (-c)"
                                                   : ": ask for a shorter context (-c) or fewer layers there (-ngl)";
        if (model.mode() == LoadMode::data && memory > 0 && share.bytes > memory) {
            throw Error(ErrorKind::device,
                        joined({what, " do not fit into ", share.device->name(), " (", words::memory(memory), ")", advice}));
        }
        try {
            for (auto& buffer : give_buffers(*type, share.tensors, BufferUsage::any, model.mode())) {
                // Cells that hold nothing are multiplied by zero, which only helps when they hold numbers.
                buffer->clear(0);
                buffers_.push_back(std::move(buffer));
            }
        } catch (const Error& e) {
            throw Error(ErrorKind::device, joined({what, ": ", e.what(), advice}));
        }
    }
}

int32_t KvCache::n_kv() const noexcept {
    const int32_t used = (cells_.used_end() + granule - 1) / granule * granule;
    return std::min(options_.n_cells, std::max(granule, used));
}

CacheView KvCache::view(int32_t n_kv) const noexcept { return {layers_, options_.n_cells, n_kv, options_.v_transposed}; }

int64_t KvCache::bytes() const noexcept {
    int64_t sum = 0;
    for (const CacheLayer& l : layers_) {
        sum += n_bytes(*l.k) + n_bytes(*l.v);
    }
    return sum;
}

} // namespace schedscope
