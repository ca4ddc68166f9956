#include "runtime/backend/vulkan/submission.h"

#include "runtime/backend/vulkan/memory.h"
#include "runtime/clock.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace schedscope::vulkan {

namespace {

constexpr uint32_t max_groups = 65535; ///< in x; the rest goes on in y (common.glsl)
constexpr VkPipelineStageFlags work_stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;

} // namespace

Submission::Submission(Context& context, const std::string& name) : context_(context), name_(name) {
    const DeviceFunctions& f = context_.f();
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = context_.physical().queue_family;
    context_.expect(f.vkCreateCommandPool(context_.device(), &pool, nullptr, &pool_), name_);
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    VkResult result = f.vkAllocateCommandBuffers(context_.device(), &commands, &commands_);
    if (result == VK_SUCCESS) {
        result = f.vkCreateFence(context_.device(), &fence, nullptr, &fence_);
    }
    if (result != VK_SUCCESS) {
        f.vkDestroyCommandPool(context_.device(), pool_, nullptr);
        context_.expect(result, name_);
    }
}

Submission::~Submission() {
    if (running_) { // waiting for it failed
        context_.wait_idle();
    }
    release_room();
    context_.free(staging_);
    context_.f().vkDestroyFence(context_.device(), fence_, nullptr);
    context_.f().vkDestroyCommandPool(context_.device(), pool_, nullptr);
}

void Submission::release_room() noexcept {
    const DeviceFunctions& f = context_.f();
    f.vkDestroyDescriptorPool(context_.device(), std::exchange(sets_pool_, VK_NULL_HANDLE), nullptr);
    f.vkDestroyQueryPool(context_.device(), std::exchange(queries_, VK_NULL_HANDLE), nullptr);
    context_.free(parameters_);
    room_ = 0;
}

void Submission::make_room(size_t n) {
    if (n <= room_) {
        return;
    }
    release_room();
    const DeviceFunctions& f = context_.f();
    const size_t room = std::max<size_t>(64, n + n / 2);
    parameters_ = context_.allocate(room * sizeof(ShaderNode), MemoryKind::parameters);
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, static_cast<uint32_t>(room) * context_.bindings()};
    VkDescriptorPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool.maxSets = static_cast<uint32_t>(room);
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    context_.expect(f.vkCreateDescriptorPool(context_.device(), &pool, nullptr, &sets_pool_), name_);
    const std::vector<VkDescriptorSetLayout> layouts(room, context_.set_layout());
    sets_.resize(room);
    VkDescriptorSetAllocateInfo sets{};
    sets.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    sets.descriptorPool = sets_pool_;
    sets.descriptorSetCount = static_cast<uint32_t>(room);
    sets.pSetLayouts = layouts.data();
    context_.expect(f.vkAllocateDescriptorSets(context_.device(), &sets, sets_.data()), name_);
    if (context_.physical().timestamp_bits > 0) {
        VkQueryPoolCreateInfo queries{};
        queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
        queries.queryCount = static_cast<uint32_t>(2 * room);
        context_.expect(f.vkCreateQueryPool(context_.device(), &queries, nullptr, &queries_), name_);
    }
    room_ = room;
}

void Submission::begin() {
    const DeviceFunctions& f = context_.f();
    context_.expect(f.vkResetCommandPool(context_.device(), pool_, 0), name_);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    context_.expect(f.vkBeginCommandBuffer(commands_, &begin), name_);
    staged_ = 0;
    timed_ = nullptr;
    kernels_.clear();
    hazards_.clear();
    n_barriers_ = 0;
    barrier(); // what was submitted before, by any backend of the device, may still run
}

void Submission::barrier() {
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask =
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    context_.f().vkCmdPipelineBarrier(commands_, work_stages, work_stages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void Submission::barrier_between() {
    barrier();
    ++n_barriers_;
}

void Submission::copy(const VulkanBuffer& source, size_t source_offset, VulkanBuffer& target, size_t target_offset,
                      size_t bytes) {
    const BoundBytes read{source.handle(), source_offset, source_offset + bytes};
    if (hazards_.barrier_before({&read, 1}, {target.handle(), target_offset, target_offset + bytes})) {
        barrier_between();
    }
    const VkBufferCopy region{source_offset, target_offset, bytes};
    context_.f().vkCmdCopyBuffer(commands_, source.handle(), target.handle(), 1, &region);
}

void Submission::stage(const std::byte* source, VulkanBuffer& target, size_t target_offset, size_t bytes) {
    if (staging_.buffer == VK_NULL_HANDLE) {
        staging_ = context_.allocate(staging_bytes, MemoryKind::host);
    }
    std::memcpy(static_cast<std::byte*>(staging_.mapped) + staged_, source, bytes);
    if (hazards_.barrier_before({}, {target.handle(), target_offset, target_offset + bytes})) {
        barrier_between();
    }
    const VkBufferCopy region{staged_, target_offset, bytes};
    context_.f().vkCmdCopyBuffer(commands_, staging_.buffer, target.handle(), 1, &region);
    staged_ += bytes;
}

BoundBytes Submission::window_of(const Tensor& t) const noexcept {
    const uint64_t alignment = context_.physical().buffer_alignment;
    return {static_cast<VulkanBuffer*>(t.buffer)->handle(), t.offset / alignment * alignment,
            (t.offset + n_bytes(t) + 3) / 4 * 4};
}

bool Submission::needs_barrier(const Dispatch& d) {
    std::array<BoundBytes, 4 + n_more_bindings> reads;
    size_t n = 0;
    for (size_t i = 0; i < 4; ++i) {
        if (d.bound[i] != nullptr) {
            reads[n++] = window_of(*d.bound[i]);
        }
    }
    for (size_t i = 0; i < d.n_more; ++i) {
        reads[n++] = window_of(*d.more[i]);
    }
    return hazards_.barrier_before(std::span(reads).first(n), window_of(*d.bound[4]));
}

void Submission::bind(size_t set, size_t record, Dispatch& d) {
    std::array<VkDescriptorBufferInfo, n_bindings + n_more_bindings> buffers{};
    buffers[0] = {parameters_.buffer, 0, VK_WHOLE_SIZE};
    const auto put = [&](size_t binding, const Tensor& t, ShaderLayout& layout) {
        const BoundBytes w = window_of(t);
        buffers[binding] = {w.buffer, w.start, w.end - w.start};
        layout.offset = static_cast<uint32_t>(t.offset - w.start);
    };
    for (size_t i = 0; i < d.bound.size(); ++i) {
        // What a shader does not look at is bound to the result: every binding must be something.
        put(i + 1, d.bound[i] != nullptr ? *d.bound[i] : *d.bound[4], d.node.t[i]);
    }
    auto* records = static_cast<ShaderNode*>(parameters_.mapped) + record;
    std::memcpy(records, &d.node, sizeof d.node);
    uint32_t n = n_bindings;
    if (d.n_more > 0) {
        ShaderNode more;
        for (size_t i = 0; i < n_more_bindings; ++i, ++n) {
            const Tensor& t = i < d.n_more ? *d.more[i] : *d.bound[4];
            more.t[i] = layout_of(t);
            put(n, t, more.t[i]);
        }
        std::memcpy(records + 1, &more, sizeof more);
    }
    VkWriteDescriptorSet write{}; // of consecutive bindings
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = sets_[set];
    write.descriptorCount = n;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = buffers.data();
    context_.f().vkUpdateDescriptorSets(context_.device(), 1, &write, 0, nullptr);
}

Compilation Submission::run(std::span<const NodeDispatches> pieces, std::span<Dispatch> dispatches, KernelLog* log) {
    const DeviceFunctions& f = context_.f();
    const auto more = std::count_if(dispatches.begin(), dispatches.end(), [](const Dispatch& d) { return d.n_more > 0; });
    make_room(dispatches.size() + more);
    timed_ = log != nullptr && (log->timed || log->spanned) ? log : nullptr;
    const bool each = timed_ != nullptr && timed_->timed;
    const bool stamped = timed_ != nullptr && queries_ != VK_NULL_HANDLE;
    if (stamped) {
        f.vkCmdResetQueryPool(commands_, queries_, 0, static_cast<uint32_t>(each ? 2 * pieces.size() : 2));
    }
    const auto stamp = [&](size_t query) {
        if (stamped) {
            f.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, queries_, static_cast<uint32_t>(query));
        }
    };
    Compilation compilation;
    VkPipeline bound = VK_NULL_HANDLE;
    uint32_t record = 0;
    for (size_t p = 0; p < pieces.size(); ++p) {
        for (size_t i = pieces[p].first; i < pieces[p].end; ++i) {
            Dispatch& d = dispatches[i];
            bind(i, record, d);
            if (needs_barrier(d)) {
                barrier_between();
            }
            if (i == pieces[p].first && (each || p == 0)) {
                stamp(2 * p);
            }
            const VkPipeline pipeline = context_.pipeline(d, compilation);
            if (pipeline != bound) {
                f.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
                bound = pipeline;
            }
            f.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, context_.pipeline_layout(), 0, 1, &sets_[i], 0,
                                      nullptr);
            f.vkCmdPushConstants(commands_, context_.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof record, &record);
            record += d.n_more > 0 ? 2 : 1;
            f.vkCmdDispatch(commands_, std::min(d.groups, max_groups), (d.groups + max_groups - 1) / max_groups, 1);
        }
        if (each || p + 1 == pieces.size()) {
            stamp(each ? 2 * p + 1 : 1);
        }
        if (log != nullptr) {
            (each ? kernels_ : log->kernels).push_back({pieces[p].node, pieces[p].count, pieces[p].kernel, 0, 0});
        }
    }
    return compilation;
}

void Submission::submit() {
    const DeviceFunctions& f = context_.f();
    VkMemoryBarrier to_host{};
    to_host.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    to_host.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    f.vkCmdPipelineBarrier(commands_, work_stages, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, nullptr, 0, nullptr);
    context_.expect(f.vkEndCommandBuffer(commands_), name_);
    submitted_ns_ = now_ns();
    context_.submit(commands_, fence_);
    running_ = true;
}

bool Submission::is_done() const { return context_.f().vkGetFenceStatus(context_.device(), fence_) == VK_SUCCESS; }

void Submission::wait() {
    const DeviceFunctions& f = context_.f();
    KernelLog* log = std::exchange(timed_, nullptr);
    context_.expect(f.vkWaitForFences(context_.device(), 1, &fence_, VK_TRUE, UINT64_MAX), name_);
    running_ = false;
    context_.expect(f.vkResetFences(context_.device(), 1, &fence_), name_);
    if (log == nullptr) {
        return;
    }
    if (log->timed) {
        read_times(kernels_);
        log->kernels.insert(log->kernels.end(), kernels_.begin(), kernels_.end());
    } else if (queries_ != VK_NULL_HANDLE) {
        KernelTime whole;
        read_times({&whole, 1});
        log->start_ns = whole.start_ns;
        log->end_ns = whole.end_ns;
    }
}

void Submission::read_times(std::span<KernelTime> ran) {
    const int64_t done_ns = now_ns();
    if (ran.empty()) {
        return;
    }
    if (queries_ == VK_NULL_HANDLE) { // all that is known
        for (KernelTime& k : ran) {
            k.start_ns = submitted_ns_;
            k.end_ns = done_ns;
        }
        return;
    }
    ticks_.assign(2 * ran.size(), 0);
    context_.expect(context_.f().vkGetQueryPoolResults(context_.device(), queries_, 0, static_cast<uint32_t>(ticks_.size()),
                                                       ticks_.size() * sizeof(uint64_t), ticks_.data(), sizeof(uint64_t),
                                                       VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                    name_);
    // Where the device can't read both clocks at once, its last tick is taken for the moment in which the work was seen to be
    // done.
    const ClockReading now = context_.read_clocks().value_or(ClockReading{ticks_.back(), done_ns});
    int64_t earliest = submitted_ns_;
    const auto host_time = [&](uint64_t tick) {
        earliest = std::clamp(now.ns - context_.ticks_to_ns(now.ticks - tick), earliest, std::max(earliest, done_ns));
        return earliest;
    };
    for (size_t p = 0; p < ran.size(); ++p) {
        ran[p].start_ns = host_time(ticks_[2 * p]);
        ran[p].end_ns = host_time(ticks_[2 * p + 1]);
    }
}

} // namespace schedscope::vulkan
