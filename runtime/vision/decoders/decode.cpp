// Which format it is, and how large: looked at before anything is decoded.
#include "runtime/system/budget.h"
#include "runtime/system/number_words.h"
#include "runtime/vision/decoders/decoder.h"
#include "runtime/vision/decoders/image_header.h"

#include <algorithm>
#include <cctype>

namespace schedscope::vision {

void damaged(const char* format, const std::string& why) {
    throw Undecodable("the image (" + std::string(format) + ") is damaged: " + why);
}

void unreadable(const char* format, const std::string& why) {
    throw Undecodable("the image (" + std::string(format) + ") can't be read: " + why);
}

std::string continued(std::string sentence) {
    if (sentence.size() > 1 && std::islower(static_cast<unsigned char>(sentence[1])) != 0) {
        sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
    }
    return sentence;
}

void check_size(int64_t width, int64_t height) {
    const std::string pixels = std::to_string(width) + " x " + std::to_string(height) + " pixels";
    if (width <= 0 || height <= 0) {
        throw Undecodable("the image is empty: " + pixels);
    }
    if (std::max(width, height) > budget::image_longest_side || width * height > budget::image_pixels) {
        throw Undecodable("an image of " + pixels + " is too large");
    }
}

void takes_too_much_memory() {
    throw Undecodable("takes more than " + words::limit(budget::image_memory_bytes) + " of memory to be decoded");
}

void check_memory(int64_t bytes) {
    if (bytes > budget::image_memory_bytes) {
        takes_too_much_memory();
    }
}

ImageHeader check_header(std::span<const std::byte> beginning) {
    if (beginning.empty()) {
        throw Undecodable("not an image: the file is empty");
    }
    const std::optional<ImageHeader> header = image_header(beginning);
    if (!header) {
        throw Undecodable("not an image that can be read (PNG, JPEG, WebP, BMP, GIF, PNM)");
    }
    if (header->size) {
        check_size(header->size->width, header->size->height);
    }
    return *header;
}

void check_file_size(int64_t bytes) {
    if (bytes > budget::image_file_bytes) {
        throw Undecodable("a file of " + std::to_string(bytes / budget::mib) + " MiB is too large for an image; " +
                          words::limit(budget::image_file_bytes) + " is the most");
    }
}

Image decode_any(std::span<const std::byte> file) {
    const ImageHeader header = check_header(file);
    check_file_size(file.size());
    return header.decode(file);
}

} // namespace schedscope::vision
