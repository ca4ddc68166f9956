#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace schedscope::vision {

/// A JPEG whose entropy-coded data libjpeg-turbo has decoded, and written again with the same coefficients: baseline, with the
/// tables that the standard suggests, with no more segments than it needs. What decides about its colours stays as it was, so
/// that any decoder makes the same pixels of both; and what a decoder may get wrong in a file of foreign is not in it.
struct RecodedJpeg {
    struct Free {
        void operator()(std::byte* p) const noexcept { std::free(p); }
    };
    std::unique_ptr<std::byte[], Free> data;
    size_t size = 0;

    std::span<const std::byte> bytes() const noexcept { return {data.get(), size}; }
};

/// Throws Undecodable when the file is damaged, or takes too much; std::bad_alloc.
RecodedJpeg recode_jpeg(std::span<const std::byte> file);

} // namespace schedscope::vision
