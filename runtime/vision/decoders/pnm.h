#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace schedscope::vision {

/// Size of a binary PGM (P5) or PPM (P6) as its header says, and where its samples begin:
///
///   "P5" or "P6", then width, height and the largest value (1 … 65535) in decimal, each after blanks or remarks (# to the end of
///   the line), one blank, and the samples in rows from the top: of one byte, or of two (the higher first) where the largest
///   value is over 255.
struct PnmHeader {
    int32_t width = 0, height = 0;
    int32_t largest = 0;
    int32_t channels = 0;
    bool complete = false; ///< all three numbers are there
    size_t samples = 0;    ///< bytes into the file

    size_t sample_bytes() const noexcept { return largest > 255 ? 2 : 1; }
    size_t data_bytes() const noexcept { return width * static_cast<size_t>(height) * channels * sample_bytes(); }
};

/// Nothing when the file does not begin like one. Numbers are as they are written, possible or not.
std::optional<PnmHeader> pnm_header(std::span<const std::byte> bytes);

} // namespace schedscope::vision
