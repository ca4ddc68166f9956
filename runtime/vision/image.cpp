#include "runtime/vision/image.h"

#include "runtime/error.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#define STBI_NO_STDIO
#include <stb/stb_image.h>

namespace schedscope::vision {

namespace {

constexpr int64_t most_pixels = int64_t{1} << 28;

[[noreturn]] void refuse(const std::string& name, const std::string& why) { throw Error(ErrorKind::input, name + ": " + why); }

/// stb's reason, beginning as sentences of ours do.
std::string reason() {
    std::string why = stbi_failure_reason() != nullptr ? stbi_failure_reason() : "it can't be read";
    if (!why.empty() && why.size() > 1 && std::islower(static_cast<unsigned char>(why[1])) != 0) {
        why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
    }
    return why;
}

struct Free {
    void operator()(stbi_uc* p) const noexcept { stbi_image_free(p); }
};

} // namespace

Image decode_image(std::span<const std::byte> bytes, const std::string& name) {
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    if (bytes.empty() || bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
        refuse(name, bytes.empty() ? "not an image: the file is empty" : "not an image: the file has 2 GiB or more");
    }
    const int size = static_cast<int>(bytes.size());
    int width = 0, height = 0, channels = 0;
    if (stbi_info_from_memory(data, size, &width, &height, &channels) == 0) {
        refuse(name, "not an image that can be read (PNG, JPEG, BMP, GIF, PNM): " + reason());
    }
    // Before decoding: a small file can claim, and be unpacked to, very much.
    if (int64_t{width} * height > most_pixels) {
        refuse(name, "an image of " + std::to_string(width) + " x " + std::to_string(height) + " pixels is too large");
    }
    const std::unique_ptr<stbi_uc, Free> pixels(stbi_load_from_memory(data, size, &width, &height, &channels, 3));
    if (pixels == nullptr) {
        refuse(name, "the image is damaged: " + reason());
    }
    if (width <= 0 || height <= 0) {
        refuse(name, "the image is damaged: it has no pixels");
    }
    Image image(width, height);
    std::memcpy(image.rgb.data(), pixels.get(), image.rgb.size());
    return image;
}

Image read_image(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        refuse(path, error && error != std::errc::no_such_file_or_directory ? error.message() : "there is no such file");
    }
    if (std::filesystem::is_directory(status)) {
        refuse(path, "is a folder, not an image");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        refuse(path, std::strerror(errno));
    }
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) {
        refuse(path, "can't be read");
    }
    return decode_image(std::as_bytes(std::span(bytes)), path);
}

} // namespace schedscope::vision
