#pragma once

namespace schedscope::test {

#if defined(__has_feature) // Clang's
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SCHEDSCOPE_TESTS_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // gcc's
#define SCHEDSCOPE_TESTS_SANITIZED
#endif

#ifdef SCHEDSCOPE_TESTS_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// Which cases of a long list are tried: all; by a sanitizer, under which each takes long, the first and each fifth behind it.
class Sample {
public:
    bool takes() { return !is_sanitized || n_seen_++ % 5 == 0; }

private:
    int n_seen_ = 0;
};

} // namespace schedscope::test
