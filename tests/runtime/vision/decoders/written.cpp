#include "tests/runtime/vision/decoders/written.h"

#include "tests/runtime/vision/files_in_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>

namespace schedscope::test {

std::vector<uint8_t> samples(int width, int height, int channels, uint32_t seed) {
    std::vector<uint8_t> all;
    uint32_t noise = seed;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (int c = 0; c < channels; ++c) {
                noise = noise * 1664525U + 1013904223U;
                const int slope = (x * (3 + c) + y * (5 - c)) % 400;
                const int edge = ((x / 5 + y / 7 + c) % 3 == 0) ? 110 : 0;
                all.push_back(static_cast<uint8_t>(std::clamp(slope / 2 + edge + static_cast<int>(noise >> 27U) - 16, 0, 255)));
            }
        }
    }
    return all;
}

namespace {

[[noreturn]] void fail_jpeg(j_common_ptr codec) {
    char why[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, why);
    std::fprintf(stderr, "%s\n", why); // the test asked for what can't be written
    std::abort();
}

J_COLOR_SPACE of_file(JpegKind::Colours colours) {
    switch (colours) {
    case JpegKind::Colours::grey: return JCS_GRAYSCALE;
    case JpegKind::Colours::ycc: return JCS_YCbCr;
    case JpegKind::Colours::rgb: return JCS_RGB;
    case JpegKind::Colours::cmyk: return JCS_CMYK;
    default: return JCS_YCCK;
    }
}

} // namespace

std::string jpeg(const JpegKind& kind) {
    jpeg_compress_struct out{};
    jpeg_error_mgr errors{};
    out.err = jpeg_std_error(&errors);
    errors.error_exit = fail_jpeg;
    errors.emit_message = [](j_common_ptr, int) {};
    jpeg_create_compress(&out);
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&out, &bytes, &size);
    const bool grey = kind.colours == JpegKind::Colours::grey;
    const bool four = kind.colours == JpegKind::Colours::cmyk || kind.colours == JpegKind::Colours::ycck;
    out.image_width = static_cast<JDIMENSION>(kind.width);
    out.image_height = static_cast<JDIMENSION>(kind.height);
    out.input_components = grey ? 1 : four ? 4 : 3;
    out.in_color_space = grey ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
    jpeg_set_defaults(&out);
    jpeg_set_colorspace(&out, of_file(kind.colours));
    jpeg_set_quality(&out, kind.quality, kind.coarse ? FALSE : TRUE);
    for (size_t i = 0; i < kind.sampling.size(); ++i) {
        out.comp_info[i].h_samp_factor = kind.sampling[i].first;
        out.comp_info[i].v_samp_factor = kind.sampling[i].second;
    }
    out.restart_interval = static_cast<unsigned>(kind.restart_interval);
    out.arith_code = kind.arithmetic ? TRUE : FALSE;
    if (!kind.adobe) {
        out.write_Adobe_marker = FALSE;
    }
    if (kind.progressive) {
        jpeg_simple_progression(&out);
    }
    std::vector<jpeg_scan_info> scans;
    for (const JpegKind::Scan& scan : kind.scans) {
        jpeg_scan_info info{};
        info.comps_in_scan = scan.component < 0 ? out.num_components : 1;
        for (int c = 0; c < info.comps_in_scan; ++c) {
            info.component_index[c] = scan.component < 0 ? c : scan.component;
        }
        info.Ss = scan.first;
        info.Se = scan.last;
        info.Ah = scan.high;
        info.Al = scan.low;
        scans.push_back(info);
    }
    if (!scans.empty()) {
        out.scan_info = scans.data();
        out.num_scans = static_cast<int>(scans.size());
    }
    jpeg_start_compress(&out, TRUE);
    if (!kind.comment.empty()) {
        jpeg_write_marker(&out, JPEG_COM, reinterpret_cast<const JOCTET*>(kind.comment.data()),
                          static_cast<unsigned>(kind.comment.size()));
    }
    std::vector<uint8_t> all = samples(kind.width, kind.height, out.input_components);
    for (int y = 0; y < kind.height; ++y) {
        JSAMPROW row =
            all.data() + static_cast<size_t>(y) * static_cast<size_t>(kind.width) * static_cast<size_t>(out.input_components);
        jpeg_write_scanlines(&out, &row, 1);
    }
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    std::string file(reinterpret_cast<const char*>(bytes), size);
    std::free(bytes);
    return file;
}

namespace {

void append_to_string(png_structp png, png_bytep bytes, size_t n) {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(bytes), n);
}

int png_channels(int colours) { return colours == 2 ? 3 : colours == 4 ? 2 : colours == 6 ? 4 : 1; }

/// Calls `write_rows` between header and end.
template <typename WriteRows> std::string write_png(const PngKind& kind, WriteRows write_rows) {
    std::string file;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &file, append_to_string, [](png_structp) {});
    png_set_IHDR(png, info, static_cast<png_uint_32>(kind.width), static_cast<png_uint_32>(kind.height), kind.bits, kind.colours,
                 kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    std::vector<png_color> palette;
    std::vector<png_byte> alpha;
    for (int i = 0; i < kind.n_palette; ++i) {
        palette.push_back({static_cast<png_byte>(i * 7), static_cast<png_byte>(255 - i), static_cast<png_byte>(i * 31)});
        alpha.push_back(static_cast<png_byte>(i * 3));
    }
    if (kind.colours == 3) {
        png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
    }
    if (kind.transparent) {
        png_color_16 grey{0, 1, 1, 1, 1};
        kind.colours == 3 ? png_set_tRNS(png, info, alpha.data(), kind.n_palette / 2, nullptr)
                          : png_set_tRNS(png, info, nullptr, 0, &grey);
    }
    if (kind.further_chunks) {
        png_set_gAMA(png, info, 0.3);
        png_color_16 background{0, 1, 1, 1, 1};
        if (kind.colours != 3) {
            png_set_bKGD(png, info, &background);
        }
        char key[] = "Comment", text[] = "once upon a time";
        png_text comment{PNG_TEXT_COMPRESSION_zTXt, key, text, sizeof(text) - 1, 0, nullptr, nullptr};
        png_set_text(png, info, &comment, 1);
    }
    png_write_info(png, info);
    write_rows(png);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return file;
}

} // namespace

size_t png_row_bytes(const PngKind& kind) {
    return (static_cast<size_t>(kind.width) * static_cast<size_t>(kind.bits * png_channels(kind.colours)) + 7) / 8;
}

std::string png(const PngKind& kind, const std::vector<uint8_t>& rows) {
    return write_png(kind, [&](png_structp png) {
        std::vector<uint8_t> copy = rows;
        std::vector<png_bytep> begins;
        for (int y = 0; y < kind.height; ++y) {
            begins.push_back(copy.data() + static_cast<size_t>(y) * png_row_bytes(kind));
        }
        png_write_image(png, begins.data());
    });
}

std::string black_png(int width, int height, int bits, int colours) {
    PngKind kind;
    kind.width = width;
    kind.height = height;
    kind.bits = bits;
    kind.colours = colours;
    return write_png(kind, [&](png_structp png) {
        png_set_filter(png, 0, PNG_FILTER_NONE);
        std::vector<uint8_t> row(png_row_bytes(kind));
        for (int y = 0; y < height; ++y) {
            png_write_row(png, row.data());
        }
    });
}

std::string webp(int width, int height, int channels, const std::vector<uint8_t>& samples, float quality) {
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer;
    if (WebPConfigInit(&config) == 0 || WebPPictureInit(&picture) == 0) {
        throw std::runtime_error("libwebp is of another version");
    }
    WebPMemoryWriterInit(&writer);
    config.lossless = quality < 0 ? 1 : 0;
    config.quality = quality < 0 ? 50 : quality;
    config.exact = 1;
    picture.use_argb = config.lossless;
    picture.width = width;
    picture.height = height;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    const bool written = (channels == 4 ? WebPPictureImportRGBA(&picture, samples.data(), 4 * width)
                                        : WebPPictureImportRGB(&picture, samples.data(), 3 * width)) != 0 &&
                         WebPEncode(&config, &picture) != 0;
    std::string file(reinterpret_cast<const char*>(writer.mem), writer.size);
    WebPMemoryWriterClear(&writer);
    WebPPictureFree(&picture);
    if (!written) {
        throw std::runtime_error("libwebp can't write it");
    }
    return file;
}

std::string gif(const GifKind& kind) {
    int bits = 1;
    while (3 << bits < static_cast<int>(kind.palette.size())) {
        ++bits;
    }
    const auto number = [](int v) { return little_endian(static_cast<uint32_t>(v), 2); };
    const std::string palette(kind.palette.begin(), kind.palette.end());
    const char has_palette = static_cast<char>(0x80 | (bits - 1));
    std::string file = "GIF89a" + number(kind.screen_width) + number(kind.screen_height);
    file += {kind.local_palette ? '\0' : has_palette, static_cast<char>(kind.background), '\0'};
    file += kind.local_palette ? "" : palette;
    file += std::string("\x21\xfe\x04once\0", 8); // a comment
    if (kind.transparent >= 0) {
        file += std::string("\x21\xf9\x04\x01\0\0", 6) + static_cast<char>(kind.transparent) + '\0';
    }
    file += "\x2c" + number(kind.x) + number(kind.y) + number(kind.width) + number(kind.height);
    file += static_cast<char>((kind.local_palette ? has_palette : 0) | (kind.interlaced ? 0x40 : 0));
    file += kind.local_palette ? palette : "";
    // Codes of `first` + 1 bits; before a longer one could be due the table is cleared.
    const int first = std::max(bits, 2);
    const unsigned clear = 1U << static_cast<unsigned>(first);
    std::string data;
    unsigned room = 0, n_room = 0;
    const auto put = [&](unsigned code) {
        room |= code << n_room;
        n_room += static_cast<unsigned>(first) + 1;
        for (; n_room >= 8; n_room -= 8, room >>= 8U) {
            data += static_cast<char>(room);
        }
    };
    for (size_t i = 0; i < kind.pixels.size(); ++i) {
        if (i % (clear - 2) == 0) {
            put(clear);
        }
        put(kind.pixels[i]);
    }
    put(clear + 1);
    data += static_cast<char>(room);
    file += static_cast<char>(first);
    for (size_t at = 0; at < data.size(); at += 255) {
        const std::string part = data.substr(at, 255);
        file += static_cast<char>(part.size()) + part;
    }
    return file + std::string("\0;", 2);
}

size_t bmp_row_bytes(const BmpKind& kind) {
    return (static_cast<size_t>(kind.width) * static_cast<size_t>(kind.bits) + 31) / 32 * 4;
}

std::string bmp(const BmpKind& kind) {
    std::string header = little_endian(static_cast<uint32_t>(kind.header_bytes), 4);
    if (kind.header_bytes == 12) {
        header += little_endian(static_cast<uint32_t>(kind.width), 2) + little_endian(static_cast<uint32_t>(kind.height), 2) +
                  little_endian(1, 2) + little_endian(static_cast<uint32_t>(kind.bits), 2);
    } else {
        header += little_endian(static_cast<uint32_t>(kind.width), 4) + little_endian(static_cast<uint32_t>(kind.height), 4) +
                  little_endian(1, 2) + little_endian(static_cast<uint32_t>(kind.bits), 2) +
                  little_endian(kind.masks.empty() ? 0 : 3, 4) + std::string(20, '\0');
    }
    for (const uint32_t mask : kind.masks) {
        header += little_endian(mask, 4);
    }
    header.resize(std::max(header.size(), static_cast<size_t>(kind.header_bytes)));
    header += std::string(kind.palette.begin(), kind.palette.end());
    const std::string rows(kind.rows.begin(), kind.rows.end());
    const auto begin = static_cast<uint32_t>(14 + header.size());
    return "BM" + little_endian(static_cast<uint32_t>(begin + rows.size()), 4) + little_endian(0, 4) + little_endian(begin, 4) +
           header + rows;
}

} // namespace schedscope::test
