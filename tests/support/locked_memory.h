#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace schedscope::test {

/// Of this process's memory, in bytes: what is locked.
inline int64_t locked_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmLck:")) {
            return 1024 * std::stoll(line.substr(6));
        }
    }
    return -1;
}

/// AddressSanitizer and its like replace mlock by a function that does nothing and returns 0.
inline bool mlock_only_pretends() {
    const std::vector<char> some(8192);
    const int64_t before = locked_bytes();
    const bool pretends = ::mlock(some.data(), some.size()) == 0 && locked_bytes() == before;
    ::munlock(some.data(), some.size());
    return pretends;
}

} // namespace schedscope::test
