#include "runtime/scheduler/compute_buffers.h"

#include "runtime/backend/described_buffer.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/number_words.h"

namespace schedscope {

namespace {

std::unique_ptr<Buffer> allocate(const BufferType& type, size_t bytes) {
    try {
        return type.allocate(bytes);
    } catch (const Error& e) {
        throw Error(ErrorKind::device,
                    "compute buffer: " + words::memory(bytes) + ": " + e.what() +
                        (type.is_host() ? ": a smaller batch (-ub) or a shorter context (-c) needs less"
                                        : ": a smaller batch (-ub), a shorter context (-c) or fewer layers there "
                                          "(-ngl) need less"));
    }
}

} // namespace

void ComputeBuffers::assign(LivePlan& live, const MemoryPlan& memory, const LiveDevices& devices) {
    chunks_.resize(memory.chunk_sizes.size());
    sizes_.resize(memory.chunk_sizes.size());
    for (size_t type = 0; type < chunks_.size(); ++type) {
        const std::vector<int64_t>& wanted = memory.chunk_sizes[type];
        if (sizes_[type] == wanted) {
            continue;
        }
        auto& chunks = chunks_[type];
        sizes_[type].clear();
        chunks.clear(); // before the larger ones are made: a device may not hold both
        const BufferType& kind = devices.buffer_type(narrow<BufferTypeId>(type));
        for (const int64_t bytes : wanted) {
            const size_t size = bytes;
            chunks.push_back(size == 0    ? nullptr
                             : described_ ? std::make_unique<DescribedBuffer>(kind, size)
                                          : allocate(kind, size));
            if (size != 0) {
                chunks.back()->usage = BufferUsage::compute;
            }
        }
        sizes_[type] = wanted;
    }
    for (const PlacedTensor& place : memory.tensors) {
        Tensor& t = live.tensor(place.tensor);
        t.buffer = chunks_[place.buffer_type][place.chunk].get();
        t.offset = place.offset;
        live.placed.push_back(&t);
    }
    for (Tensor* t : live.tensors) {
        if (t->view_source != nullptr && t->buffer == nullptr && t->view_source->buffer != nullptr) {
            t->buffer = t->view_source->buffer;
            t->offset = t->view_source->offset + t->view_offset;
            live.placed.push_back(t);
        }
    }
}

std::vector<int64_t> ComputeBuffers::bytes() const {
    std::vector<int64_t> sums(chunks_.size(), 0);
    for (size_t type = 0; type < chunks_.size(); ++type) {
        for (const auto& chunk : chunks_[type]) {
            sums[type] += chunk != nullptr ? chunk->size() : 0;
        }
    }
    return sums;
}

} // namespace schedscope
