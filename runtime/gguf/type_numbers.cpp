#include "runtime/gguf/gguf.h"

#include <algorithm>
#include <array>

namespace schedscope::gguf {

namespace {

struct Number {
    uint32_t number;
    std::string_view name;
    Type type = Type::count; ///< count: can't be read
};

// Numbers that are missing were never used, or were taken back.
constexpr auto numbers = std::to_array<Number>({
    {0, "F32", Type::F32},
    {1, "F16", Type::F16},
    {2, "Q4_0", Type::Q4_0},
    {3, "Q4_1", Type::Q4_1},
    {6, "Q5_0", Type::Q5_0},
    {7, "Q5_1", Type::Q5_1},
    {8, "Q8_0", Type::Q8_0},
    {9, "Q8_1"},
    {10, "Q2_K", Type::Q2_K},
    {11, "Q3_K", Type::Q3_K},
    {12, "Q4_K", Type::Q4_K},
    {13, "Q5_K", Type::Q5_K},
    {14, "Q6_K", Type::Q6_K},
    {15, "Q8_K"},
    {16, "IQ2_XXS", Type::IQ2_XXS},
    {17, "IQ2_XS", Type::IQ2_XS},
    {18, "IQ3_XXS", Type::IQ3_XXS},
    {19, "IQ1_S", Type::IQ1_S},
    {20, "IQ4_NL", Type::IQ4_NL},
    {21, "IQ3_S", Type::IQ3_S},
    {22, "IQ2_S", Type::IQ2_S},
    {23, "IQ4_XS", Type::IQ4_XS},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64"},
    {29, "IQ1_M", Type::IQ1_M},
    {30, "BF16", Type::BF16},
    {31, "Q4_0_4_4"},
    {32, "Q4_0_4_8"},
    {33, "Q4_0_8_8"},
    {34, "TQ1_0", Type::TQ1_0},
    {35, "TQ2_0", Type::TQ2_0},
    {39, "MXFP4", Type::MXFP4},
});

} // namespace

std::optional<uint32_t> file_type_number(Type type) noexcept {
    const auto* found = std::find_if(numbers.begin(), numbers.end(), [type](const Number& n) { return n.type == type; });
    return found != numbers.end() && type != Type::count ? std::optional(found->number) : std::nullopt;
}

std::optional<Type> type_from_file_number(uint32_t number) noexcept {
    const auto* found = std::find_if(numbers.begin(), numbers.end(), [number](const Number& n) { return n.number == number; });
    return found != numbers.end() && found->type != Type::count ? std::optional(found->type) : std::nullopt;
}

std::string file_type_name(uint32_t number) {
    const auto* found = std::find_if(numbers.begin(), numbers.end(), [number](const Number& n) { return n.number == number; });
    return found != numbers.end() ? std::string(found->name) : "number " + std::to_string(number);
}

} // namespace schedscope::gguf
