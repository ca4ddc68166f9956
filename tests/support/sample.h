#pragma once

#include "runtime/system/sanitizers.h"

namespace schedscope::test {

/// Which cases of a long list are tried: all; by a sanitizer, under which each takes long, the first and each fifth behind it.
class Sample {
public:
    bool takes() { return !sanitized || n_seen_++ % 5 == 0; }

private:
    int n_seen_ = 0;
};

} // namespace schedscope::test
