#include "runtime/system/process/program_role.h"

#include <gmock/gmock.h>

/// Every test program is its own children, as the program itself is.
int main(int argc, char** argv) {
    if (const std::optional<int> code = schedscope::play_role(argc, argv)) {
        return *code;
    }
    ::testing::InitGoogleMock(&argc, argv);
    return RUN_ALL_TESTS();
}
