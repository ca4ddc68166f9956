#include "runtime/backend/vulkan/features.h"

#include "runtime/backend/vulkan/operators/operators.h"

namespace schedscope {

namespace {

bool needs_16bit(Type type) noexcept { return type != Type::F32 && type != Type::I32 && type != Type::I64; }

/// The device's limits on one of a node's tensors.
Answer fits(const VulkanFeatures& features, const Tensor& t) {
    if (needs_16bit(t.type) && !features.storage_16bit) {
        return Answer::no(Refusal::feature, "the device has no 16-bit storage buffers");
    }
    if (n_bytes(t) > features.max_storage_range) {
        return Answer::no(Refusal::size_limit, "a tensor is larger than the device's storage range");
    }
    return n_elements(t) <= UINT32_MAX ? Answer{}
                                       : Answer::no(Refusal::size_limit, "a tensor has more elements than 32 bits count");
}

} // namespace

VulkanFeatures all_vulkan_features() noexcept { return {.storage_16bit = true, .max_storage_range = UINT32_MAX}; }

Answer vulkan_supports_op(const VulkanFeatures& features, const Tensor& node) {
    if (!is_computed(node.op)) {
        return {};
    }
    const vulkan::VulkanOperator* entry = vulkan::find_operator(node.op);
    if (entry == nullptr) {
        return Answer::no(Refusal::op, "there is no shader for it");
    }
    if (const Answer a = entry->supports(node); !a.yes) {
        return a;
    }
    if (const Answer a = fits(features, node); !a.yes) {
        return a;
    }
    for (const Tensor* source : node.src) {
        if (source != nullptr) {
            if (const Answer a = fits(features, *source); !a.yes) {
                return a;
            }
        }
    }
    return {};
}

} // namespace schedscope
