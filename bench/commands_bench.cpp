// How long the commands that read a trace take, and the most memory they hold, on a trace of a million records and a graph of
// 20,000 nodes, not in memory before. `diff` compares it with a run of the same made a second time.
//
//     commands_bench [TRACE [OTHER]]      traces of one's own instead
#include "bench/long_trace.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>

namespace schedscope::bench {
namespace {

void run(const std::vector<std::string>& arguments) {
    const std::string program = program_beside("schedscope");
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        std::vector<char*> argv{const_cast<char*>(program.c_str())};
        for (const std::string& argument : arguments) {
            argv.push_back(const_cast<char*>(argument.c_str()));
        }
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(127);
    }
    int status = 0;
    rusage used{};
    wait4(child, &status, 0, &used);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    std::string line;
    for (const std::string& argument : arguments) {
        line += argument.find('/') == std::string::npos ? argument + " " : "T ";
    }
    std::printf("%10.0f ms %8.0f MiB   exit %d   %s\n", ms, static_cast<double>(used.ru_maxrss) / 1024,
                WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), line.c_str());
    std::fflush(stdout);
}

void run_all(const std::string& path, const std::string& other, const std::vector<const LongTrace*>& made) {
    std::vector<std::vector<std::string>> lines{{"show", path}};
    for (const char* what :
         {"passes", "assignments", "splits", "copies", "fusion", "memory", "kernels", "tokens", "reuse", "values"}) {
        lines.push_back({"show", path, "--what", what});
        lines.push_back({"show", path, "--what", what, "--json"});
    }
    lines.push_back({"explain", path, "ffn_norm-300"});
    lines.push_back({"dot", path});
    for (const char* view : {"splits", "layers", "nodes", "memory"}) {
        lines.push_back({"dot", path, "--view", view});
    }
    lines.push_back({"diff", path, other});
    lines.push_back({"diff", path, other, "--eval", "1"});
    lines.push_back({"replay", path});
    lines.push_back({"export", path, "--jsonl", "/dev/null"});
    for (const auto& line : lines) {
        for (const LongTrace* trace : made) {
            trace->forget_pages();
        }
        run(line);
    }
}

} // namespace
} // namespace schedscope::bench

int main(int argc, char** argv) {
    using namespace schedscope::bench;
    if (argc > 1) {
        run_all(argv[1], argv[argc > 2 ? 2 : 1], {});
        return 0;
    }
    const LongTrace made("a"), other("b");
    run_all(made.path, other.path, {&made, &other});
    return 0;
}
