#include "runtime/context/memory_need.h"

#include "runtime/backend/buffer.h"
#include "runtime/backend/memory_text.h"
#include "runtime/context/session.h"

#include <algorithm>

namespace schedscope {

std::string MemoryNeed::text() const {
    return memory_text(total()) + (memory > 0 ? " of " + memory_text(memory) : "") + " (weights " + memory_text(weights) +
           ", KV cache " + memory_text(cache) + ", compute " + memory_text(compute) + ")";
}

std::vector<MemoryNeed> memory_needs(Session& session) {
    const SessionInfo& info = session.scheduler().session();
    std::vector<MemoryNeed> needs;
    const std::vector<int64_t> compute = session.scheduler().compute_buffer_bytes();
    for (size_t type = 0; type < info.buffer_types.size(); ++type) {
        MemoryNeed need;
        need.buffer_type = info.buffer_types[type].name;
        need.pages = info.buffer_types[type].is_host;
        need.compute = type < compute.size() ? compute[type] : 0;
        for (const BackendInfo& b : info.backends) {
            if (b.default_buffer_type == static_cast<BufferTypeId>(type)) {
                need.memory = std::max(need.memory, b.memory_bytes);
            }
        }
        needs.push_back(need);
    }
    const auto add = [&needs](const Buffer& buffer, int64_t MemoryNeed::*part) {
        const auto of_type = [&](const MemoryNeed& n) { return n.buffer_type == buffer.type().name(); };
        if (const auto need = std::find_if(needs.begin(), needs.end(), of_type); need != needs.end()) {
            (*need).*part += static_cast<int64_t>(buffer.size());
        }
    };
    for (const auto& buffer : session.model().buffers()) {
        add(*buffer, &MemoryNeed::weights);
    }
    if (session.vision() != nullptr) {
        for (const auto& buffer : session.vision()->buffers()) {
            add(*buffer, &MemoryNeed::weights);
        }
    }
    for (const auto& buffer : session.context().cache().buffers()) {
        add(*buffer, &MemoryNeed::cache);
    }
    std::erase_if(needs, [](const MemoryNeed& n) { return n.total() == 0; });
    return needs;
}

} // namespace schedscope
