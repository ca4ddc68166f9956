#include "runtime/ops/type.h"

#include "runtime/letter_case.h"
#include "runtime/numbers.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace schedscope {

namespace {

// In the order of Type. Block sizes and bytes are the GGUF format's.
constexpr std::array<TypeTraits, ordinal(Type::count)> table = {{
    {"f32", 1, 4},      {"f16", 1, 2},        {"bf16", 1, 2},      {"i8", 1, 1},       {"i16", 1, 2},        {"i32", 1, 4},
    {"i64", 1, 8},      {"f64", 1, 8},        {"q4_0", 32, 18},    {"q4_1", 32, 20},   {"q5_0", 32, 22},     {"q5_1", 32, 24},
    {"q8_0", 32, 34},   {"q2_K", 256, 84},    {"q3_K", 256, 110},  {"q4_K", 256, 144}, {"q5_K", 256, 176},   {"q6_K", 256, 210},
    {"iq4_nl", 32, 18}, {"iq4_xs", 256, 136}, {"mxfp4", 32, 17},   {"tq1_0", 256, 54}, {"tq2_0", 256, 66},   {"iq1_s", 256, 50},
    {"iq1_m", 256, 56}, {"iq2_xxs", 256, 66}, {"iq2_xs", 256, 74}, {"iq2_s", 256, 82}, {"iq3_xxs", 256, 98}, {"iq3_s", 256, 110},
}};

} // namespace

std::vector<std::string_view> type_names() {
    std::vector<std::string_view> names;
    std::transform(table.begin(), table.end(), std::back_inserter(names), [](const TypeTraits& type) { return type.name; });
    return names;
}

const TypeTraits& traits(Type type) noexcept { return table[ordinal(type)]; }

std::optional<Type> type_from_name(std::string_view name) noexcept {
    for (size_t i = 0; i < table.size(); ++i) {
        if (same_ignoring_case(table[i].name, name)) {
            return static_cast<Type>(i);
        }
    }
    return std::nullopt;
}

} // namespace schedscope
