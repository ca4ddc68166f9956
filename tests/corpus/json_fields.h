#pragma once

#include "runtime/error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

/// Reading JSON that may be wrong: each function returns what was asked for or throws Error(input) naming the key.
namespace schedscope::corpus {

using Json = nlohmann::json;

[[noreturn]] inline void broken(const std::string& why) { throw Error(ErrorKind::input, why); }

inline const Json& field(const Json& object, const char* key) {
    if (!object.is_object()) {
        broken(std::string("expected an object with the key '") + key + "'");
    }
    const auto found = object.find(key);
    if (found == object.end()) {
        broken(std::string("the key '") + key + "' is missing");
    }
    return *found;
}

/// Null when absent.
inline const Json* optional_field(const Json& object, const char* key) {
    return object.is_object() && object.contains(key) ? &object[key] : nullptr;
}

inline int64_t integer(const Json& value, const std::string& what, int64_t low, int64_t high) {
    if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))) {
        broken(what + ": expected a whole number");
    }
    const auto number = value.get<int64_t>();
    if (number < low || number > high) {
        broken(what + ": " + std::to_string(number) + " is outside " + std::to_string(low) + " to " + std::to_string(high));
    }
    return number;
}

/// An index below `count`.
inline int index(const Json& value, const std::string& what, size_t count) {
    return static_cast<int>(integer(value, what, 0, static_cast<int64_t>(count) - 1));
}

inline bool boolean(const Json& value, const std::string& what) {
    if (!value.is_boolean()) {
        broken(what + ": expected true or false");
    }
    return value.get<bool>();
}

inline const std::string& text(const Json& value, const std::string& what) {
    if (!value.is_string()) {
        broken(what + ": expected a text");
    }
    return value.get_ref<const std::string&>();
}

inline const Json& list(const Json& value, const std::string& what) {
    if (!value.is_array()) {
        broken(what + ": expected a list");
    }
    return value;
}

inline const Json& list_of(const Json& value, const std::string& what, size_t count) {
    if (list(value, what).size() != count) {
        broken(what + ": expected a list of " + std::to_string(count));
    }
    return value;
}

} // namespace schedscope::corpus
