#include "runtime/vision/image.h"

#include "runtime/error.h"
#include "runtime/vision/decoders/decoder.h"

namespace schedscope::vision {

Image decode_image(std::span<const std::byte> bytes, const std::string& name) {
    try {
        return decode_any(bytes);
    } catch (const Undecodable& why) {
        throw Error(ErrorKind::input, name + ": " + why.what());
    }
}

} // namespace schedscope::vision
