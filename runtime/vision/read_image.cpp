// The parent's side of decoding: it reads the file, and looks at what comes back.
#include "runtime/vision/read_image.h"

#include "runtime/error.h"
#include "runtime/numbers.h"
#include "runtime/system/files.h"
#include "runtime/system/process/child_process.h"
#include "runtime/vision/decoders/decoder.h"
#include "runtime/vision/decoders/image_header.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include <unistd.h>

namespace schedscope::vision {

namespace {

const ProgramRole decoder(decode_role, decode_child_main);

[[noreturn]] void refuse(const std::string& name, const std::string& why) { throw Error(ErrorKind::input, name + ": " + why); }
[[noreturn]] void can_not_start(const std::string& name, const std::string& why) {
    throw Error(ErrorKind::device, name + ": the decoder can't be started: " + why);
}

/// A file that is read from its beginning.
class ImageFile {
public:
    explicit ImageFile(const std::string& path) : path_(path), file_(open_regular_file(path, "an image")) {}

    int64_t size() const noexcept { return file_.facts.st_size; }
    /// The next bytes, as many as fit, less only where the file ends.
    std::span<std::byte> next(std::span<std::byte> room) {
        size_t have = 0;
        while (have < room.size()) {
            const ssize_t n = ::read(file_.descriptor.get(), room.data() + have, room.size() - have);
            if (n < 0 && errno != EINTR) {
                refuse(path_, std::generic_category().message(errno));
            }
            if (n == 0) {
                break;
            }
            have += n > 0 ? n : 0;
        }
        return room.first(have);
    }

private:
    const std::string& path_;
    RegularFile file_;
};

/// Copies the file, of which only the beginning is read when it is no image or too large a one. Returns what its header says.
ImageHeader copy_to(MemoryFile& copy, const std::string& path) {
    constexpr size_t part_bytes = size_t{1} << 20U, beginning_bytes = size_t{64} << 10U; // the size of most images lies there
    ImageFile file(path);
    std::vector<std::byte> room(part_bytes);
    std::span<std::byte> part = file.next(std::span(room).first(beginning_bytes));
    const ImageHeader header = check_header(part);
    check_file_size(file.size());
    for (int64_t copied = 0; !part.empty(); part = file.next(room)) {
        copied += std::ssize(part);
        check_file_size(copied); // it may be growing
        if (!copy.append(part)) {
            can_not_start(path, std::strerror(errno));
        }
    }
    if (!copy.finish()) {
        can_not_start(path, std::strerror(errno));
    }
    return header;
}

/// What the child wrote is not trusted more than the file that it read.
Image take_image(const MemoryFile& out, const ImageHeader& header, const std::string& path) {
    DecodedHeader decoded;
    const auto refuse_it = [&] { refuse(path, "can't be decoded: the decoder gave no image"); };
    if (!out.read(0, std::as_writable_bytes(std::span(&decoded, 1))) || decoded.magic != DecodedHeader::expected_magic) {
        refuse_it();
    }
    check_size(decoded.width, decoded.height);
    const int64_t rgb_bytes = int64_t{3} * decoded.width * decoded.height;
    const bool expected = !header.size || (header.size->width == decoded.width && header.size->height == decoded.height);
    if (!expected || out.size() != static_cast<int64_t>(sizeof(decoded)) + rgb_bytes) {
        refuse_it();
    }
    Image image(decoded.width, decoded.height);
    if (!out.read(sizeof(decoded), std::as_writable_bytes(std::span(image.rgb)))) {
        refuse_it();
    }
    return image;
}

/// Why there is no image.
[[noreturn]] void tell_failure(const ChildEnd& end, int64_t seconds, const std::string& path) {
    const auto longer_than = [](int64_t most) { return "takes more than " + std::to_string(most) + " s"; };
    if (end.interrupted()) {
        throw Interrupted();
    }
    switch (end.how) {
    case ChildEnd::How::not_started: can_not_start(path, end.said);
    case ChildEnd::How::too_late: refuse(path, longer_than(seconds) + " to be decoded");
    case ChildEnd::How::killed:
        if (end.code == SIGXCPU) {
            refuse(path, longer_than(budget::image_processor_seconds) + " of a processor's time to be decoded");
        }
        refuse(path, "can't be decoded: the decoder crashed (" + end.signal_name() + ")");
    default: break;
    }
    switch (static_cast<DecodeExit>(end.code)) {
    case DecodeExit::no_image: refuse(path, end.said);
    case DecodeExit::no_memory: takes_too_much_memory();
    default: refuse(path, "can't be decoded: the decoder failed" + (end.said.empty() ? "" : " (" + end.said + ")"));
    }
}

} // namespace

Image read_image(const std::string& path, const ImageChild& child) {
    try {
        MemoryFile in("image"), out("pixels");
        if (!in || !out) {
            can_not_start(path, std::strerror(errno));
        }
        const ImageHeader header = copy_to(in, path);
        const ChildEnd end = run_child({child.command, child.seconds, child.cancelled}, in, out);
        if (end.how != ChildEnd::How::exited || end.code != ordinal(DecodeExit::done)) {
            tell_failure(end, child.seconds, path);
        }
        return take_image(out, header, path);
    } catch (const Undecodable& why) {
        refuse(path, why.what());
    }
}

} // namespace schedscope::vision
