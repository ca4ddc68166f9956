#pragma once

#include "runtime/ops/type.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace schedscope::vulkan {

/// A name that is put together. Each node of each evaluation needs one, so it stays off the heap; a text that is too long is no
/// shader's.
class NameParts {
public:
    NameParts(std::string_view text) { add(text); }
    NameParts(const char* text) { add(text); }
    NameParts& add(std::string_view text) noexcept {
        const size_t n = std::min(text.size(), letters_.size() - size_);
        std::copy_n(text.data(), n, letters_.data() + size_);
        size_ += n;
        return *this;
    }
    std::string_view text() const noexcept { return {letters_.data(), size_}; }

private:
    std::array<char, 64> letters_{};
    size_t size_ = 0;
};

/// The name of a shader as the program's table has it: the family's, then the types'. Throws Error(device) when there is none.
std::string_view shader_name(const NameParts& family, std::initializer_list<Type> types);

} // namespace schedscope::vulkan
