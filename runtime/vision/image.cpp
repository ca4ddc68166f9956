#include "runtime/vision/image.h"

#include "runtime/error.h"
#include "runtime/vision/image_header.h"
#include "runtime/vision/pnm.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STBI_NO_STDIO
#include <stb/stb_image.h>

namespace schedscope::vision {

namespace {

constexpr int64_t longest_side = 65'535;
constexpr int32_t most_sample = 65'535;
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

/// A small file can claim, and be unpacked to, very much.
void check_size(ImageHeader::Pixels size, const std::string& name) {
    const std::string pixels = std::to_string(size.width) + " x " + std::to_string(size.height) + " pixels";
    if (size.width == 0 || size.height == 0) {
        refuse(name, "the image is empty: " + pixels);
    }
    if (std::max(size.width, size.height) > longest_side || size.width * size.height > most_pixels) {
        refuse(name, "an image of " + pixels + " is too large");
    }
}

/// Of the whole file, or of its beginning.
ImageHeader check_header(std::span<const std::byte> bytes, const std::string& name) {
    const std::optional<ImageHeader> header = image_header(bytes);
    if (!header) {
        refuse(name, "not an image that can be read (PNG, JPEG, BMP, GIF, PNM)");
    }
    if (header->size) {
        check_size(*header->size, name);
    }
    return *header;
}

Image decode_samples(std::span<const std::byte> bytes, const PnmHeader& pnm, const std::string& name) {
    if (!pnm.complete || pnm.largest < 1 || pnm.largest > most_sample) {
        refuse(name, pnm.complete ? "the image is damaged: samples up to " + std::to_string(pnm.largest)
                                  : "the image is damaged: its header is not complete");
    }
    if (bytes.size() - pnm.samples < pnm.data_bytes()) {
        refuse(name, "the image is damaged: the file ends too early");
    }
    return decode_pnm(bytes, pnm);
}

/// A file that is read from its beginning.
class Reader {
public:
    explicit Reader(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        struct stat facts {}; // O_NONBLOCK: a pipe without a writer is told, not waited for
        if (fd_ < 0 || ::fstat(fd_, &facts) != 0) {
            const int why = errno;
            close();
            refuse(path, why == ENOENT ? "there is no such file" : std::generic_category().message(why));
        }
        if (!S_ISREG(facts.st_mode)) {
            close();
            refuse(path, S_ISDIR(facts.st_mode) ? "is a folder, not an image" : "is not a regular file");
        }
        file_bytes_ = facts.st_size;
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { close(); }

    int64_t file_bytes() const noexcept { return file_bytes_; }
    /// Reads on until there are `size` bytes, or the file ends.
    void read_to(std::vector<std::byte>& bytes, size_t size) {
        size_t have = bytes.size();
        bytes.resize(std::max(have, size));
        while (have < size) {
            const ssize_t n = ::read(fd_, bytes.data() + have, size - have);
            if (n < 0 && errno != EINTR) {
                refuse(path_, std::generic_category().message(errno));
            }
            if (n == 0) {
                break;
            }
            have += n > 0 ? static_cast<size_t>(n) : 0;
        }
        bytes.resize(have);
    }

private:
    void close() noexcept {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

    const std::string& path_;
    int fd_;
    int64_t file_bytes_ = 0;
};

} // namespace

Image decode_image(std::span<const std::byte> bytes, const std::string& name) {
    if (bytes.empty() || bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
        refuse(name, bytes.empty() ? "not an image: the file is empty" : "not an image: the file has 2 GiB or more");
    }
    const ImageHeader header = check_header(bytes, name);
    if (const auto pnm = pnm_header(bytes)) {
        return decode_samples(bytes, *pnm, name);
    }
    int width = 0, height = 0, channels = 0;
    const auto damaged = [&](const std::string& why) {
        refuse(name, "the image (" + std::string(header.format) + ") is damaged: " + why);
    };
    if (stbi_info_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()), &width, &height,
                              &channels) == 0) {
        damaged(header.size ? "its header makes no sense" : "its header is not complete");
    }
    check_size({width, height}, name);
    Source source(bytes);
    const stbi_io_callbacks callbacks = Source::callbacks();
    const std::unique_ptr<stbi_uc, Free> pixels(stbi_load_from_callbacks(&callbacks, &source, &width, &height, &channels, 3));
    if (pixels == nullptr || source.read_past_end()) {
        damaged(source.read_past_end() ? "the file ends too early" : reason());
    }
    check_size({width, height}, name);
    Image image(width, height);
    std::memcpy(image.rgb.data(), pixels.get(), image.rgb.size());
    return image;
}

Image read_image(const std::string& path) {
    Reader file(path);
    std::vector<std::byte> bytes;
    constexpr size_t beginning = size_t{64} << 10U; // the size of most images lies there
    file.read_to(bytes, beginning);
    if (!bytes.empty()) {
        check_header(bytes, path);
    }
    if (file.file_bytes() > most_image_bytes) {
        refuse(path, "a file of " + std::to_string(file.file_bytes() >> 20U) + " MiB is too large for an image; " +
                         std::to_string(most_image_bytes >> 20U) + " MiB is the most");
    }
    file.read_to(bytes, static_cast<size_t>(file.file_bytes()));
    return decode_image(bytes, path);
}

} // namespace schedscope::vision
