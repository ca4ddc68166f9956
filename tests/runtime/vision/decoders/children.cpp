// Decoders that go wrong, for the test program to play.
#include "runtime/system/process/program_role.h"
#include "runtime/vision/decoders/decode_child.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace schedscope::test {
namespace {

/// With so many MiB of memory.
int decode_in_less(int argc, char** argv) {
    SandboxOptions sandbox = vision::decode_sandbox();
    sandbox.limits.memory_bytes = int64_t{argc > 2 ? std::atoi(argv[2]) : 0} << 20U;
    vision::play_decoder(sandbox);
}

/// As on a kernel without seccomp and Landlock.
int decode_without_filters(int, char**) {
    SandboxOptions sandbox = vision::decode_sandbox();
    sandbox.kernel_filters = false;
    vision::play_decoder(sandbox);
}

int die_by(int, char** argv) {
    const int signal = std::atoi(argv[2]);
    std::signal(signal, SIG_DFL); // a sanitizer may have taken it
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return raise(signal);
}

int be_stuck(int, char**) {
    for (;;) {
        pause();
    }
}

int end_with(int, char** argv) { return std::atoi(argv[2]); }

int refuse(int, char**) {
    std::fputs("the image\x1b[31m is odd\nand more\n", stderr);
    return static_cast<int>(vision::DecodeExit::no_image);
}

/// Gives an image of these sides with so many bytes behind the header, whatever it was asked for.
int give(int argc, char** argv) {
    vision::DecodedHeader header;
    header.width = std::atoi(argv[2]);
    header.height = std::atoi(argv[3]);
    if (argc > 5) {
        header.magic[0] = '?';
    }
    const std::string rgb(static_cast<size_t>(std::atoi(argv[4])), 'x');
    const bool written = write(STDOUT_FILENO, &header, sizeof(header)) == sizeof(header) &&
                         write(STDOUT_FILENO, rgb.data(), rgb.size()) == static_cast<ssize_t>(rgb.size());
    return written ? 0 : 1;
}

const ProgramRole roles[] = {{"--decode-in-less", decode_in_less},
                             {"--decode-without-filters", decode_without_filters},
                             {"--die-by", die_by},
                             {"--be-stuck", be_stuck},
                             {"--end-with", end_with},
                             {"--refuse", refuse},
                             {"--give", give}};

} // namespace
} // namespace schedscope::test
