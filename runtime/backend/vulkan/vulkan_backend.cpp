#include "runtime/backend/vulkan/vulkan_backend.h"

#include "runtime/backend/norm_fusion.h"
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

bool overlaps_any(const Window& w, const std::vector<Window>& others) noexcept {
    return std::any_of(others.begin(), others.end(),
                       [&w](const Window& o) { return w.buffer == o.buffer && w.start < o.end && o.start < w.end; });
}

} // namespace

VulkanBackend::VulkanBackend(Device& device, std::shared_ptr<Context> context, const BackendOptions& options)
    : device_(device), context_(std::move(context)), name_(options.name.empty() ? std::string(device.name()) : options.name),
      fusion_(options.fusion), timestamps_(context_->physical().timestamp_bits > 0) {
    const DeviceFunctions& f = context_->f();
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = context_->physical().queue_family;
    check(f.vkCreateCommandPool(context_->device(), &pool, nullptr, &commands_pool_), name_);
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = commands_pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    check(f.vkAllocateCommandBuffers(context_->device(), &commands, &commands_), name_);
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    check(f.vkCreateFence(context_->device(), &fence, nullptr, &fence_), name_);
}

VulkanBackend::~VulkanBackend() {
    if (running_) {
        context_->f().vkWaitForFences(context_->device(), 1, &fence_, VK_TRUE, UINT64_MAX);
    }
    release();
    context_->f().vkDestroyFence(context_->device(), fence_, nullptr);
    context_->f().vkDestroyCommandPool(context_->device(), commands_pool_, nullptr);
}

void VulkanBackend::optimise(SplitGraph& split) {
    if (fusion_) {
        find_norm_groups(split);
    }
}

void VulkanBackend::release() noexcept {
    const DeviceFunctions& f = context_->f();
    if (sets_pool_ != VK_NULL_HANDLE) {
        f.vkDestroyDescriptorPool(context_->device(), sets_pool_, nullptr);
        sets_pool_ = VK_NULL_HANDLE;
    }
    if (queries_ != VK_NULL_HANDLE) {
        f.vkDestroyQueryPool(context_->device(), queries_, nullptr);
        queries_ = VK_NULL_HANDLE;
    }
    context_->free(nodes_);
    room_ = 0;
}

void VulkanBackend::make_room(size_t n) {
    if (n <= room_) {
        return;
    }
    release();
    const DeviceFunctions& f = context_->f();
    const size_t room = std::max<size_t>(256, n + n / 2);
    nodes_ = context_->allocate(room * sizeof(ShaderNode), MemoryKind::host);
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, static_cast<uint32_t>(room) * n_bindings};
    VkDescriptorPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool.maxSets = static_cast<uint32_t>(room);
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    check(f.vkCreateDescriptorPool(context_->device(), &pool, nullptr, &sets_pool_), name_);
    const std::vector<VkDescriptorSetLayout> layouts(room, context_->set_layout());
    sets_.resize(room);
    VkDescriptorSetAllocateInfo sets{};
    sets.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    sets.descriptorPool = sets_pool_;
    sets.descriptorSetCount = static_cast<uint32_t>(room);
    sets.pSetLayouts = layouts.data();
    check(f.vkAllocateDescriptorSets(context_->device(), &sets, sets_.data()), name_);
    if (timestamps_) {
        VkQueryPoolCreateInfo queries{};
        queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
        queries.queryCount = static_cast<uint32_t>(2 * room);
        check(f.vkCreateQueryPool(context_->device(), &queries, nullptr, &queries_), name_);
    }
    room_ = room;
}

void VulkanBackend::collect(const SplitGraph& split, int32_t first, int32_t count) {
    const std::span<Tensor* const> nodes(split.nodes);
    dispatches_.clear();
    pieces_.clear();
    auto group =
        std::find_if(split.groups.begin(), split.groups.end(), [first](const FusionGroup& g) { return g.first >= first; });
    for (int32_t i = first; i < first + count;) {
        int32_t n = 1;
        if (group != split.groups.end() && group->first == i) {
            const bool whole = i + group->count <= first + count;
            n = whole && norm_group_is_safe(*nodes[static_cast<size_t>(i)], *nodes[static_cast<size_t>(i) + 1]) ? group->count
                                                                                                                : 1;
            ++group;
        }
        Piece piece{i, n, dispatches_.size(), 0};
        append_dispatches(nodes.subspan(static_cast<size_t>(i), static_cast<size_t>(n)),
                          {.tiles = !context_->physical().barriers_are_dear}, dispatches_);
        piece.end = dispatches_.size();
        if (piece.end > piece.first) {
            pieces_.push_back(piece);
        }
        i += n;
    }
}

Window VulkanBackend::window_of(const Tensor& t) const noexcept {
    const uint64_t alignment = context_->physical().buffer_alignment;
    return {static_cast<VulkanBuffer*>(t.buffer)->handle(), t.offset / alignment * alignment,
            (t.offset + n_bytes(t) + 3) / 4 * 4};
}

bool VulkanBackend::needs_barrier(const Dispatch& d) {
    const Window result = window_of(*d.bound[4]);
    std::array<Window, 4> sources;
    size_t n = 0;
    for (size_t i = 0; i < sources.size(); ++i) {
        if (d.bound[i] != nullptr) {
            sources[n++] = window_of(*d.bound[i]);
        }
    }
    const auto end = sources.begin() + n;
    const bool hazard = overlaps_any(result, written_) || overlaps_any(result, read_) ||
                        std::any_of(sources.begin(), end, [this](const Window& w) { return overlaps_any(w, written_); });
    if (hazard) {
        written_.clear();
        read_.clear();
    }
    written_.push_back(result);
    read_.insert(read_.end(), sources.begin(), end);
    return hazard;
}

void VulkanBackend::bind(size_t index) {
    Dispatch& d = dispatches_[index];
    std::array<VkDescriptorBufferInfo, n_bindings> buffers{};
    std::array<VkWriteDescriptorSet, n_bindings> writes{};
    buffers[0] = {nodes_.buffer, 0, VK_WHOLE_SIZE};
    for (size_t i = 0; i < d.bound.size(); ++i) {
        // What a shader does not look at is bound to the result: every binding must be something.
        const Tensor& t = d.bound[i] != nullptr ? *d.bound[i] : *d.bound[4];
        const Window w = window_of(t);
        buffers[i + 1] = {w.buffer, w.start, w.end - w.start};
        d.node.t[i].offset = static_cast<uint32_t>(t.offset - w.start);
    }
    for (uint32_t i = 0; i < n_bindings; ++i) {
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = sets_[index];
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &buffers[i];
    }
    context_->f().vkUpdateDescriptorSets(context_->device(), n_bindings, writes.data(), 0, nullptr);
    std::memcpy(static_cast<ShaderNode*>(nodes_.mapped) + index, &d.node, sizeof d.node);
}

void VulkanBackend::record(bool timed) {
    const DeviceFunctions& f = context_->f();
    check(f.vkResetCommandPool(context_->device(), commands_pool_, 0), name_);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(f.vkBeginCommandBuffer(commands_, &begin), name_);
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    const auto wait_for_shaders = [&] {
        f.vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                               &barrier, 0, nullptr, 0, nullptr);
    };
    if (timed) {
        f.vkCmdResetQueryPool(commands_, queries_, 0, static_cast<uint32_t>(2 * pieces_.size()));
    }
    written_.clear();
    read_.clear();
    // Another backend of this device may have queued work before, or a copy has filled what is read here.
    VkMemoryBarrier before = barrier;
    before.srcAccessMask |= VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    f.vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &before, 0, nullptr, 0, nullptr);
    VkPipeline bound = VK_NULL_HANDLE;
    for (size_t p = 0; p < pieces_.size(); ++p) {
        for (size_t i = pieces_[p].first; i < pieces_[p].end; ++i) {
            const Dispatch& d = dispatches_[i];
            bind(i);
            if (needs_barrier(d)) {
                wait_for_shaders();
            }
            if (timed && i == pieces_[p].first) {
                f.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, queries_, static_cast<uint32_t>(2 * p));
            }
            const VkPipeline pipeline = context_->pipeline(d.kernel);
            if (pipeline != bound) {
                f.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
                bound = pipeline;
            }
            f.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, context_->pipeline_layout(), 0, 1, &sets_[i], 0,
                                      nullptr);
            const auto index = static_cast<uint32_t>(i);
            f.vkCmdPushConstants(commands_, context_->pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof index, &index);
            f.vkCmdDispatch(commands_, std::min(d.groups, max_groups), (d.groups + max_groups - 1) / max_groups, 1);
        }
        if (timed) {
            f.vkCmdWriteTimestamp(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, queries_, static_cast<uint32_t>(2 * p + 1));
        }
    }
    // What was written is to be seen by the host and by copies.
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    f.vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                           VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    check(f.vkEndCommandBuffer(commands_), name_);
}

void VulkanBackend::compute(const SplitGraph& split, int32_t first, int32_t count, std::vector<KernelTime>* times) {
    synchronize();
    collect(split, first, count);
    if (pieces_.empty()) {
        return;
    }
    make_room(dispatches_.size());
    record(times != nullptr && timestamps_);
    submitted_ns_ = now_ns();
    context_->submit(commands_, fence_);
    running_ = true;
    times_ = times;
}

void VulkanBackend::synchronize() {
    if (!running_) {
        return;
    }
    running_ = false;
    std::vector<KernelTime>* times = std::exchange(times_, nullptr);
    const DeviceFunctions& f = context_->f();
    check(f.vkWaitForFences(context_->device(), 1, &fence_, VK_TRUE, UINT64_MAX), name_);
    check(f.vkResetFences(context_->device(), 1, &fence_), name_);
    if (times == nullptr) {
        return;
    }
    const int64_t done_ns = now_ns();
    std::vector<uint64_t> ticks(2 * pieces_.size(), 0);
    if (timestamps_) {
        check(f.vkGetQueryPoolResults(context_->device(), queries_, 0, static_cast<uint32_t>(ticks.size()),
                                      ticks.size() * sizeof(uint64_t), ticks.data(), sizeof(uint64_t),
                                      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
              name_);
    }
    // The device's clock has its own zero: its last tick is taken to be not later than now, its first not earlier than the submission.
    const uint32_t bits = context_->physical().timestamp_bits;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    const auto elapsed = [&](uint64_t tick) {
        return timestamps_
                   ? static_cast<int64_t>(static_cast<double>((tick - ticks.front()) & mask) * context_->physical().timestamp_ns)
                   : 0;
    };
    const int64_t start_ns = std::max(submitted_ns_, done_ns - elapsed(ticks.back()));
    for (size_t p = 0; p < pieces_.size(); ++p) {
        KernelTime time;
        time.first = pieces_[p].node;
        time.count = pieces_[p].count;
        time.kernel = dispatches_[pieces_[p].first].kernel;
        // The two clocks do not run alike: nothing ends after it was seen to be done.
        time.start_ns = timestamps_ ? std::min(done_ns, start_ns + elapsed(ticks[2 * p])) : submitted_ns_;
        time.end_ns = timestamps_ ? std::clamp(start_ns + elapsed(ticks[2 * p + 1]), time.start_ns, done_ns) : done_ns;
        times->push_back(time);
    }
}

} // namespace schedscope::vulkan
