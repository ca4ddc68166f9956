// PNG, by libpng. The bytes are those that stb_image gives, and so llama.cpp sees: what is finer than 8 bits is cut, transparency
// dropped, no gamma.
#include "runtime/system/budget.h"
#include "runtime/vision/decoders/decoder.h"
#include "runtime/vision/decoders/escape.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <png.h>

namespace schedscope::vision {

namespace {

constexpr const char* ends_early = "the file ends too early";

/// One decoding, as libpng's callbacks reach it.
struct Decoding {
    Escape escape{"PNG"};
    const std::byte* next = nullptr;
    size_t left = 0;
    png_structp png = nullptr;
    png_infop info = nullptr;
    png_bytep rgb = nullptr;
    bool no_memory = false;
};

/// Frees what libpng took.
class Structures {
public:
    explicit Structures(Decoding& d) : decoding_(d) {}
    ~Structures() { png_destroy_read_struct(&decoding_.png, &decoding_.info, nullptr); }
    Structures(const Structures&) = delete;
    Structures& operator=(const Structures&) = delete;

private:
    Decoding& decoding_;
};

void on_error(png_structp png, png_const_charp why) {
    auto& d = *static_cast<Decoding*>(png_get_error_ptr(png));
    d.escape.leave(d.no_memory ? Escape::Reason::no_memory : Escape::Reason::damaged, why);
}
void on_warning(png_structp, png_const_charp) {}

void* take_memory(png_structp png, png_alloc_size_t bytes) {
    void* memory = std::malloc(bytes);
    static_cast<Decoding*>(png_get_mem_ptr(png))->no_memory = memory == nullptr;
    return memory;
}
void give_memory(png_structp, void* memory) { std::free(memory); }

void read_bytes(png_structp png, png_bytep out, size_t n) {
    auto& d = *static_cast<Decoding*>(png_get_io_ptr(png));
    if (n > d.left) {
        png_error(png, ends_early);
    }
    std::memcpy(out, d.next, n);
    d.next += n;
    d.left -= n;
}

void read_header(Decoding& d) {
    d.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning, &d, take_memory, give_memory);
    d.info = d.png != nullptr ? png_create_info_struct(d.png) : nullptr;
    if (d.info == nullptr) {
        d.escape.leave(Escape::Reason::no_memory, "");
    }
    png_set_read_fn(d.png, &d, read_bytes);
    png_set_benign_errors(d.png, 1);
    png_set_user_limits(d.png, static_cast<png_uint_32>(budget::image_longest_side),
                        static_cast<png_uint_32>(budget::image_longest_side));
    png_set_chunk_malloc_max(d.png, static_cast<png_alloc_size_t>(budget::png_chunk_bytes));
    png_set_chunk_cache_max(d.png, 1);
    png_set_keep_unknown_chunks(d.png, PNG_HANDLE_CHUNK_NEVER, nullptr,
                                -1); // names, profiles, times: nothing that pixels depend on
    png_read_info(d.png, d.info);
}

void read_pixels(Decoding& d) {
    png_set_palette_to_rgb(d.png);
    png_set_expand_gray_1_2_4_to_8(d.png);
    png_set_strip_16(d.png);
    png_set_strip_alpha(d.png);
    png_set_gray_to_rgb(d.png);
    const int passes = png_set_interlace_handling(d.png);
    png_read_update_info(d.png, d.info);
    const size_t row_bytes = size_t{3} * png_get_image_width(d.png, d.info);
    if (png_get_rowbytes(d.png, d.info) != row_bytes) {
        png_error(d.png, "its rows are not of three bytes a pixel");
    }
    for (int pass = 0; pass < passes; ++pass) {
        for (png_uint_32 y = 0; y < png_get_image_height(d.png, d.info); ++y) {
            png_read_row(d.png, d.rgb + y * row_bytes, nullptr);
        }
    }
    png_read_end(d.png, nullptr);
}

/// Deflate makes at most 1032 bytes of one: so much must be there before memory is taken for the pixels.
void check_compression(const Decoding& d, size_t file_bytes) {
    constexpr size_t most_of_a_byte = 1032;
    const size_t unpacked = png_get_rowbytes(d.png, d.info) * png_get_image_height(d.png, d.info);
    if (unpacked / most_of_a_byte > file_bytes) {
        damaged("PNG", ends_early);
    }
}

} // namespace

Image decode_png(std::span<const std::byte> file) {
    Decoding d;
    d.next = file.data();
    d.left = file.size();
    const Structures structures(d);
    d.escape.run(read_header, d);
    const png_uint_32 width = png_get_image_width(d.png, d.info), height = png_get_image_height(d.png, d.info);
    check_size(width, height);
    check_compression(d, file.size());
    Image image(width, height);
    d.rgb = image.rgb.data();
    d.escape.run(read_pixels, d);
    return image;
}

} // namespace schedscope::vision
