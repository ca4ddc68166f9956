#pragma once

#include "tests/support/terminal.h"

#include <gtest/gtest.h>

namespace schedscope::test {

/// A terminal with the inspector in it, ready for keys: where most screen tests begin.
class Inspecting : public Terminal {
public:
    Inspecting(int rows, int cols, const std::function<int()>& inspect, Options options = {})
        : Terminal(rows, cols, inspect, std::move(options)) {
        EXPECT_TRUE(shows("q quit")) << text();
    }
};

} // namespace schedscope::test
