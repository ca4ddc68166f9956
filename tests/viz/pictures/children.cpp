// Children that go wrong, for the test program to play.
#include "runtime/system/process/program_role.h"
#include "viz/pictures/layout/layout_process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace schedscope {
namespace {

int be_stuck(int, char**) {
    for (;;) {
        pause();
    }
}

/// Closes what its parent listens to, and stays.
int be_silent_and_stuck(int argc, char** argv) {
    close(STDERR_FILENO);
    return be_stuck(argc, argv);
}

int crash(int, char**) {
    std::signal(SIGSEGV, SIG_DFL); // a sanitizer has taken it
    return raise(SIGSEGV);
}

int fail(int, char**) {
    std::fputs("no layout engine was found\nand a second line\n", stderr);
    return 1;
}

int do_nothing(int, char**) { return 0; }

int be_interrupted(int, char**) { return raise(SIGINT); }

/// As on a kernel without seccomp and Landlock.
int lay_out_without_filters(int argc, char** argv) {
    SandboxOptions sandbox = layout_sandbox();
    sandbox.kernel_filters = false;
    return play_layouter(argc, argv, sandbox);
}

/// Does in the sandbox of the layout what it must not: says why it can't.
int write_a_file(int, char**) {
    const Sandbox sandbox = enter_sandbox(layout_sandbox());
    if (!sandbox.system_calls && !sandbox.files) {
        std::fputs("no filters", stderr);
    } else if (open("/dev/null", O_WRONLY) < 0) {
        std::fputs(std::strerror(errno), stderr);
    }
    _exit(1);
}

const ProgramRole roles[] = {{"--stuck-child", be_stuck},
                             {"--silent-stuck-child", be_silent_and_stuck},
                             {"--crashing-child", crash},
                             {"--failing-child", fail},
                             {"--silent-child", do_nothing},
                             {"--interrupted-child", be_interrupted},
                             {"--unfiltered-layout-child", lay_out_without_filters},
                             {"--writing-child", write_a_file}};

} // namespace
} // namespace schedscope
