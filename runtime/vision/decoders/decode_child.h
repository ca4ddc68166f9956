#pragma once

#include "runtime/system/process/sandbox.h"

#include <array>
#include <cstdint>

namespace schedscope::vision {

constexpr const char* decode_role = "--decode-child"; ///< of this program, when it is the child

/// What the child writes before the pixels.
struct DecodedHeader {
    std::array<char, 8> magic = expected_magic;
    int32_t width = 0, height = 0;

    static constexpr std::array<char, 8> expected_magic{'d', 'e', 'c', 'o', 'd', 'e', 'd', '1'};
};

/// Exit codes of the child. Any other, or a signal: the decoder failed.
enum class DecodeExit : int {
    done = 0,      ///< the image is written
    no_image = 3,  ///< why is on standard error
    no_memory = 4, ///< it ran out before the decoder saw that it would
};

/// What the child may take.
SandboxOptions decode_sandbox();

/// The child's work in this sandbox, on its standard files. Ends the process.
[[noreturn]] void play_decoder(const SandboxOptions& sandbox);

/// The child's work: a file comes on standard input and the image goes to standard output, or why there is none to standard
/// error. Ends the process.
int decode_child_main(int argc, char** argv);

} // namespace schedscope::vision
