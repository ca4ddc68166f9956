#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace schedscope::test {

/// The bytes of a GGUF file (version 3), to break it at a place with a meaning. Reads it by the format's description, not with
/// the program's code.
class GgufBytes {
public:
    explicit GgufBytes(std::string bytes);

    const std::string& bytes() const noexcept { return bytes_; }
    size_t header_bytes() const noexcept { return header_bytes_; } ///< all in front of the tensors' data

    struct Tensor {
        size_t dimensions_at; ///< where its number of dimensions lies (u32); then the sizes (u64 each), the type (u32), the
                              ///< offset (u64)
        size_t type_at;
    };
    /// Throws std::runtime_error when there is none of that name.
    Tensor tensor(std::string_view name) const;

    /// Writes the low `bytes` bytes of a number, lowest first.
    void put(size_t at, uint64_t value, size_t bytes);
    /// Replaces the first `from` behind the first `behind` by a text of the same length.
    void replace(std::string_view from, std::string_view to, std::string_view behind);

private:
    uint64_t number(size_t at, size_t bytes) const;

    std::string bytes_;
    size_t header_bytes_ = 0;
};

} // namespace schedscope::test
