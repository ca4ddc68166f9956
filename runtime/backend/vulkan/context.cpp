#include "runtime/backend/vulkan/context.h"

#include "runtime/error.h"
#include "shaders/shader_table.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace schedscope::vulkan {

namespace {

constexpr size_t staging_bytes = size_t{4} << 20U;

} // namespace

Context::Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical, std::string name)
    : instance_(std::move(instance)), physical_(physical), name_(std::move(name)) {
    const float priority = 1.0F;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = physical_.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDevice16BitStorageFeatures storage{};
    storage.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
    storage.storageBuffer16BitAccess = physical_.features.storage_16bit ? VK_TRUE : VK_FALSE;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &storage;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    check(instance_->f().vkCreateDevice(physical_.handle, &info, nullptr, &device_), name_);
    functions_.load(instance_->f().vkGetDeviceProcAddr, device_);
    functions_.vkGetDeviceQueue(device_, physical_.queue_family, 0, &queue_);

    std::array<VkDescriptorSetLayoutBinding, n_bindings> bindings{};
    for (uint32_t i = 0; i < n_bindings; ++i) {
        bindings[i].binding = i;
        bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i].descriptorCount = 1;
        bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.bindingCount = n_bindings;
    set.pBindings = bindings.data();
    check(functions_.vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_), name_);
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &push;
    check(functions_.vkCreatePipelineLayout(device_, &layout, nullptr, &pipeline_layout_), name_);

    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = physical_.queue_family;
    check(functions_.vkCreateCommandPool(device_, &pool, nullptr, &transfer_pool_), name_);
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = transfer_pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    check(functions_.vkAllocateCommandBuffers(device_, &commands, &transfer_commands_), name_);
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    check(functions_.vkCreateFence(device_, &fence, nullptr, &transfer_fence_), name_);
}

Context::~Context() {
    functions_.vkDeviceWaitIdle(device_);
    free(staging_);
    functions_.vkDestroyFence(device_, transfer_fence_, nullptr);
    functions_.vkDestroyCommandPool(device_, transfer_pool_, nullptr);
    for (const auto& [name, pipeline] : pipelines_) {
        functions_.vkDestroyPipeline(device_, pipeline, nullptr);
    }
    functions_.vkDestroyPipelineLayout(device_, pipeline_layout_, nullptr);
    functions_.vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
    functions_.vkDestroyDevice(device_, nullptr);
}

VkPipeline Context::pipeline(std::string_view shader) {
    const std::lock_guard lock(pipeline_mutex_);
    if (const auto found = pipelines_.find(shader); found != pipelines_.end()) {
        return found->second;
    }
    const auto modules = shader_modules();
    const auto source =
        std::find_if(modules.begin(), modules.end(), [shader](const ShaderModule& m) { return m.name == shader; });
    if (source == modules.end()) {
        throw Error(ErrorKind::device, name_ + ": there is no shader " + std::string(shader));
    }
    VkShaderModuleCreateInfo code{};
    code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    code.codeSize = source->bytes;
    code.pCode = source->spirv;
    VkShaderModule module = VK_NULL_HANDLE;
    check(functions_.vkCreateShaderModule(device_, &code, nullptr, &module), name_ + " shader " + std::string(shader));
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    // Constant 0 is the size of workgroups that reduce rows (reduce_group.glsl).
    const uint32_t group = physical_.barriers_are_dear ? physical_.subgroup_size : 128;
    const VkSpecializationMapEntry entry{0, 0, sizeof group};
    const VkSpecializationInfo constants{1, &entry, sizeof group, &group};
    info.stage.pSpecializationInfo = &constants;
    info.layout = pipeline_layout_;
    VkPipeline made = VK_NULL_HANDLE;
    const VkResult result = functions_.vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &made);
    functions_.vkDestroyShaderModule(device_, module, nullptr);
    check(result, name_ + " shader " + std::string(shader));
    pipelines_.emplace(shader, made);
    return made;
}

std::optional<uint32_t> Context::memory_type(uint32_t allowed, VkMemoryPropertyFlags wanted) const {
    for (uint32_t i = 0; i < physical_.memory.memoryTypeCount; ++i) {
        if ((allowed & (1U << i)) != 0 && (physical_.memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return i;
        }
    }
    return std::nullopt;
}

Allocation Context::allocate(size_t bytes, MemoryKind kind) {
    constexpr VkMemoryPropertyFlags addressable = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const std::string what = name_ + ": no memory for a buffer of " + std::to_string(bytes) + " bytes";
    Allocation made;
    try {
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = std::max<size_t>(bytes, 4);
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        check(functions_.vkCreateBuffer(device_, &info, nullptr, &made.buffer), what);
        VkMemoryRequirements needs{};
        functions_.vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
        // Best first; the last one is what every device has.
        const std::array<VkMemoryPropertyFlags, 3> device_choice = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                                                        (physical_.unified_memory ? addressable : 0U),
                                                                    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0U};
        const std::array<VkMemoryPropertyFlags, 3> host_choice = {addressable | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, addressable,
                                                                  addressable};
        std::optional<uint32_t> type;
        for (const VkMemoryPropertyFlags wanted : kind == MemoryKind::device ? device_choice : host_choice) {
            type = type ? type : memory_type(needs.memoryTypeBits, wanted);
        }
        if (!type || (physical_.max_allocation != 0 && needs.size > physical_.max_allocation)) {
            throw Error(ErrorKind::device, what + ": the driver allocates at most " + std::to_string(physical_.max_allocation));
        }
        VkMemoryAllocateInfo memory{};
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        memory.allocationSize = needs.size;
        memory.memoryTypeIndex = *type;
        check(functions_.vkAllocateMemory(device_, &memory, nullptr, &made.memory), what);
        check(functions_.vkBindBufferMemory(device_, made.buffer, made.memory, 0), what);
        if ((physical_.memory.memoryTypes[*type].propertyFlags & addressable) == addressable) {
            check(functions_.vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped), what);
        }
    } catch (...) {
        free(made);
        throw;
    }
    return made;
}

void Context::free(Allocation& allocation) noexcept {
    if (allocation.buffer != VK_NULL_HANDLE) {
        functions_.vkDestroyBuffer(device_, allocation.buffer, nullptr);
    }
    if (allocation.memory != VK_NULL_HANDLE) {
        functions_.vkFreeMemory(device_, allocation.memory, nullptr);
    }
    allocation = {};
}

void Context::submit(VkCommandBuffer commands, VkFence fence) {
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    const std::lock_guard lock(queue_mutex_);
    check(functions_.vkQueueSubmit(queue_, 1, &info, fence), name_);
}

template <typename Record> void Context::run_now(Record record) {
    check(functions_.vkResetCommandPool(device_, transfer_pool_, 0), name_);
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(functions_.vkBeginCommandBuffer(transfer_commands_, &begin), name_);
    record(transfer_commands_);
    check(functions_.vkEndCommandBuffer(transfer_commands_), name_);
    submit(transfer_commands_, transfer_fence_);
    check(functions_.vkWaitForFences(device_, 1, &transfer_fence_, VK_TRUE, UINT64_MAX), name_);
    check(functions_.vkResetFences(device_, 1, &transfer_fence_), name_);
}

void Context::upload(VkBuffer target, size_t offset, const void* source, size_t bytes) {
    const std::lock_guard lock(transfer_mutex_);
    if (staging_.buffer == VK_NULL_HANDLE) {
        staging_ = allocate(staging_bytes, MemoryKind::host);
    }
    for (size_t done = 0; done < bytes; done += staging_bytes) {
        const size_t piece = std::min(staging_bytes, bytes - done);
        std::memcpy(staging_.mapped, static_cast<const std::byte*>(source) + done, piece);
        run_now([&](VkCommandBuffer commands) {
            const VkBufferCopy region{0, offset + done, piece};
            functions_.vkCmdCopyBuffer(commands, staging_.buffer, target, 1, &region);
        });
    }
}

void Context::download(VkBuffer source, size_t offset, void* target, size_t bytes) {
    const std::lock_guard lock(transfer_mutex_);
    if (staging_.buffer == VK_NULL_HANDLE) {
        staging_ = allocate(staging_bytes, MemoryKind::host);
    }
    for (size_t done = 0; done < bytes; done += staging_bytes) {
        const size_t piece = std::min(staging_bytes, bytes - done);
        run_now([&](VkCommandBuffer commands) {
            const VkBufferCopy region{offset + done, 0, piece};
            functions_.vkCmdCopyBuffer(commands, source, staging_.buffer, 1, &region);
        });
        std::memcpy(static_cast<std::byte*>(target) + done, staging_.mapped, piece);
    }
}

void Context::copy(VkBuffer source, size_t source_offset, VkBuffer target, size_t target_offset, size_t bytes) {
    const std::lock_guard lock(transfer_mutex_);
    run_now([&](VkCommandBuffer commands) {
        const VkBufferCopy region{source_offset, target_offset, bytes};
        functions_.vkCmdCopyBuffer(commands, source, target, 1, &region);
    });
}

void Context::fill(VkBuffer target, size_t bytes, uint8_t value) {
    const std::lock_guard lock(transfer_mutex_);
    const uint32_t word = value * 0x01010101U;
    run_now([&](VkCommandBuffer commands) {
        functions_.vkCmdFillBuffer(commands, target, 0, std::max<size_t>(bytes, 4) / 4 * 4, word);
    });
}

} // namespace schedscope::vulkan
