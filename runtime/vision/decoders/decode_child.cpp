#include "runtime/vision/decoders/decode_child.h"

#include "runtime/numbers.h"
#include "runtime/system/budget.h"
#include "runtime/system/descriptor.h"
#include "runtime/vision/decoders/decoder.h"

#include <new>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace schedscope::vision {

namespace {

/// Standard input as it lies in memory; it stays until the process ends.
std::span<const std::byte> whole_input() {
    struct stat facts {};
    if (fstat(STDIN_FILENO, &facts) != 0 || facts.st_size <= 0) {
        return {};
    }
    const auto size = facts.st_size;
    void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    return bytes == MAP_FAILED ? std::span<const std::byte>() : std::span(static_cast<const std::byte*>(bytes), size);
}

DecodeExit decode_input(std::span<const std::byte> file) {
    try {
        const Image image = decode_any(file);
        DecodedHeader header;
        header.width = image.width;
        header.height = image.height;
        const bool written = write_all(STDOUT_FILENO, std::as_bytes(std::span(&header, 1))) &&
                             write_all(STDOUT_FILENO, std::as_bytes(std::span(image.rgb)));
        return written ? DecodeExit::done : DecodeExit::no_memory; // it goes to memory, too
    } catch (const Undecodable& why) {
        write_all(STDERR_FILENO, std::as_bytes(std::span(std::string_view(why.what()))));
        return DecodeExit::no_image;
    } catch (const std::bad_alloc&) {
        return DecodeExit::no_memory;
    }
}

} // namespace

SandboxOptions decode_sandbox() {
    constexpr int64_t for_the_process = 64 * budget::mib; // its stack, and what malloc keeps
    SandboxOptions options;
    options.limits.memory_bytes = budget::image_memory_bytes + for_the_process;
    options.limits.processor_seconds = budget::image_processor_seconds;
    options.limits.written_bytes = sizeof(DecodedHeader) + 3 * budget::image_pixels;
    options.needs = SandboxNeeds::memory;
    return options;
}

void play_decoder(const SandboxOptions& sandbox) {
    const std::span<const std::byte> file = whole_input();
    enter_sandbox(sandbox);
    const DecodeExit exit = decode_input(file);
    _exit(ordinal(exit)); // nothing is freed, and no sanitizer looks for leaks
}

int decode_child_main(int, char**) { play_decoder(decode_sandbox()); }

} // namespace schedscope::vision
