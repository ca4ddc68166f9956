#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::gguf {

/// The format's own numbers.
enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64, count };

std::string_view value_type_name(ValueType type) noexcept; ///< "u8" … "f64", "bool", "string", "array"
size_t value_type_bytes(ValueType type) noexcept;          ///< of a scalar; 0 for strings and arrays

/// One metadata value, as it lies in the file: a view that is valid as long as the file it was read from.
/// The `as_…` functions give nothing when the value is of another kind or out of the wanted range. Integers of any width and
/// booleans are integers (0, 1); floats of both widths and integers are floats.
struct MetadataValue {
    ValueType type = ValueType::u8;
    ValueType element = ValueType::u8; ///< arrays: type of the elements, never `array`
    uint64_t count = 1;                ///< arrays: number of elements
    std::span<const std::byte> bytes;  ///< little endian; a string without its length; elements one behind the other

    bool is_array() const noexcept { return type == ValueType::array; }
    std::optional<int64_t> as_i64() const noexcept;
    std::optional<uint64_t> as_u64() const noexcept;
    std::optional<uint32_t> as_u32() const noexcept;
    std::optional<int32_t> as_i32() const noexcept;
    std::optional<double> as_f64() const noexcept;
    std::optional<bool> as_bool() const noexcept;
    std::optional<std::string_view> as_string() const noexcept;

    std::optional<std::vector<int32_t>> as_i32_array() const;
    std::optional<std::vector<float>> as_f32_array() const;
    std::optional<std::vector<double>> as_f64_array() const;
    std::optional<std::vector<std::string_view>> as_string_array() const;

    /// As people write it: 42, 1e-05, true, a string as it is, [1, 2, …] with at most `max_elements` elements, cut with "…
    /// (512)".
    std::string text(size_t max_elements = 8) const;
    /// "u32", "string", "array of f32"
    std::string kind() const;
};

} // namespace schedscope::gguf
