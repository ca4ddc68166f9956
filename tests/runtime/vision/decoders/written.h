#pragma once

#include "runtime/vision/image.h"

#include <cstdint>
#include <string>
#include <vector>

/// Sound files, written by the formats' own libraries.
namespace schedscope::test {

/// Samples of a picture with slopes, edges and noise; the same for the same arguments.
std::vector<uint8_t> samples(int width, int height, int channels, uint32_t seed = 1);

struct JpegKind {
    int width = 16, height = 16;
    enum class Colours { grey, ycc, rgb, cmyk, ycck } colours = Colours::ycc;
    std::vector<std::pair<int, int>>
        sampling{}; ///< horizontal and vertical factor of each component; none: 2 × 2, 1 × 1, 1 × 1, 2 × 2
    int quality = 90;
    int restart_interval = 0; ///< MCUs
    bool adobe = true;        ///< Adobe's segment, where these colours have one
    bool arithmetic = false;
    bool coarse = false; ///< steps above 255
    /// of each: component (−1: all), Ss, Se, Ah, Al; none: one scan
    struct Scan {
        int component, first, last, high, low;
    };
    std::vector<Scan> scans{};
    bool progressive = false; ///< with libjpeg's own scans
    std::string comment{};
};
std::string jpeg(const JpegKind& kind);

struct PngKind {
    int width = 16, height = 16;
    int bits = 8;
    int colours = 2; ///< as in the format: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA
    bool interlaced = false, transparent = false, further_chunks = false;
    int n_palette = 256;
};
/// The file, and the rows that were written: samples of `bits`, the highest byte first.
std::string png(const PngKind& kind, const std::vector<uint8_t>& rows);
/// Bytes of one row.
size_t png_row_bytes(const PngKind& kind);
/// A PNG of nothing but zeros, which compress well.
std::string black_png(int width, int height, int bits, int colours);

/// quality: −1 lossless. channels: 3, or 4 with transparency.
std::string webp(int width, int height, int channels, const std::vector<uint8_t>& samples, float quality);

/// A GIF of one frame on a screen, whose codes are all of one length. pixels: numbers of colours of `palette`, three bytes each
/// (2 to 256 of them, a power of two).
struct GifKind {
    int width = 4, height = 4; ///< of the frame
    int screen_width = 4, screen_height = 4, x = 0, y = 0;
    int background = 0, transparent = -1;
    bool interlaced = false, local_palette = false;
    std::vector<uint8_t> palette{}, pixels{};
};
std::string gif(const GifKind& kind);

struct BmpKind {
    int width = 4, height = 4; ///< negative height: rows from the top
    int bits = 24;
    int header_bytes = 40;
    std::vector<uint32_t> masks{}; ///< red, green, blue: where they are in 16 or 32 bits
    std::vector<uint8_t> palette{}, rows{};
};
std::string bmp(const BmpKind& kind);
size_t bmp_row_bytes(const BmpKind& kind);

} // namespace schedscope::test
