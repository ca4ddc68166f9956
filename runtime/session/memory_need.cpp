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
           (cache > 0 ? ", KV cache " + words::memory(cache) : "") + ", compute " + words::memory(compute) + ")";
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
