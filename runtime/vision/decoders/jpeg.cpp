// JPEG: libjpeg-turbo reads it, stb_image makes the pixels, so that they are those that llama.cpp gives its encoders.
#include "runtime/vision/decoders/decoder.h"
#include "runtime/vision/decoders/recoded_jpeg.h"

namespace schedscope::vision {

Image decode_jpeg(std::span<const std::byte> file) { return decode_with_stb(recode_jpeg(file).bytes(), "JPEG"); }

} // namespace schedscope::vision
