// Compares our planner with the recorded decisions of ggml: scheduler_corpus [FILE…].
#include "runtime/error.h"
#include "tests/corpus/corpus_file.h"
#include "tests/support/paths.h"

#include <exception>
#include <iostream>

using namespace schedscope;

namespace {

int run(const std::vector<std::filesystem::path>& files) {
    bool all_identical = true;
    for (const std::filesystem::path& file : files) {
        const corpus::FileResult result = corpus::compare_file(file, 10);
        std::cout << file.filename().string() << ": " << result.n_identical << " of " << result.n_cases << " cases identical\n";
        for (const corpus::CaseDifference& difference : result.differences) {
            std::cout << "  " << to_text(difference) << "\n";
        }
        std::cout.flush();
        all_identical &= result.n_identical == result.n_cases;
    }
    return all_identical ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::filesystem::path> files(argv + 1, argv + argc);
    if (files.size() == 1 && (files[0] == "--help" || files[0] == "-h")) {
        std::cout << "scheduler_corpus [FILE…]: compares the planner with recorded decisions (.jsonl, .jsonl.gz); without FILE: "
                     "all of the corpus\n"
                     "exits 0 when all cases are identical, 1 when some differ, 3 when a file can't be read\n";
        return 0;
    }
    if (files.empty()) {
        files = corpus::corpus_files(paths::shared("corpus"));
    }
    try {
        return run(files);
    } catch (const Error& error) {
        std::cerr << "scheduler_corpus: " << error.what() << "\n";
        return error.exit_code();
    } catch (const std::exception& error) {
        std::cerr << "scheduler_corpus: " << error.what() << "\n";
        return static_cast<int>(ErrorKind::input);
    }
}
