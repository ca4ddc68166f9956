#include "runtime/session/memory_need.h"

#include "runtime/backend/buffer.h"
#include "runtime/numbers.h"
#include "runtime/session/encoder_session.h"
#include "runtime/session/session.h"
#include "runtime/system/number_words.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>

namespace schedscope {

std::string MemoryNeed::room() const {
    if (memory == 0) {
        return words::memory(total());
    }
    const std::string need = words::memory(total()), all = words::memory(memory);
    const int64_t spare = memory - total();
    return need + " of " + all +
           (need != all || spare == 0 ? "" : ", " + words::memory(std::abs(spare)) + (spare > 0 ? " to spare" : " too much"));
}

std::string MemoryNeed::text() const {
    return room() + " (weights " + words::memory(weights) + (blocks > 0 ? " of " + words::counted(blocks, "block") : "") +
           (cache > 0 ? ", KV cache " + words::memory(cache) : "") +
           (cache_of_windows ? " of the whole context in all layers, as llama.cpp's --swa-full keeps it (without that about " +
                                   words::memory(*cache_of_windows) + ")"
                             : "") +
           ", compute " + words::memory(compute) + ")";
}

namespace {

using Buffers = std::span<const std::unique_ptr<Buffer>>;

/// What a scheduler's plans need of each kind of memory that it knows.
std::vector<MemoryNeed> needs_of(const Scheduler& scheduler) {
    const SessionInfo& info = scheduler.session();
    std::vector<MemoryNeed> needs;
    const std::vector<int64_t> compute = scheduler.compute_buffer_bytes();
    for (size_t type = 0; type < info.buffer_types.size(); ++type) {
        MemoryNeed need;
        need.buffer_type = info.buffer_types[type].name;
        need.pages = info.buffer_types[type].is_host;
        need.compute = type < compute.size() ? compute[type] : 0;
        for (const BackendInfo& b : info.backends) {
            if (b.default_buffer_type == narrow<BufferTypeId>(type)) {
                need.memory = std::max(need.memory, b.memory_bytes.value_or(0));
            }
        }
        needs.push_back(need);
    }
    return needs;
}

void add(std::vector<MemoryNeed>& needs, Buffers buffers, int64_t MemoryNeed::*part) {
    for (const auto& buffer : buffers) {
        const auto of_type = [&](const MemoryNeed& n) { return n.buffer_type == buffer->type().name(); };
        if (const auto need = std::find_if(needs.begin(), needs.end(), of_type); need != needs.end()) {
            (*need).*part += buffer->size();
        }
    }
}

/// llama.cpp keeps of a layer that slides the window and a ubatch, unless it is told --swa-full.
void add_cache_of_windows(std::vector<MemoryNeed>& needs, Session& session) {
    const Model& model = session.model();
    const KvCache& cache = session.context().cache();
    const int64_t n_cells = cache.options().n_cells;
    const int64_t kept = int64_t{model.hparams().window} + session.context().options().n_ubatch;
    const int64_t n_kept = std::min(n_cells, (kept + KvCache::granule - 1) / KvCache::granule * KvCache::granule);
    const auto layers = cache.view(0).layers;
    for (int32_t il = 0; il < n_of(layers) && n_kept < n_cells; ++il) {
        if (!model.hparams().slides(il)) {
            continue;
        }
        const std::string_view home = model.device(model.placement().cache(il).home).buffer_type().name();
        const int64_t bytes = n_bytes(*layers[il].k) + n_bytes(*layers[il].v);
        for (MemoryNeed& need : needs) {
            if (need.buffer_type == home) {
                need.cache_of_windows = need.cache_of_windows.value_or(need.cache) - bytes / n_cells * (n_cells - n_kept);
            }
        }
    }
}

void leave_out_unused(std::vector<MemoryNeed>& needs) {
    std::erase_if(needs, [](const MemoryNeed& n) { return n.total() == 0; });
}

} // namespace

std::vector<MemoryNeed> memory_needs(Session& session) {
    std::vector<MemoryNeed> needs = needs_of(session.scheduler());
    add(needs, session.model().buffers(), &MemoryNeed::weights);
    if (session.vision() != nullptr) {
        add(needs, session.vision()->buffers(), &MemoryNeed::weights);
    }
    add(needs, session.context().cache().buffers(), &MemoryNeed::cache);
    add_cache_of_windows(needs, session);
    for (int32_t block = 0; block < session.model().hparams().n_layer; ++block) {
        const BackendInfo& home = session.scheduler().session().backends[session.model().placement().layer_home(block)];
        if (home.default_buffer_type) {
            ++needs[*home.default_buffer_type].blocks;
        }
    }
    leave_out_unused(needs);
    return needs;
}

std::vector<MemoryNeed> memory_needs(const EncoderSession& session) {
    std::vector<MemoryNeed> needs = needs_of(session.scheduler());
    add(needs, session.model().buffers(), &MemoryNeed::weights);
    leave_out_unused(needs);
    return needs;
}

} // namespace schedscope
