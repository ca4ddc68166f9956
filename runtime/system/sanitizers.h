#pragma once

namespace schedscope {

/// Built with a sanitizer that keeps shadow memory: far more addresses are taken than memory, and what an address holds is found
/// out by writing it to a pipe.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer);
#else
constexpr bool sanitized = false;
#endif

} // namespace schedscope
