#include "runtime/session/memory_need.h"

#include "runtime/backend/buffer.h"
#include "runtime/backend/cpu/repacked_memory.h"
#include "runtime/numbers.h"
#include "runtime/session/encoder_session.h"
#include "runtime/session/session.h"
#include "runtime/system/joined.h"
#include "runtime/system/number_words.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>

namespace schedscope {

std::string MemoryNeed::room() const {
    if (memory == 0) {
        return words::memory(total());
    }
    const std::string need = words::memory(total()), all = words::memory(memory);
    const int64_t spare = memory - total();
    return need + " of " + all +
           (spare == 0 || (spare > 0 && need != all)
                ? ""
                : ", " + words::memory(std::abs(spare)) + (spare > 0 ? " to spare" : " too much"));
}

std::string MemoryNeed::text() const {
    return room() + " (weights " + words::memory(weights) + (holds.empty() ? "" : ": " + holds) +
           (cache > 0 ? "; KV cache " + words::memory(cache) : "") +
           (cache_of_windows ? " of the whole context in all layers, as llama.cpp's --swa-full keeps it (without that about " +
                                   words::memory(*cache_of_windows) + ")"
                             : "") +
           "; compute " + words::memory(compute) + ")";
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
        need.is_host = info.buffer_types[type].is_host;
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

/// The name of the host's memory.
const std::string& host_of(const Scheduler& scheduler) {
    const SessionInfo& info = scheduler.session();
    return info.buffer_types[*info.backends.back().default_buffer_type].name;
}

/// The memory in which a buffer counts: what the CPU laid out in a type of its own takes of the host's.
std::string_view memory_of(const Buffer& buffer, std::string_view host) {
    const std::string_view name = buffer.type().name();
    return name == cpu_repack_buffer_type().name() ? host : name;
}

void add(std::vector<MemoryNeed>& needs, Buffers buffers, std::string_view host, int64_t MemoryNeed::*part) {
    for (const auto& buffer : buffers) {
        const auto of_type = [&](const MemoryNeed& n) { return n.buffer_type == memory_of(*buffer, host); };
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

/// Of each kind of memory, how many weights of each block lie there.
using WeightsOfBlocks = std::map<std::string, std::vector<int>, std::less<>>;

/// "3 blocks, 37 blocks in part": -ot, and devices that lack an operator, leave some of a block's weights elsewhere.
std::vector<std::string> blocks_text(const std::vector<int>& here, const std::vector<int>& all) {
    int32_t n_whole = 0, n_parts = 0;
    for (size_t block = 0; block < here.size(); ++block) {
        n_whole += here[block] > 0 && here[block] == all[block] ? 1 : 0;
        n_parts += here[block] > 0 && here[block] < all[block] ? 1 : 0;
    }
    std::vector<std::string> text;
    if (n_whole > 0) {
        text.push_back(words::counted(n_whole, "block"));
    }
    if (n_parts > 0) {
        text.push_back(words::counted(n_parts, "block") + " in part");
    }
    return text;
}

void tell_what_is_held(std::vector<MemoryNeed>& needs, const Session& session, std::string_view host) {
    const Model& model = session.model();
    WeightsOfBlocks here;
    std::vector<int> all(model.hparams().n_layer, 0);
    for (const Tensor& t : model.tensors()) {
        if (t.buffer != nullptr && is_index(t.layer, all)) {
            ++here.try_emplace(std::string(memory_of(*t.buffer, host)), all.size(), 0).first->second[t.layer];
            ++all[t.layer];
        }
    }
    for (MemoryNeed& need : needs) {
        const auto lies_here = [&](const Tensor* t) {
            return t != nullptr && t->buffer != nullptr && memory_of(*t->buffer, host) == need.buffer_type;
        };
        std::vector<std::string> held;
        if (const auto found = here.find(need.buffer_type); found != here.end()) {
            held = blocks_text(found->second, all);
        }
        if (lies_here(model.weights().output.weight)) {
            held.emplace_back("the output");
        }
        if (lies_here(model.weights().token_embedding) && model.weights().token_embedding != model.weights().output.weight) {
            held.emplace_back("the embedding");
        }
        const Buffers of_encoder = session.vision() != nullptr ? Buffers(session.vision()->loaded().buffers) : Buffers();
        if (std::any_of(of_encoder.begin(), of_encoder.end(),
                        [&](const auto& b) { return memory_of(*b, host) == need.buffer_type; })) {
            held.emplace_back("the encoder");
        }
        need.holds = joined(held, ", ");
    }
}

/// Of the host's weights those that stay in the file: what was laid out or copied is never read again.
void add_mapped(std::vector<MemoryNeed>& needs, int64_t bytes_in_file, std::string_view host) {
    const auto need = std::find_if(needs.begin(), needs.end(), [&](const MemoryNeed& n) { return n.buffer_type == host; });
    if (need != needs.end()) {
        need->mapped += bytes_in_file;
    }
}

void leave_out_unused(std::vector<MemoryNeed>& needs) {
    std::erase_if(needs, [](const MemoryNeed& n) { return n.total() == 0; });
}

} // namespace

std::vector<MemoryNeed> memory_needs(Session& session) {
    std::vector<MemoryNeed> needs = needs_of(session.scheduler());
    const std::string& host = host_of(session.scheduler());
    add(needs, session.model().loaded().buffers, host, &MemoryNeed::weights);
    if (session.vision() != nullptr) {
        add(needs, session.vision()->loaded().buffers, host, &MemoryNeed::weights);
    }
    add(needs, session.context().cache().buffers(), host, &MemoryNeed::cache);
    add_cache_of_windows(needs, session);
    tell_what_is_held(needs, session, host);
    if (session.options().mmap && !session.options().mlock) { // what is locked is never read again
        add_mapped(needs, session.model().loaded().bytes_in_file, host);
        if (session.vision() != nullptr) {
            add_mapped(needs, session.vision()->loaded().bytes_in_file, host);
        }
    }
    leave_out_unused(needs);
    return needs;
}

std::vector<MemoryNeed> memory_needs(const EncoderSession& session) {
    std::vector<MemoryNeed> needs = needs_of(session.scheduler());
    const std::string& host = host_of(session.scheduler());
    add(needs, session.model().loaded().buffers, host, &MemoryNeed::weights);
    add_mapped(needs, session.model().loaded().bytes_in_file, host);
    leave_out_unused(needs);
    return needs;
}

} // namespace schedscope
