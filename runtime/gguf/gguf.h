#pragma once

#include "runtime/gguf/metadata_value.h"
#include "runtime/ops/layout.h"

#include "runtime/tensor/tensor.h"
#include <functional>
#include <unordered_map>

/// Reading GGUF files: versions 2 and 3, little endian. Facts of the format:
///
///   "GGUF", u32 version, u64 tensors, u64 keys;
///   per key: string name, u32 type, the value; per tensor: string name, u32 dimensions, u64 each, u32 type, u64 offset;
///   zeros up to a multiple of `general.alignment` (`default_alignment` when absent, a power of two from 8 on): offset 0 of the
///   data. A string is u64 length and bytes; an array u32 type, u64 count and the elements.
namespace schedscope::gguf {

class Mapping;

constexpr size_t default_alignment = 32; ///< of the data, in bytes, where `general.alignment` is absent

/// One key and its value, in the file's order.
struct MetadataEntry {
    std::string_view key;
    MetadataValue value;
};

/// One tensor of a file.
struct FileTensor {
    std::string_view name; ///< mapped, too
    Type type = Type::F32;
    int n_dims = 0; ///< as written; ne is filled up with ones
    Shape ne{1, 1, 1, 1};
    int part = 0;                    ///< which file of a split model, from 0
    uint64_t offset = 0;             ///< bytes into the data of its part
    size_t bytes = 0;                ///< contiguous
    const std::byte* data = nullptr; ///< mapped; valid as long as the File
};

/// A file (or all files of a split model, `NAME-00001-of-0000N.gguf`), mapped and checked completely at opening: whatever the
/// accessors give lies inside the mapping. Memory use does not depend on what a file claims.
/// Where a file is cut short while it is open, zeros are read; `check_whole` says so.
///
/// Opening throws Error(input) "PATH: why" for a file that is missing, unreadable, no regular file, empty, not GGUF, of another
/// version, damaged or of unsupported tensor types.
class File {
public:
    /// A split model is opened by its first file; the others are found beside it.
    static File open(const std::string& path);
    /// The same from memory; `name` stands for the path in errors. Not for split models.
    static File from_bytes(std::vector<std::byte> bytes, std::string name = "memory");

    File(File&&) noexcept;
    File& operator=(File&&) noexcept;
    ~File();

    const std::string& path() const noexcept { return path_; }
    uint32_t version() const noexcept { return version_; }
    size_t alignment() const noexcept { return alignment_; }
    int parts() const noexcept;
    uint64_t file_bytes() const noexcept; ///< of all parts
    /// Throws Error(input) "PATH: was cut short while it was read". Whoever reads tensors' data or keeps values asks behind that,
    /// before the results are used.
    void check_whole() const;

    // Bytes [offset, offset + bytes) of a tensor's data, as Mapping has it: into memory, out of it again, or past the mapping.
    void read_ahead(const FileTensor& tensor, size_t offset, size_t bytes) const noexcept;
    void let_go(const FileTensor& tensor) const noexcept; ///< all of them
    void let_go(const FileTensor& tensor, size_t offset, size_t bytes) const noexcept;
    void read(const FileTensor& tensor, size_t offset, std::span<std::byte> into) const; ///< throws Error(input)
    /// Moves tensors' data to large pages, as Mapping has it, and what little lies between them. each(n, work) calls work(0) to
    /// work(n − 1), at once if it likes.
    using Each = std::function<void(int n, const std::function<void(int i)>& work)>;
    void move_to_large_pages(std::vector<const FileTensor*> tensors, const Each& each) const;

    std::span<const MetadataEntry> metadata() const noexcept { return entries_; } ///< the first part's
    std::span<const FileTensor> tensors() const noexcept { return tensors_; }     ///< all parts', in order

    const MetadataValue* find(std::string_view key) const noexcept;      ///< null when there is no such key
    const FileTensor* find_tensor(std::string_view name) const noexcept; ///< null when there is no such tensor

    // Nothing when the key is absent. Error(input) naming file, key and kind when the value is of another kind.
    std::optional<uint32_t> get_u32(std::string_view key) const;
    std::optional<int32_t> get_i32(std::string_view key) const;
    std::optional<uint64_t> get_u64(std::string_view key) const;
    std::optional<float> get_f32(std::string_view key) const;
    std::optional<bool> get_bool(std::string_view key) const;
    std::optional<std::string_view> get_string(std::string_view key) const;
    std::optional<std::vector<int32_t>> get_i32_array(std::string_view key) const;
    std::optional<std::vector<float>> get_f32_array(std::string_view key) const;
    std::optional<std::vector<std::string_view>> get_string_array(std::string_view key) const;

    // As above; Error(input) naming file and key when it is absent.
    uint32_t require_u32(std::string_view key) const;
    float require_f32(std::string_view key) const;
    std::string_view require_string(std::string_view key) const;
    std::vector<float> require_f32_array(std::string_view key) const;
    std::vector<std::string_view> require_string_array(std::string_view key) const;
    /// Error(input) naming file and tensor when it is absent.
    const FileTensor& require_tensor(std::string_view name) const;

private:
    File();
    void add_part(Mapping mapping, const std::string& path);
    void follow_split();
    const Mapping& mapping_of(const FileTensor& tensor) const noexcept;
    size_t place_of(const FileTensor& tensor) const noexcept; ///< bytes into its part
    template <typename Wanted, typename Get> std::optional<Wanted> get(std::string_view key, const char* wanted, Get as) const;
    template <typename Wanted> Wanted require(std::string_view key, std::optional<Wanted> value) const;

    std::string path_;
    uint32_t version_ = 0;
    size_t alignment_ = 0;
    std::vector<Mapping> mappings_; ///< one a part
    std::vector<MetadataEntry> entries_;
    std::vector<FileTensor> tensors_;
    std::unordered_map<std::string_view, size_t> key_index_;
    std::unordered_map<std::string_view, size_t> tensor_index_;
};

/// Number of a type in files, and back. Nothing for types that files can't hold or that we can't read.
std::optional<uint32_t> file_type_number(Type type) noexcept;
std::optional<Type> type_from_file_number(uint32_t number) noexcept;
/// The name of any type number, supported or not: "Q8_K"; "number 99" for an unknown one.
std::string file_type_name(uint32_t number);

} // namespace schedscope::gguf
