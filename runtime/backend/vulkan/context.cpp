#include "runtime/backend/vulkan/context.h"

#include "runtime/clock.h"
#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/number_words.h"
#include "shaders/shader_table.h"

#include <algorithm>
#include <array>

namespace schedscope::vulkan {

namespace {

/// Kinds of memory for a purpose, best first; every device has the last one.
std::array<VkMemoryPropertyFlags, 3> choices(MemoryKind kind, bool unified) noexcept {
    constexpr VkMemoryPropertyFlags near = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    constexpr VkMemoryPropertyFlags addressable = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    switch (kind) {
    case MemoryKind::host: return {addressable | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, addressable, addressable};
    case MemoryKind::parameters: return {addressable | near, addressable, addressable};
    default:
        return unified ? std::array{near | addressable, addressable, addressable}
                       : std::array{near, near, VkMemoryPropertyFlags{0}};
    }
}

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
    constexpr const char* clocks = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &storage;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = physical_.reads_clocks ? 1 : 0;
    info.ppEnabledExtensionNames = &clocks;
    check(instance_->f().vkCreateDevice(physical_.handle, &info, nullptr, &device_), name_);
    functions_.load(instance_->f().vkGetDeviceProcAddr, device_);
    functions_.vkGetDeviceQueue(device_, physical_.queue_family, 0, &queue_);
    try {
        make_layouts();
        transfer_ = std::make_unique<StagingTransfer>(*this);
    } catch (...) {
        destroy();
        throw;
    }
}

void Context::make_layouts() {
    bindings_ = physical_.max_bindings >= n_bindings + n_more_bindings ? n_bindings + n_more_bindings : n_bindings;
    std::array<VkDescriptorSetLayoutBinding, n_bindings + n_more_bindings> bindings{};
    for (uint32_t i = 0; i < bindings_; ++i) {
        bindings[i].binding = i;
        bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i].descriptorCount = 1;
        bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.bindingCount = bindings_;
    set.pBindings = bindings.data();
    expect(functions_.vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_), name_);
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &push;
    expect(functions_.vkCreatePipelineLayout(device_, &layout, nullptr, &pipeline_layout_), name_);
}

Context::~Context() { destroy(); }

void Context::expect(VkResult result, const std::string& what) {
    if (result == VK_ERROR_DEVICE_LOST) {
        lost_ = true;
    }
    check(result, what);
}

void Context::wait_idle() noexcept {
    const std::lock_guard lock(queue_mutex_);
    functions_.vkDeviceWaitIdle(device_);
}

void Context::destroy() noexcept {
    wait_idle();
    transfer_.reset();
    for (const auto& [key, pipeline] : pipelines_) {
        functions_.vkDestroyPipeline(device_, pipeline, nullptr);
    }
    functions_.vkDestroyPipelineLayout(device_, pipeline_layout_, nullptr);
    functions_.vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
    functions_.vkDestroyDevice(device_, nullptr);
}

std::optional<ClockReading> Context::read_clocks() const {
    if (!physical_.reads_clocks) {
        return std::nullopt;
    }
    std::array<VkCalibratedTimestampInfoEXT, 2> wanted{};
    for (VkCalibratedTimestampInfoEXT& info : wanted) {
        info.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT;
    }
    wanted[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
    wanted[1].timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT; // what steady_clock reads on Linux
    std::array<uint64_t, 2> now{};
    uint64_t deviation = 0;
    if (functions_.vkGetCalibratedTimestampsEXT(device_, 2, wanted.data(), now.data(), &deviation) != VK_SUCCESS) {
        return std::nullopt;
    }
    return ClockReading{now[0], static_cast<int64_t>(now[1])};
}

int64_t Context::ticks_to_ns(uint64_t difference) const noexcept {
    const uint32_t bits = physical_.timestamp_bits;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    return static_cast<int64_t>(to_double(difference & mask) * physical_.timestamp_ns);
}

DispatchOptions Context::dispatch_options() const noexcept {
    const bool dear = physical_.barriers_are_dear;
    // Eight neighbours give each other the columns' elements.
    return {.row_per_invocation = dear && physical_.subgroup_size >= 8,
            .group = dear ? physical_.subgroup_size : 128,
            .groups_wanted = dear ? 2 : 128,
            .most_sources = bindings_ - 2};
}

VkPipeline Context::pipeline(const Dispatch& dispatch, Compilation& compilation) {
    const std::string_view shader = dispatch.kernel;
    const std::lock_guard lock(pipeline_mutex_);
    if (const auto found = pipelines_.find({shader, dispatch.variant, dispatch.afterwards}); found != pipelines_.end()) {
        return found->second;
    }
    const int64_t start_ns = now_ns();
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
    expect(functions_.vkCreateShaderModule(device_, &code, nullptr, &module), name_ + " shader " + std::string(shader));
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    // Constant 0 is the size of workgroups that reduce rows, 1 the shader's variant, 2 what follows in a fused kernel, 3
    // and 4 which types a SPIR-V for several is to read.
    const std::array<uint32_t, 5> values = {dispatch_options().group, dispatch.variant, dispatch.afterwards, source->types[0],
                                            source->types[1]};
    constexpr auto word = sizeof(uint32_t);
    std::array<VkSpecializationMapEntry, values.size()> entries{};
    for (uint32_t i = 0; i < entries.size(); ++i) {
        entries[i] = {i, static_cast<uint32_t>(i * word), word};
    }
    const VkSpecializationInfo constants{entries.size(), entries.data(), sizeof values, values.data()};
    info.stage.pSpecializationInfo = &constants;
    info.layout = pipeline_layout_;
    VkPipeline made = VK_NULL_HANDLE;
    const VkResult result = functions_.vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &made);
    functions_.vkDestroyShaderModule(device_, module, nullptr);
    expect(result, name_ + " shader " + std::string(shader));
    pipelines_.emplace(PipelineKey{source->name, dispatch.variant, dispatch.afterwards}, made);
    compilation.start_ns = compilation.n_shaders++ == 0 ? start_ns : compilation.start_ns;
    compilation.end_ns = now_ns();
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
    const std::string what = name_ + ": no memory for a buffer of " + std::to_string(bytes) + " bytes (the device has " +
                             words::memory(physical_.memory_bytes) + ")";
    Allocation made;
    try {
        VkBufferCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
        info.size = std::max<size_t>(bytes, 4);
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        expect(functions_.vkCreateBuffer(device_, &info, nullptr, &made.buffer), what);
        VkMemoryRequirements needs{};
        functions_.vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
        std::optional<uint32_t> type;
        for (const VkMemoryPropertyFlags wanted : choices(kind, physical_.unified_memory)) {
            type = type ? type : memory_type(needs.memoryTypeBits, wanted);
        }
        if (!type || (physical_.max_allocation != 0 && needs.size > physical_.max_allocation)) {
            throw Error(ErrorKind::device, what + ": the driver allocates at most " + std::to_string(physical_.max_allocation));
        }
        VkMemoryAllocateInfo memory{};
        memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        memory.allocationSize = needs.size;
        memory.memoryTypeIndex = *type;
        expect(functions_.vkAllocateMemory(device_, &memory, nullptr, &made.memory), what);
        expect(functions_.vkBindBufferMemory(device_, made.buffer, made.memory, 0), what);
        // Reading a discrete device's memory through the bus is slow: what is its own is staged, even where the host could
        // address it.
        if (kind != MemoryKind::device || physical_.unified_memory) {
            expect(functions_.vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped), what);
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
    expect(functions_.vkQueueSubmit(queue_, 1, &info, fence), name_);
}

} // namespace schedscope::vulkan
