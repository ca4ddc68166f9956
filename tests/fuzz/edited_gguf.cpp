#include "tests/fuzz/edited_gguf.h"

#include "runtime/model/synth/synth.h"

#include <algorithm>
#include <cstring>
#include <fuzzer/FuzzedDataProvider.h>
#include <iterator>
#include <stdexcept>

namespace schedscope::fuzz {

namespace {

using gguf::ValueType;

constexpr size_t most_data = 64 * 1024; ///< of a tensor that is given the bytes that its extents ask for
constexpr uint64_t alignment = 32;

/// Texts that decide what is done, beside the architectures; a mutation would not find most of them.
constexpr const char* other_texts[] = {
    "clip",       "gpt2",     "default", "llama-bpe", "gpt-2",      "falcon",    "deepseek-llm",  "none",     "linear",
    "yarn",       "longrope", "mlp",     "ldp",       "ldpv2",      "resampler", "spatial_unpad", "phi-3",    "<|eot_id|>",
    "<|im_end|>", "</s>",     "<0x0A>",  "<|call|>",  "<|return|>", "<|end|>",   "\xE2\x96\x81",  "\xC4\xA0", "a b",
};

std::string text(FuzzedDataProvider& input) {
    static const std::vector<std::string_view> known_texts = [] {
        std::vector<std::string_view> all;
        for (const SynthArchitecture* a : synth_architectures()) {
            all.push_back(a->name);
        }
        all.insert(all.end(), std::begin(other_texts), std::end(other_texts));
        return all;
    }();
    return input.ConsumeBool() ? std::string(known_texts[input.ConsumeIntegralInRange<size_t>(0, known_texts.size() - 1)])
                               : input.ConsumeRandomLengthString(40);
}

/// Numbers near what decides.
uint64_t number(FuzzedDataProvider& input) {
    switch (input.ConsumeIntegralInRange<int>(0, 4)) {
    case 0: return input.ConsumeIntegralInRange<uint64_t>(0, 16);
    case 1: return input.ConsumeIntegral<uint8_t>();
    case 2: return (uint64_t{1} << (input.ConsumeIntegral<uint8_t>() % 64)) - 1 + input.ConsumeIntegralInRange<uint64_t>(0, 2);
    case 3: return uint64_t{0} - input.ConsumeIntegralInRange<uint64_t>(1, 16);
    default: return input.ConsumeIntegral<uint64_t>();
    }
}

template <typename T> std::string as_bytes(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

/// A number in the bytes of a type; a real one is as likely a fraction, an infinity or none at all.
std::string scalar(ValueType type, FuzzedDataProvider& input) {
    const uint64_t n = number(input);
    constexpr double odd_ones[] = {0.5, -1, 1e-30, 1e30, __builtin_inf(), __builtin_nan("")};
    const double real = n < 6 ? odd_ones[n] : static_cast<double>(static_cast<int64_t>(n));
    if (type == ValueType::f32) {
        return as_bytes(static_cast<float>(real));
    }
    if (type == ValueType::f64) {
        return as_bytes(real);
    }
    return as_bytes(n).substr(0, gguf::value_type_bytes(type));
}

ValueType scalar_type(FuzzedDataProvider& input) {
    constexpr ValueType types[] = {ValueType::u8,  ValueType::i8,  ValueType::u16,    ValueType::i16,
                                   ValueType::u32, ValueType::i32, ValueType::f32,    ValueType::u64,
                                   ValueType::i64, ValueType::f64, ValueType::boolean};
    return input.PickValueInArray(types);
}

std::string with_length(const std::string& s) { return as_bytes(uint64_t{s.size()}) + s; }

/// Bytes without a pattern; halves among them are mostly numbers of a usual size.
std::string noise(size_t n) {
    std::string bytes(n, '\0');
    uint32_t state = 12345;
    for (char& c : bytes) {
        state = state * 1664525U + 1013904223U;
        c = static_cast<char>((state >> 24U) % 0x40);
    }
    return bytes;
}

/// Bytes of a tensor of a type of the file's; 0: there are none, or too many to give them.
size_t data_bytes(uint32_t file_type, const std::vector<uint64_t>& ne) {
    const auto type = gguf::type_from_file_number(file_type);
    if (!type) {
        return 0;
    }
    const TypeTraits& t = traits(*type);
    uint64_t n = t.bytes;
    for (size_t i = 0; i < ne.size(); ++i) {
        const uint64_t factor = i == 0 ? ne[0] / static_cast<uint64_t>(t.block) : ne[i];
        if (__builtin_mul_overflow(n, factor, &n) || n > most_data) {
            return 0;
        }
    }
    return static_cast<size_t>(n);
}

void fit(std::string& data, size_t n) {
    if (n > data.size()) {
        data += noise(n - data.size());
    } else if (n > 0) {
        data.resize(n);
    }
}

} // namespace

bool EditedGguf::Key::has_strings() const noexcept {
    return type == ValueType::string || (type == ValueType::array && element == ValueType::string);
}

EditedGguf::EditedGguf(const gguf::File& sound) : version_(sound.version()) {
    for (const gguf::MetadataEntry& e : sound.metadata()) {
        Key k{std::string(e.key), e.value.type, e.value.element, e.value.count, {}, {}};
        if (const auto one = e.value.as_string()) {
            k.strings = {std::string(*one)};
        } else if (k.has_strings()) {
            const auto all = e.value.as_string_array().value();
            k.strings.assign(all.begin(), all.end());
        } else {
            k.bytes.assign(reinterpret_cast<const char*>(e.value.bytes.data()), e.value.bytes.size());
        }
        keys_.push_back(std::move(k));
    }
    for (const gguf::FileTensor& t : sound.tensors()) {
        tensors_.push_back({std::string(t.name),
                            {t.ne.begin(), t.ne.begin() + t.n_dims},
                            gguf::file_type_number(t.type).value(),
                            std::string(reinterpret_cast<const char*>(t.data), t.bytes),
                            0});
    }
}

EditedGguf::Key& EditedGguf::key(const std::string& name) {
    const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const Key& k) { return k.name == name; });
    if (found != keys_.end()) {
        return *found;
    }
    keys_.emplace_back().name = name;
    return keys_.back();
}

void EditedGguf::set_strings(const std::string& name, std::vector<std::string> values) {
    Key& k = key(name);
    k.type = ValueType::array;
    k.element = ValueType::string;
    k.count = values.size();
    k.strings = std::move(values);
}

void EditedGguf::set_string(const std::string& name, std::string value) {
    Key& k = key(name);
    k.type = ValueType::string;
    k.strings = {std::move(value)};
}

void EditedGguf::remove(const std::string& name) {
    std::erase_if(keys_, [&](const Key& k) { return k.name == name; });
}

const std::string& EditedGguf::string(const std::string& name) const {
    const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const Key& k) { return k.name == name; });
    if (found == keys_.end() || found->type != ValueType::string) {
        throw std::out_of_range(name);
    }
    return found->strings.front();
}

void EditedGguf::keep_tokens(size_t n) {
    const size_t n_before = key("tokenizer.ggml.tokens").strings.size();
    for (Key& k : keys_) {
        if (k.type == ValueType::array && k.count == n_before) {
            k.count = n;
            k.strings.resize(std::min(n, k.strings.size()));
            k.bytes.resize(k.bytes.size() / n_before * n);
        }
    }
    for (Tensor& t : tensors_) {
        if (t.ne.size() == 2 && t.ne[1] == n_before) {
            t.ne[1] = n;
            t.data.resize(t.data.size() / n_before * n);
        }
    }
}

void EditedGguf::add_tensor(const std::string& name, Type type, std::vector<uint64_t> ne) {
    const uint32_t number = gguf::file_type_number(type).value();
    const size_t n = data_bytes(number, ne);
    tensors_.push_back({name, std::move(ne), number, noise(n), 0});
}

void EditedGguf::edit(FuzzedDataProvider& input) {
    constexpr int most_edits = 12;
    for (int i = 0; i < most_edits && input.remaining_bytes() > 0; ++i) {
        const auto operation = input.ConsumeIntegral<uint8_t>();
        const auto which = input.ConsumeIntegral<uint8_t>();
        if (operation < 96 && !keys_.empty()) {
            edit_key(keys_[which % keys_.size()], input);
        } else if (operation < 144 && !keys_.empty()) {
            // Most keys hold one value: the next that holds several.
            for (size_t k = 0; k < keys_.size(); ++k) {
                Key& candidate = keys_[(which + k) % keys_.size()];
                if (candidate.type == ValueType::array) {
                    edit_array(candidate, input);
                    break;
                }
            }
        } else if (operation < 224 && !tensors_.empty()) {
            edit_tensor(tensors_[which % tensors_.size()], input);
        } else if (operation < 240) {
            const auto at = input.ConsumeIntegral<uint16_t>();
            patches_.push_back({at, input.ConsumeBytesAsString(1 + which % 16)});
        } else {
            switch (operation % 6) {
            case 0: cut_ = which; break;
            case 1: version_ = which % 5; break;
            case 2: more_keys_ = number(input); break;
            case 3: more_tensors_ = number(input); break;
            case 4:
                keys_.push_back({"general.alignment", ValueType::u32, ValueType::u8, 1, scalar(ValueType::u32, input), {}});
                break;
            case 5: keys_.push_back({text(input), ValueType::string, ValueType::u8, 1, {}, {text(input)}}); break;
            }
        }
    }
}

void EditedGguf::edit_key(Key& k, FuzzedDataProvider& input) {
    switch (input.ConsumeIntegralInRange<int>(0, 7)) {
    case 0: // another number
    case 1:
        if (!k.has_strings() && k.type != ValueType::array) {
            k.bytes = scalar(k.type, input);
            break;
        }
        [[fallthrough]];
    case 2: // another text
        if (k.type == ValueType::string) {
            k.strings = {text(input)};
            break;
        }
        [[fallthrough]];
    case 3: // of another type
        k.type = scalar_type(input);
        k.bytes = scalar(k.type, input);
        break;
    case 4: // a text where there was none
        k.type = ValueType::string;
        k.strings = {text(input)};
        break;
    case 5: { // a short list
        k.type = ValueType::array;
        k.element = scalar_type(input);
        k.bytes.clear();
        k.count = input.ConsumeIntegralInRange<uint64_t>(0, 8);
        for (uint64_t i = 0; i < k.count; ++i) {
            k.bytes += scalar(k.element, input);
        }
        break;
    }
    case 6: { // another's value
        const std::string name = k.name;
        k = Key(keys_[input.ConsumeIntegral<uint8_t>() % keys_.size()]);
        k.name = name;
        break;
    }
    case 7: k.name = input.ConsumeBool() ? k.name + "?" : text(input); break; // as if it were not there
    }
}

void EditedGguf::edit_array(Key& k, FuzzedDataProvider& input) {
    const bool strings = k.has_strings();
    const size_t step = gguf::value_type_bytes(k.element);
    const size_t n = strings ? k.strings.size() : step == 0 ? 0 : k.bytes.size() / step;
    const size_t at = n == 0 ? 0 : input.ConsumeIntegral<uint16_t>() % n;
    switch (input.ConsumeIntegralInRange<int>(0, 5)) {
    case 0:
    case 1:
        if (n == 0) {
            break;
        }
        if (strings) {
            k.strings[at] = text(input);
        } else {
            k.bytes.replace(at * step, step, scalar(k.element, input));
        }
        break;
    case 2: // fewer
        k.count = at;
        k.strings.resize(strings ? at : 0);
        k.bytes.resize(strings ? 0 : at * step);
        break;
    case 3: // more
        if (strings) {
            k.strings.insert(k.strings.begin() + static_cast<std::ptrdiff_t>(at), text(input));
            k.count = k.strings.size();
        } else if (n > 0) {
            k.bytes += k.bytes.substr(at * step);
            k.count = k.bytes.size() / step;
        }
        break;
    case 4: k.count = number(input); break; // claimed
    case 5:                                 // one as another
        if (n > 0) {
            const size_t from = input.ConsumeIntegral<uint16_t>() % n;
            if (strings) {
                k.strings[at] = std::string(k.strings[from]);
            } else {
                k.bytes.replace(at * step, step, k.bytes.substr(from * step, step));
            }
        }
        break;
    }
}

void EditedGguf::edit_tensor(Tensor& t, FuzzedDataProvider& input) {
    switch (input.ConsumeIntegralInRange<int>(0, 8)) {
    case 0: // claimed extents
        if (!t.ne.empty()) {
            t.ne[input.ConsumeIntegral<uint8_t>() % t.ne.size()] = number(input);
        }
        break;
    case 1: // other extents
    case 2:
        if (!t.ne.empty()) {
            t.ne[input.ConsumeIntegral<uint8_t>() % t.ne.size()] = input.ConsumeIntegralInRange<uint64_t>(1, 300);
            fit(t.data, data_bytes(t.type, t.ne));
        }
        break;
    case 3: // more or fewer of them
        t.ne.resize(input.ConsumeIntegralInRange<size_t>(0, 5), 1);
        fit(t.data, data_bytes(t.type, t.ne));
        break;
    case 4: // another type
    case 5:
        t.type = input.ConsumeIntegralInRange<uint32_t>(0, 40);
        fit(t.data, data_bytes(t.type, t.ne));
        break;
    case 6: { // another name
        Tensor& other = tensors_[input.ConsumeIntegral<uint8_t>() % tensors_.size()];
        input.ConsumeBool() ? std::swap(t.name, other.name) : void(t.name = text(input));
        break;
    }
    case 7: // other values
        if (!t.data.empty()) {
            const size_t at = input.ConsumeIntegral<uint16_t>() % t.data.size();
            const std::string bytes = input.ConsumeBytesAsString(1 + input.ConsumeIntegral<uint8_t>() % 16);
            t.data.replace(at, std::min(bytes.size(), t.data.size() - at), bytes.substr(0, t.data.size() - at));
        }
        break;
    case 8: t.moved_by = number(input); break;
    }
}

std::vector<std::byte> EditedGguf::bytes() const {
    std::string file =
        "GGUF" + as_bytes(version_) + as_bytes(tensors_.size() + more_tensors_) + as_bytes(keys_.size() + more_keys_);
    for (const Key& k : keys_) {
        file += with_length(k.name) + as_bytes(static_cast<uint32_t>(k.type));
        if (k.type == ValueType::array) {
            file += as_bytes(static_cast<uint32_t>(k.element)) + as_bytes(k.count);
        }
        if (k.has_strings()) {
            for (const std::string& s : k.strings) {
                file += with_length(s);
            }
        } else {
            file += k.bytes;
        }
    }
    uint64_t offset = 0;
    for (const Tensor& t : tensors_) {
        file += with_length(t.name) + as_bytes(static_cast<uint32_t>(t.ne.size()));
        for (const uint64_t n : t.ne) {
            file += as_bytes(n);
        }
        file += as_bytes(t.type) + as_bytes(offset + t.moved_by);
        offset += (t.data.size() + alignment - 1) / alignment * alignment;
    }
    for (const Tensor& t : tensors_) {
        file.resize((file.size() + alignment - 1) / alignment * alignment);
        file += t.data;
    }
    for (const Patch& p : patches_) {
        const size_t at = p.at % file.size();
        file.replace(at, std::min(p.bytes.size(), file.size() - at), p.bytes.substr(0, file.size() - at));
    }
    file.resize(file.size() - file.size() * static_cast<size_t>(cut_) / 256);
    std::vector<std::byte> bytes(file.size());
    std::memcpy(bytes.data(), file.data(), file.size());
    return bytes;
}

} // namespace schedscope::fuzz
