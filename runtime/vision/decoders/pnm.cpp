#include "runtime/vision/decoders/pnm.h"

#include "runtime/vision/decoders/decoder.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace schedscope::vision {

namespace {

/// Walks over a header.
class PnmHeaderReader {
public:
    explicit PnmHeaderReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    /// What is larger than the type's largest is that.
    int32_t number() {
        skip_blanks();
        const size_t begin = at_;
        int64_t n = 0;
        for (; at_ < bytes_.size() && std::isdigit(byte()) != 0; ++at_) {
            n = std::min<int64_t>(n * 10 + (byte() - '0'), std::numeric_limits<int32_t>::max());
        }
        complete_ = complete_ && at_ > begin;
        return static_cast<int32_t>(n);
    }
    size_t at() const noexcept { return at_; }
    bool complete() const noexcept { return complete_; } ///< every number was there

private:
    int byte() const noexcept { return static_cast<int>(bytes_[at_]); }
    void skip_blanks() {
        bool remark = false;
        for (; at_ < bytes_.size() && (remark || std::isspace(byte()) != 0 || byte() == '#'); ++at_) {
            remark = byte() == '#' || (remark && byte() != '\n');
        }
    }

    std::span<const std::byte> bytes_;
    size_t at_ = 2;
    bool complete_ = true;
};

/// The samples, scaled to 255. All of them are there.
Image samples_of(std::span<const std::byte> bytes, const PnmHeader& h) {
    Image image(h.width, h.height);
    const std::byte* in = bytes.data() + h.samples;
    const auto next = [&] {
        int32_t v = static_cast<int32_t>(*in++);
        if (h.sample_bytes() == 2) {
            v = v * 256 + static_cast<int32_t>(*in++);
        }
        return static_cast<uint8_t>((std::min(v, h.largest) * 255 + h.largest / 2) / h.largest);
    };
    for (size_t i = 0; i < image.rgb.size(); i += 3) {
        image.rgb[i] = next();
        image.rgb[i + 1] = h.channels == 3 ? next() : image.rgb[i];
        image.rgb[i + 2] = h.channels == 3 ? next() : image.rgb[i];
    }
    return image;
}

} // namespace

std::optional<PnmHeader> pnm_header(std::span<const std::byte> bytes) {
    const auto letter = [&](size_t i) { return static_cast<char>(bytes[i]); };
    if (bytes.size() < 3 || letter(0) != 'P' || (letter(1) != '5' && letter(1) != '6') ||
        (std::isspace(static_cast<unsigned char>(letter(2))) == 0 && letter(2) != '#')) {
        return std::nullopt;
    }
    PnmHeaderReader text(bytes);
    PnmHeader header;
    header.channels = letter(1) == '6' ? 3 : 1;
    header.width = text.number();
    header.height = text.number();
    header.largest = text.number();
    header.complete = text.complete();
    header.samples = std::min(text.at() + 1, bytes.size());
    return header;
}

Image decode_pnm(std::span<const std::byte> file) {
    constexpr int32_t most_sample = 65'535;
    const std::optional<PnmHeader> header = pnm_header(file);
    if (!header || !header->complete) {
        damaged("PNM", "its header is not complete");
    }
    if (header->largest < 1 || header->largest > most_sample) {
        damaged("PNM", "samples up to " + std::to_string(header->largest));
    }
    check_size(header->width, header->height);
    if (file.size() - header->samples < header->data_bytes()) {
        damaged("PNM", "the file ends too early");
    }
    return samples_of(file, *header);
}

} // namespace schedscope::vision
