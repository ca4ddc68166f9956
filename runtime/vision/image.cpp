#include "runtime/vision/image.h"

#include "runtime/error.h"
#include "runtime/vision/pnm.h"

#include <algorithm>
#include <cctype>
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

constexpr int64_t most_pixels = 178'956'970; // where Pillow, too, takes an image for a bomb

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

/// A file in memory as stb asks for it. stb goes on with zeros where a file ends too early; here that is noticed.
class Source {
public:
    explicit Source(std::span<const std::byte> bytes) : bytes_(bytes) {}
    bool read_past_end() const noexcept { return past_end_; }

    static stbi_io_callbacks callbacks() noexcept {
        return {[](void* self, char* out, int n) { return static_cast<Source*>(self)->read(out, n); },
                [](void* self, int n) { static_cast<Source*>(self)->skip(n); },
                [](void* self) { return static_cast<Source*>(self)->at_end() ? 1 : 0; }};
    }

private:
    int read(char* out, int n) {
        const size_t count = std::min(static_cast<size_t>(std::max(n, 0)), bytes_.size() - at_);
        past_end_ = past_end_ || (count == 0 && n > 0);
        std::memcpy(out, bytes_.data() + at_, count);
        at_ += count;
        return static_cast<int>(count);
    }
    bool at_end() const noexcept { return at_ == bytes_.size(); }
    void skip(int n) {
        at_ = n > 0 ? std::min(at_ + static_cast<size_t>(n), bytes_.size()) : at_ - std::min(at_, static_cast<size_t>(-n));
    }

    std::span<const std::byte> bytes_;
    size_t at_ = 0;
    bool past_end_ = false;
};

/// Before decoding: a small file can claim, and be unpacked to, very much.
void check_size(int64_t width, int64_t height, const std::string& name) {
    if (width * height > most_pixels) {
        refuse(name, "an image of " + std::to_string(width) + " x " + std::to_string(height) + " pixels is too large");
    }
    if (width <= 0 || height <= 0) {
        refuse(name, "the image is damaged: it has no pixels");
    }
}

} // namespace

Image decode_image(std::span<const std::byte> bytes, const std::string& name) {
    if (bytes.empty() || bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
        refuse(name, bytes.empty() ? "not an image: the file is empty" : "not an image: the file has 2 GiB or more");
    }
    if (const auto pnm = pnm_header(bytes)) {
        check_size(pnm->width, pnm->height, name);
        if (pnm->largest == 0 || bytes.size() - pnm->samples < pnm->data_bytes()) {
            refuse(name, "the image is damaged: " +
                             std::string(pnm->largest == 0 ? "its header is not complete" : "the file ends too early"));
        }
        return decode_pnm(bytes, *pnm);
    }
    int width = 0, height = 0, channels = 0;
    if (stbi_info_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()), &width, &height,
                              &channels) == 0) {
        refuse(name, "not an image that can be read (PNG, JPEG, BMP, GIF, PNM): " + reason());
    }
    check_size(width, height, name);
    Source source(bytes);
    const stbi_io_callbacks callbacks = Source::callbacks();
    const std::unique_ptr<stbi_uc, Free> pixels(stbi_load_from_callbacks(&callbacks, &source, &width, &height, &channels, 3));
    if (pixels == nullptr || source.read_past_end()) {
        refuse(name, "the image is damaged: " + (source.read_past_end() ? "the file ends too early" : reason()));
    }
    check_size(width, height, name);
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
