#include "runtime/backend/vulkan/shader_name.h"

#include "runtime/error.h"
#include "shaders/shader_table.h"

#include <string>
#include <unordered_set>

namespace schedscope::vulkan {

std::string_view shader_name(const NameParts& family, std::initializer_list<Type> types) {
    static const std::unordered_set<std::string_view> names = [] {
        std::unordered_set<std::string_view> all;
        for (const ShaderModule& module : shader_modules()) {
            all.insert(module.name);
        }
        return all;
    }();
    NameParts name = family;
    for (const Type type : types) {
        name.add("_").add(type_name(type));
    }
    const auto found = names.find(name.text());
    if (found == names.end()) {
        throw Error(ErrorKind::device, "Vulkan: there is no shader " + std::string(name.text()));
    }
    return *found;
}

} // namespace schedscope::vulkan
