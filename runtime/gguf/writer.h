#pragma once

#include "runtime/gguf/gguf.h"

#include <functional>
#include <string>
#include <vector>

namespace schedscope::gguf {

/// Makes a GGUF file, version 3: metadata is kept in memory, tensor data is asked for when it is written. In memory, too
/// (`to_bytes`, `File::from_bytes`), for models that are made up.
///
///     Writer w;
///     w.set("general.architecture", "llama");
///     w.set("llama.block_count", uint32_t{2});
///     w.add("output_norm.weight", {64, 1, 1, 1}, std::vector<float>(64, 1.0F));
///     w.write("tiny.gguf");
class Writer {
public:
    using Put = std::function<void(std::span<const std::byte>)>;
    /// Writes a tensor's bytes by calling `put` as often as it likes; all calls together give exactly the tensor's size.
    using Produce = std::function<void(const Put& put)>;

    /// The type of the value decides the type in the file. Setting a key again replaces its value in place.
    /// Throws Error(usage) for an empty key.
    void set(std::string_view key, bool v);
    void set(std::string_view key, uint8_t v);
    void set(std::string_view key, int8_t v);
    void set(std::string_view key, uint16_t v);
    void set(std::string_view key, int16_t v);
    void set(std::string_view key, uint32_t v);
    void set(std::string_view key, int32_t v);
    void set(std::string_view key, uint64_t v);
    void set(std::string_view key, int64_t v);
    void set(std::string_view key, float v);
    void set(std::string_view key, double v);
    void set(std::string_view key, std::string_view v);
    void set(std::string_view key, const char* v) { set(key, std::string_view(v)); }
    void set(std::string_view key, std::span<const int32_t> v);
    void set(std::string_view key, std::span<const uint32_t> v);
    void set(std::string_view key, std::span<const float> v);
    void set(std::string_view key, std::span<const std::string> v);
    void set(std::string_view key, const std::vector<int32_t>& v) { set(key, std::span<const int32_t>(v)); }
    void set(std::string_view key, const std::vector<uint32_t>& v) { set(key, std::span<const uint32_t>(v)); }
    void set(std::string_view key, const std::vector<float>& v) { set(key, std::span<const float>(v)); }
    void set(std::string_view key, const std::vector<std::string>& v) { set(key, std::span<const std::string>(v)); }
    /// A value of another file, of any type; its bytes are copied.
    void set(std::string_view key, const MetadataValue& v);

    /// Dimensions behind the last that is not 1 are not written. Throws Error(usage) when the name is empty, longer than
    /// max_name bytes or taken, the shape does not fit the type, or files can't hold the type.
    void add(std::string_view name, Type type, const Shape& ne, Produce produce);
    /// `data` is not copied; it must live until the file is written.
    void add(std::string_view name, Type type, const Shape& ne, std::span<const std::byte> data);
    /// F32, or quantised to `type` while writing. Error(usage) when the type can't be quantised to.
    void add(std::string_view name, const Shape& ne, std::vector<float> values, Type type = Type::F32);

    /// Writes beside PATH and renames, so that PATH is either the old file or the whole new one. What is no regular file (a
    /// device, a pipe) is written directly. Throws Error(device) "PATH: why".
    void write(const std::string& path) const;
    /// The same file with zeros for all tensors' data, which take no room on the disk (a sparse file): what plans without weights
    /// need.
    void write_header(const std::string& path) const;
    std::vector<std::byte> to_bytes() const;
    int64_t file_bytes() const; ///< of the file that both of the above write

private:
    struct KeyValue {
        std::string key;
        ValueType type;
        ValueType element;
        uint64_t count;
        std::vector<std::byte> bytes;
    };
    struct Entry {
        std::string name;
        Type type;
        Shape ne;
        size_t bytes;
        Produce produce;
    };
    void store(std::string_view key, ValueType type, ValueType element, uint64_t count, std::span<const std::byte> bytes);
    size_t alignment() const;
    uint64_t emit_header(const Put& put) const; ///< returns the bytes of all data behind it
    void emit(const Put& put) const;

    std::vector<KeyValue> values_;
    std::vector<Entry> tensors_;
    std::unordered_map<std::string, size_t> names_;
};

} // namespace schedscope::gguf
