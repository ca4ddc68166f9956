// GIF, by stb_image, which gets a file that was walked over: the blocks are complete, the first frame lies inside the screen, and
// behind it the file ends.
#include "runtime/vision/decoders/bytes.h"
#include "runtime/vision/decoders/decoder.h"

namespace schedscope::vision {

namespace {

constexpr const char* format = "GIF";

/// "GIF87a" or "GIF89a"; u16 width and height of the screen, u8 flags, u8 background, u8 aspect; a palette where the flags say
/// so; then blocks:
///
///   21 u8 kind, data                                    an extension; of kind f9 the data is one part of 4 bytes
///   2c u16 x, y, width, height, u8 flags, a palette where they say so, u8 bits of a first code, data     a frame
///   3b                                                  the end
///
/// Data is parts of u8 length and so many bytes; a part of length 0 ends it.
class Walk {
public:
    explicit Walk(std::span<const std::byte> file) : file_(file) {
        need(header_bytes);
        width_ = number(6);
        height_ = number(8);
    }

    int64_t width() const noexcept { return width_; } ///< of the screen
    int64_t height() const noexcept { return height_; }

    /// How many bytes there are up to the first frame's end.
    size_t to_end_of_first_frame() {
        constexpr int extension = 0x21, frame = 0x2c;
        const bool palette = skip_palette(number_of_flags(10), header_bytes);
        for (;;) {
            need(1);
            switch (byte_at(file_, at_++)) {
            case extension: skip_extension(); break;
            case frame: skip_frame(palette); return at_;
            default: damaged(format, "it holds no frame");
            }
        }
    }

private:
    static constexpr size_t header_bytes = 13;

    void need(size_t n) const {
        if (file_.size() - at_ < n) {
            damaged(format, "the file ends too early");
        }
    }
    int64_t number(size_t at) const { return lowest_first(file_, at_ + at, 2); }
    int number_of_flags(size_t at) const { return byte_at(file_, at_ + at); }

    /// Goes on behind `before` bytes, and a palette if the flags say that there is one.
    bool skip_palette(int flags, size_t before) {
        constexpr int has_palette = 0x80;
        at_ += before;
        if ((flags & has_palette) == 0) {
            return false;
        }
        const size_t bytes = size_t{3} * (size_t{2} << (flags & 7));
        need(bytes);
        at_ += bytes;
        return true;
    }
    /// Returns how many bytes the parts had.
    size_t skip_data() {
        const size_t begin = at_;
        for (size_t length = 1; length != 0;) {
            need(1);
            length = byte_at(file_, at_++);
            need(length);
            at_ += length;
        }
        return at_ - begin;
    }
    void skip_extension() {
        constexpr int graphic_control = 0xf9, its_bytes = 4;
        need(2);
        const int kind = byte_at(file_, at_++);
        if (kind == graphic_control && byte_at(file_, at_) != its_bytes) {
            damaged(format, "an extension of it has a wrong length");
        }
        skip_data();
    }
    void skip_frame(bool palette) {
        constexpr size_t descriptor_bytes = 9;
        need(descriptor_bytes);
        const int64_t width = number(4), height = number(6);
        if (number(0) + width > width_ || number(2) + height > height_) {
            damaged(format, "its frame is larger than its screen");
        }
        if (!skip_palette(number_of_flags(8), descriptor_bytes) && !palette) {
            damaged(format, "it has no colours");
        }
        need(1);
        const int bits = byte_at(file_, at_++);
        if (bits < 1 || bits > 8) {
            damaged(format, "its first code has " + std::to_string(bits) + " bits");
        }
        // A code has more bits than the first one, and stands for so many pixels at most.
        constexpr int64_t pixels_of_a_code = 4096;
        const auto codes = static_cast<int64_t>(skip_data()) * 8 / (bits + 1);
        if (codes * pixels_of_a_code < width * height) {
            damaged(format, "the file ends too early");
        }
    }

    std::span<const std::byte> file_;
    size_t at_ = 0;
    int64_t width_ = 0, height_ = 0;
};

} // namespace

Image decode_gif(std::span<const std::byte> file) {
    constexpr int64_t bytes_of_a_pixel = 4 + 4 + 1 + 3; // stb_image's frame, background and marks, and the result
    Walk walk(file);
    const auto first_frame = file.first(walk.to_end_of_first_frame());
    check_size(walk.width(), walk.height());
    check_memory(bytes_of_a_pixel * walk.width() * walk.height());
    return decode_with_stb(first_frame, format);
}

} // namespace schedscope::vision
