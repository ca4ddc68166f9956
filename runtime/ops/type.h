#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace schedscope {

/// Element types. Numbers are our own; the GGUF reader and writer map the file's.
enum class Type : uint8_t {
    F32,
    F16,
    BF16,
    I8,
    I16,
    I32,
    I64,
    F64,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    IQ4_NL,
    IQ4_XS,
    MXFP4,
    TQ1_0,
    TQ2_0,
    IQ1_S,
    IQ1_M,
    IQ2_XXS,
    IQ2_XS,
    IQ2_S,
    IQ3_XXS,
    IQ3_S,
    count,
};

struct TypeTraits {
    std::string_view name; ///< lower case, as ggml programs print it: "f32", "q8_0", "q4_K"
    int64_t block;         ///< elements in a block; 1 unless quantised
    size_t bytes;          ///< bytes of a block
    bool quantised() const noexcept { return block > 1; }
};

const TypeTraits& traits(Type type) noexcept;

/// F32, F16 or BF16.
constexpr bool is_float(Type type) noexcept { return type == Type::F32 || type == Type::F16 || type == Type::BF16; }

inline std::string_view type_name(Type type) noexcept { return traits(type).name; }
std::vector<std::string_view> type_names(); ///< of all types, in their order

/// Any case is accepted ("Q4_K", "q4_k"). Nothing if there is no such type.
std::optional<Type> type_from_name(std::string_view name) noexcept;

/// Bytes of `n` elements in a row; n is a multiple of the block.
inline size_t row_bytes(Type type, int64_t n) noexcept {
    const TypeTraits& t = traits(type);
    return (n / t.block) * t.bytes;
}

} // namespace schedscope
