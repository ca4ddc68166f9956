#include "viz/picture.h"

#include <graphviz/gvc.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace schedscope {

namespace {

constexpr int broken = 1, wrong_use = 2;

/// What runs away here must not outlive its parent or take the machine's memory with it.
void limit_self() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // whose shadow memory counts
    constexpr rlim_t memory = 8ULL << 30U;
    const rlimit most{memory, memory};
    setrlimit(RLIMIT_AS, &most);
#endif
}

bool read_all(int file, std::string& text) {
    std::array<char, 65536> part{};
    for (;;) {
        const ssize_t n = read(file, part.data(), part.size());
        if (n < 0) {
            return false;
        }
        if (n == 0) {
            return true;
        }
        text.append(part.data(), static_cast<size_t>(n));
    }
}

bool write_all(int file, const char* data, size_t n) {
    while (n > 0) {
        const ssize_t written = write(file, data, n);
        if (written <= 0) {
            return false;
        }
        data += written;
        n -= static_cast<size_t>(written);
    }
    return true;
}

} // namespace

int layout_child_main(int argc, char** argv) {
    constexpr std::array<std::string_view, 5> formats{"svg", "png", "pdf", "json0", "dot"};
    const std::string format = argc == 3 ? argv[2] : "";
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
        std::fputs("usage: --layout-child svg|png|pdf|json0|dot, dot on stdin, the picture on stdout\n", stderr);
        return wrong_use;
    }
    limit_self();
    std::string text;
    if (!read_all(STDIN_FILENO, text)) {
        std::fputs("stdin can't be read\n", stderr);
        return broken;
    }
    Agraph_t* graph = agmemread(text.c_str());
    if (graph == nullptr) {
        return broken; // libcgraph said where
    }
    GVC_t* context = gvContext();
    char engine[] = "dot";
    char* picture = nullptr;
    unsigned int n = 0;
    if (context == nullptr || gvLayout(context, graph, engine) != 0 ||
        gvRenderData(context, graph, format.c_str(), &picture, &n) != 0 || n == 0) {
        return broken;
    }
    // Nothing is freed and nobody looks for leaks: the process ends here, and freeing a large layout takes long.
    _exit(write_all(STDOUT_FILENO, picture, n) ? 0 : broken);
}

} // namespace schedscope
