#include "viz/picture.h"

#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <string_view>
#include <unistd.h>

/// The test program is its own layout child, as the real one is, and plays the children that go wrong.
int main(int argc, char** argv) {
    const std::string_view role = argc > 1 ? argv[1] : "";
    if (role == "--layout-child") {
        return schedscope::layout_child_main(argc, argv);
    }
    if (role == "--stuck-child") {
        for (;;) {
            pause();
        }
    }
    if (role == "--crashing-child") {
        std::signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (role == "--failing-child") {
        std::fputs("no layout engine was found\nand a second line\n", stderr);
        return 1;
    }
    if (role == "--silent-child") {
        return 0;
    }
    if (role == "--interrupted-child") {
        raise(SIGINT);
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
