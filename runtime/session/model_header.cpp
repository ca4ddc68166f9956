#include "runtime/session/model_header.h"

#include "runtime/gguf/gguf.h"

namespace schedscope {

namespace {

using Elements = decltype(ModelHeader::Value::elements);

template <typename To, typename From> Elements elements_of(const std::vector<From>& from) {
    Elements elements;
    for (const From& element : from) {
        elements.emplace_back(static_cast<To>(element));
    }
    return elements;
}

/// Nothing: a number that is beyond what its like can be in a model.
Elements elements_of(const gguf::MetadataValue& v) {
    if (const auto texts = v.as_string_array()) {
        return elements_of<std::string>(*texts);
    }
    if (const auto integers = v.as_i32_array()) {
        return elements_of<int64_t>(*integers);
    }
    if (const auto reals = v.as_f64_array()) {
        return elements_of<double>(*reals);
    }
    if (const auto text = v.as_string()) {
        return {std::string(*text)};
    }
    if (const auto integer = v.as_i64()) {
        return {*integer};
    }
    const auto real = v.as_f64();
    return real ? Elements{*real} : Elements();
}

} // namespace

ModelHeader header_of(const gguf::File& file) {
    ModelHeader header;
    const std::string own = std::string(file.require_string("general.architecture")) + ".";
    const std::string length = own + "vocab_size";
    const gguf::MetadataValue* tokens = file.find("tokenizer.ggml.tokens");
    for (const auto& [key, value] : file.metadata()) {
        const bool counts_tokens = tokens != nullptr && key == length; // the vocabulary says it better
        if (key == "general.architecture" || (key.starts_with(own) && !counts_tokens)) {
            if (Elements elements = elements_of(value); !elements.empty()) {
                header.values.push_back({std::string(key), value.kind(), std::move(elements)});
            }
        }
    }
    if (tokens != nullptr) {
        header.values.push_back({length, "u32", {static_cast<int64_t>(tokens->count)}});
    }
    for (const gguf::FileTensor& t : file.tensors()) {
        header.tensors.push_back({std::string(t.name), t.type, t.ne, static_cast<int64_t>(t.bytes)});
    }
    file.check_whole();
    return header;
}

} // namespace schedscope
