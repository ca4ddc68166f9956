#include "runtime/scheduler/expert_copy.h"

#include "runtime/backend/buffer.h"

namespace schedscope {

ExpertUse used_experts(const SplitGraph& split, const Tensor& source, const Tensor& target) noexcept {
    if (split.nodes.empty() || source.buffer == nullptr || source.buffer->usage != BufferUsage::weights ||
        !source.buffer->type().is_host() || source.readers > 1) { // another reader of the same copy may need other experts
        return {};
    }
    const Tensor& node = *split.nodes.front();
    if (node.op != Op::MUL_MAT_ID || node.src[0] != &target || node.src[2] == nullptr) {
        return {};
    }
    return {node.src[2], source.ne[2]};
}

CopiedExperts copy_used_experts(const ExpertUse& use, const Tensor& source, const Tensor& target, ExpertScratch& scratch) {
    const Tensor& ids = *use.ids;
    std::vector<std::byte>& raw = scratch.ids;
    std::vector<uint8_t>& used = scratch.used;
    raw.resize(n_bytes(ids));
    tensor_read(ids, raw.data(), 0, raw.size());
    used.assign(use.total, 0);
    for (int64_t t = 0; t < ids.ne[1]; ++t) {
        for (int64_t e = 0; e < ids.ne[0]; ++e) {
            const auto* id = reinterpret_cast<const int32_t*>(raw.data() + t * ids.nb[1] + e * ids.nb[0]);
            if (*id >= 0 && *id < use.total) {
                used[*id] = 1;
            }
        }
    }
    CopiedExperts copied;
    const size_t expert_bytes = source.nb[2];
    for (size_t first = 0; first < used.size();) {
        size_t end = first;
        while (end < used.size() && used[end] != 0) {
            ++end;
        }
        if (end > first) {
            const size_t bytes = (end - first) * expert_bytes;
            tensor_write(target, source.buffer->host_base() + source.offset + first * expert_bytes, first * expert_bytes, bytes);
            copied.count += end - first;
            copied.bytes += bytes;
        }
        first = end + 1;
    }
    return copied;
}

} // namespace schedscope
