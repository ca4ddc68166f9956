#include "runtime/gguf/metadata_value.h"

#include "runtime/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace schedscope::gguf {

namespace {

struct ValueKind {
    std::string_view name;
    size_t bytes;
};
constexpr std::array<ValueKind, ordinal(ValueType::count)> kinds = {{{"u8", 1},
                                                                     {"i8", 1},
                                                                     {"u16", 2},
                                                                     {"i16", 2},
                                                                     {"u32", 4},
                                                                     {"i32", 4},
                                                                     {"f32", 4},
                                                                     {"bool", 1},
                                                                     {"string", 0},
                                                                     {"array", 0},
                                                                     {"u64", 8},
                                                                     {"i64", 8},
                                                                     {"f64", 8}}};

template <typename T> T load(const std::byte* at) noexcept {
    T v;
    std::memcpy(&v, at, sizeof v);
    return v;
}

/// Calls f with the scalar at `at` in its own type. False for strings and arrays.
template <typename F> bool with_scalar(ValueType type, const std::byte* at, F&& f) {
    switch (type) {
    case ValueType::u8: f(load<uint8_t>(at)); return true;
    case ValueType::i8: f(load<int8_t>(at)); return true;
    case ValueType::u16: f(load<uint16_t>(at)); return true;
    case ValueType::i16: f(load<int16_t>(at)); return true;
    case ValueType::u32: f(load<uint32_t>(at)); return true;
    case ValueType::i32: f(load<int32_t>(at)); return true;
    case ValueType::u64: f(load<uint64_t>(at)); return true;
    case ValueType::i64: f(load<int64_t>(at)); return true;
    case ValueType::f32: f(load<float>(at)); return true;
    case ValueType::f64: f(load<double>(at)); return true;
    case ValueType::boolean: f(load<uint8_t>(at) != 0); return true;
    default: return false;
    }
}

/// Integers and booleans, when Wanted holds the value.
template <typename Wanted> std::optional<Wanted> integer(ValueType type, const std::byte* at) noexcept {
    std::optional<Wanted> result;
    with_scalar(type, at, [&result](auto v) {
        using Stored = decltype(v);
        if constexpr (std::is_same_v<Stored, bool>) {
            result = static_cast<Wanted>(v);
        } else if constexpr (std::is_integral_v<Stored>) {
            if (std::in_range<Wanted>(v)) {
                result = static_cast<Wanted>(v);
            }
        }
    });
    return result;
}

std::optional<double> real(ValueType type, const std::byte* at) noexcept {
    std::optional<double> result;
    with_scalar(type, at, [&result](auto v) {
        if constexpr (!std::is_same_v<decltype(v), bool>) {
            result = v;
        }
    });
    return result;
}

std::optional<double> real_in(const MetadataValue& v, const std::byte* at) noexcept { return real(v.element, at); }

template <typename T, typename Convert> std::optional<std::vector<T>> array_of(const MetadataValue& v, Convert convert) {
    const size_t step = value_type_bytes(v.element);
    if (!v.is_array() || (step == 0 && v.count > 0)) {
        return std::nullopt;
    }
    std::vector<T> result;
    result.reserve(v.count); // the elements were seen in the file: the count is true
    for (uint64_t i = 0; i < v.count; ++i) {
        const auto element = convert(v, v.bytes.data() + i * step);
        if (!element) {
            return std::nullopt;
        }
        result.push_back(static_cast<T>(*element));
    }
    return result;
}

std::string_view characters(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string scalar_text(ValueType type, const std::byte* at) {
    std::string result;
    with_scalar(type, at, [&result](auto v) {
        if constexpr (std::is_same_v<decltype(v), bool>) {
            result = v ? "true" : "false";
        } else {
            std::array<char, 40> digits{};
            const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
            result.assign(digits.data(), end);
        }
    });
    return result;
}

} // namespace

std::string_view value_type_name(ValueType type) noexcept { return kinds[ordinal(type)].name; }
size_t value_type_bytes(ValueType type) noexcept { return kinds[ordinal(type)].bytes; }

std::optional<int64_t> MetadataValue::as_i64() const noexcept { return integer<int64_t>(type, bytes.data()); }
std::optional<uint64_t> MetadataValue::as_u64() const noexcept { return integer<uint64_t>(type, bytes.data()); }
std::optional<uint32_t> MetadataValue::as_u32() const noexcept { return integer<uint32_t>(type, bytes.data()); }
std::optional<int32_t> MetadataValue::as_i32() const noexcept { return integer<int32_t>(type, bytes.data()); }
std::optional<double> MetadataValue::as_f64() const noexcept { return real(type, bytes.data()); }

std::optional<bool> MetadataValue::as_bool() const noexcept {
    const auto v = integer<int64_t>(type, bytes.data());
    return v && (*v == 0 || *v == 1) ? std::optional(*v == 1) : std::nullopt;
}

std::optional<std::string_view> MetadataValue::as_string() const noexcept {
    return type == ValueType::string ? std::optional(characters(bytes)) : std::nullopt;
}

std::optional<std::vector<int32_t>> MetadataValue::as_i32_array() const {
    return array_of<int32_t>(*this, [](const MetadataValue& v, const std::byte* at) { return integer<int32_t>(v.element, at); });
}
std::optional<std::vector<float>> MetadataValue::as_f32_array() const { return array_of<float>(*this, real_in); }
std::optional<std::vector<double>> MetadataValue::as_f64_array() const { return array_of<double>(*this, real_in); }

std::optional<std::vector<std::string_view>> MetadataValue::as_string_array() const {
    if (!is_array() || (element != ValueType::string && count > 0)) {
        return std::nullopt;
    }
    std::vector<std::string_view> result;
    result.reserve(count);
    const std::byte* at = bytes.data();
    for (uint64_t i = 0; i < count; ++i) {
        const auto length = load<uint64_t>(at);
        at += sizeof length;
        result.push_back(characters({at, length}));
        at += length;
    }
    return result;
}

std::string MetadataValue::text(size_t max_elements) const {
    if (const auto s = as_string()) {
        return std::string(*s);
    }
    if (!is_array()) {
        return scalar_text(type, bytes.data());
    }
    const size_t step = value_type_bytes(element);
    const std::byte* at = bytes.data();
    std::string result = "[";
    uint64_t i = 0;
    for (; i < count && i < max_elements; ++i) {
        result += i > 0 ? ", " : "";
        if (element == ValueType::string) {
            const auto length = load<uint64_t>(at);
            result += characters({at + sizeof length, length});
            at += sizeof length + length;
        } else {
            result += scalar_text(element, at);
            at += step;
        }
    }
    return result + (i < count ? ", … (" + std::to_string(count) + ")]" : "]");
}

std::string MetadataValue::kind() const {
    return std::string(value_type_name(type)) + (is_array() ? " of " + std::string(value_type_name(element)) : "");
}

} // namespace schedscope::gguf
