#include "runtime/gguf/writer.h"

#include "runtime/error.h"
#include "runtime/system/output_file.h"
#include "runtime/tensor/convert.h"
#include "runtime/tensor/graph.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace schedscope::gguf {

namespace {

constexpr uint32_t written_version = 3;

template <typename T> std::span<const std::byte> bytes_of(const T& v) { return std::as_bytes(std::span(&v, 1)); }

std::span<const std::byte> bytes_of(std::string_view s) { return std::as_bytes(std::span(s.data(), s.size())); }

template <typename T> void put_number(const Writer::Put& put, T v) { put(bytes_of(v)); }

void put_string(const Writer::Put& put, std::string_view s) {
    put_number<uint64_t>(put, s.size());
    put(bytes_of(s));
}

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
    throw Error(ErrorKind::usage, "tensor '" + std::string(name) + "': " + why);
}

size_t padding(size_t n, size_t alignment) noexcept { return (alignment - n % alignment) % alignment; }

void put_zeros(const Writer::Put& put, size_t n) { put(std::vector<std::byte>(n)); }

int written_dims(const Shape& ne) noexcept {
    int n = max_dims;
    while (n > 1 && ne[n - 1] == 1) {
        --n;
    }
    return n;
}

} // namespace

void Writer::store(std::string_view key, ValueType type, ValueType element, uint64_t count, std::span<const std::byte> bytes) {
    if (key.empty()) {
        throw Error(ErrorKind::usage, "metadata: a key must not be empty");
    }
    KeyValue stored{std::string(key), type, element, count, {bytes.begin(), bytes.end()}};
    const auto found = std::find_if(values_.begin(), values_.end(), [key](const KeyValue& v) { return v.key == key; });
    if (found != values_.end()) {
        *found = std::move(stored);
    } else {
        values_.push_back(std::move(stored));
    }
}

void Writer::set(std::string_view key, bool v) {
    store(key, ValueType::boolean, {}, 1, bytes_of(static_cast<uint8_t>(v ? 1 : 0)));
}
void Writer::set(std::string_view key, uint8_t v) { store(key, ValueType::u8, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, int8_t v) { store(key, ValueType::i8, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, uint16_t v) { store(key, ValueType::u16, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, int16_t v) { store(key, ValueType::i16, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, uint32_t v) { store(key, ValueType::u32, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, int32_t v) { store(key, ValueType::i32, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, uint64_t v) { store(key, ValueType::u64, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, int64_t v) { store(key, ValueType::i64, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, float v) { store(key, ValueType::f32, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, double v) { store(key, ValueType::f64, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, std::string_view v) { store(key, ValueType::string, {}, 1, bytes_of(v)); }
void Writer::set(std::string_view key, std::span<const int32_t> v) {
    store(key, ValueType::array, ValueType::i32, v.size(), std::as_bytes(v));
}
void Writer::set(std::string_view key, std::span<const uint32_t> v) {
    store(key, ValueType::array, ValueType::u32, v.size(), std::as_bytes(v));
}
void Writer::set(std::string_view key, std::span<const float> v) {
    store(key, ValueType::array, ValueType::f32, v.size(), std::as_bytes(v));
}
void Writer::set(std::string_view key, std::span<const std::string> v) {
    std::vector<std::byte> bytes;
    const Put append = [&bytes](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
    for (const std::string& s : v) {
        put_string(append, s);
    }
    store(key, ValueType::array, ValueType::string, v.size(), bytes);
}
void Writer::set(std::string_view key, const MetadataValue& v) { store(key, v.type, v.element, v.count, v.bytes); }

void Writer::add(std::string_view name, Type type, const Shape& ne, Produce produce) {
    if (name.empty() || name.size() > max_name) {
        refuse(name, "a name has 1 to " + std::to_string(max_name) + " bytes");
    }
    if (!file_type_number(type)) {
        refuse(name, "GGUF files can't hold " + std::string(type_name(type)));
    }
    TensorStore check; // knows which shapes are possible
    const Tensor* t = check.make(type, ne, name);
    if (!names_.emplace(name, tensors_.size()).second) {
        refuse(name, "is already in the file");
    }
    tensors_.push_back({std::string(name), type, ne, n_bytes(*t), std::move(produce)});
}

void Writer::add(std::string_view name, Type type, const Shape& ne, std::span<const std::byte> data) {
    add(name, type, ne, [data](const Put& put) { put(data); });
}

void Writer::add(std::string_view name, const Shape& ne, std::vector<float> values, Type type) {
    if (!can_quantise(type)) {
        refuse(name, "floats can't be quantised to " + std::string(type_name(type)));
    }
    if (std::cmp_not_equal(values.size(), ne[0] * ne[1] * ne[2] * ne[3])) {
        refuse(name, std::to_string(values.size()) + " values do not fill the shape " + shape_text(ne));
    }
    const auto produce = [values = std::move(values), type, row = ne[0]](const Put& put) {
        std::vector<std::byte> bytes(row_bytes(type, row));
        for (size_t at = 0; at + row <= values.size(); at += row) {
            row_from_float(type, values.data() + at, bytes.data(), row);
            put(bytes);
        }
    };
    add(name, type, ne, produce);
}

size_t Writer::alignment() const {
    const auto found =
        std::find_if(values_.begin(), values_.end(), [](const KeyValue& v) { return v.key == "general.alignment"; });
    if (found == values_.end()) {
        return default_alignment;
    }
    const MetadataValue value{found->type, found->element, found->count, found->bytes};
    const auto wanted = value.as_u64();
    if (!wanted || !std::has_single_bit(*wanted) || *wanted < 8) {
        throw Error(ErrorKind::usage, "general.alignment: " + value.text() + " is not a power of two from 8 on");
    }
    return *wanted;
}

uint64_t Writer::emit_header(const Put& put) const {
    const size_t align = alignment();
    size_t at = 0;
    const Put counted = [&put, &at](std::span<const std::byte> bytes) {
        put(bytes);
        at += bytes.size();
    };
    counted(bytes_of(std::string_view("GGUF")));
    put_number(counted, written_version);
    put_number<uint64_t>(counted, tensors_.size());
    put_number<uint64_t>(counted, values_.size());
    for (const KeyValue& v : values_) {
        put_string(counted, v.key);
        put_number(counted, static_cast<uint32_t>(v.type));
        if (v.type == ValueType::array) {
            put_number(counted, static_cast<uint32_t>(v.element));
            put_number(counted, v.count);
        } else if (v.type == ValueType::string) {
            put_number<uint64_t>(counted, v.bytes.size());
        }
        counted(v.bytes);
    }
    uint64_t offset = 0;
    for (const Entry& t : tensors_) {
        put_string(counted, t.name);
        const int dims = written_dims(t.ne);
        put_number(counted, static_cast<uint32_t>(dims));
        for (int i = 0; i < dims; ++i) {
            put_number(counted, static_cast<uint64_t>(t.ne[i]));
        }
        put_number(counted, *file_type_number(t.type));
        put_number(counted, offset);
        offset += t.bytes + padding(t.bytes, align);
    }
    put_zeros(counted, padding(at, align));
    return offset;
}

void Writer::emit(const Put& put) const {
    const size_t align = alignment();
    emit_header(put);
    size_t at = 0;
    const Put counted = [&put, &at](std::span<const std::byte> bytes) {
        put(bytes);
        at += bytes.size();
    };
    for (const Entry& t : tensors_) {
        const size_t begin = at;
        t.produce(counted);
        if (at - begin != t.bytes) {
            refuse(t.name, "its data has " + std::to_string(at - begin) + " bytes, not " + std::to_string(t.bytes));
        }
        put_zeros(counted, padding(t.bytes, align));
    }
}

void Writer::write(const std::string& path) const {
    OutputFile file(path);
    emit([&file](std::span<const std::byte> bytes) { file.write(bytes); });
    file.finish();
}

void Writer::write_header(const std::string& path) const {
    OutputFile file(path);
    const uint64_t data = emit_header([&file](std::span<const std::byte> bytes) { file.write(bytes); });
    file.extend(data);
    file.finish();
}

int64_t Writer::file_bytes() const {
    uint64_t header = 0;
    const uint64_t data = emit_header([&header](std::span<const std::byte> bytes) { header += bytes.size(); });
    return static_cast<int64_t>(header + data);
}

std::vector<std::byte> Writer::to_bytes() const {
    std::vector<std::byte> bytes;
    emit([&bytes](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); });
    return bytes;
}

} // namespace schedscope::gguf
