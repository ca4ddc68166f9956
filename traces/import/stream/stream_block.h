#pragma once

#include "traces/import/opened_input.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedscope::import {

/// The first bytes of a stream (SCHEMA.md, "As a stream")?
bool is_stream(std::string_view head) noexcept;

/// A block as it came; nothing in its records is checked yet.
struct StreamBlock {
    uint64_t place = 0; ///< where it begins in the stream
    std::optional<int64_t> evaluation, time_ns;
    uint64_t dropped = 0;           ///< blocks before it that the writer had no room for
    size_t record_bytes = 0;        ///< behind the header, as that says
    std::vector<std::byte> records; ///< those bytes
};

/// What the header of a block says that begins at `place`. Throws Damage where there can't be such a block; its records are
/// still to be read: a number alone gets no memory.
StreamBlock block_of_header(std::span<const std::byte> header, uint64_t place);

/// A number as a stream has it. There are as many bytes.
template <typename T> T number_at(std::span<const std::byte> bytes, size_t at) noexcept {
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

/// "the block at byte 1,024".
std::string block_name(uint64_t place);

/// The blocks of a file or a pipe, one after the other. A whole block is waited for.
class StreamFile {
public:
    explicit StreamFile(OpenedInput input) : input_(std::move(input)) {}

    /// Nothing: it ends here, or somebody asked to stop. Throws Error(input) where it can't be read, Damage where no block is.
    std::optional<StreamBlock> next();
    bool cut() const noexcept { return cut_; } ///< it ends within a block
    const OpenedInput& input() const noexcept { return input_; }

private:
    OpenedInput input_;
    uint64_t place_ = 0;
    bool cut_ = false;
};

} // namespace schedscope::import
