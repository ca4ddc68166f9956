#pragma once

#include <cstdint>
#include <string_view>

namespace schedscope {

/// How the CPU multiplies quantised weights: as they are, with floats; or with the other factor rounded to whole numbers of 8
/// bits, 32 with one scale, as ggml does: several times as fast, each factor off by half a 127th of the largest of its 32. The
/// same of weights of BF16 where the processor multiplies such numbers, with two columns or more rounded to BF16.
enum class Products : uint8_t { floats, int8 };

/// "float" "int8".
constexpr std::string_view products_name(Products products) noexcept { return products == Products::floats ? "float" : "int8"; }

} // namespace schedscope
