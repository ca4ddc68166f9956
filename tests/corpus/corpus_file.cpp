#include "tests/corpus/corpus_file.h"

#include "tests/corpus/decode.h"
#include "tests/corpus/text_lines.h"

#include "runtime/error.h"

namespace schedscope::corpus {

FileResult compare_file(const std::filesystem::path& file, size_t most_differences) {
    FileResult result;
    TextLines lines(file);
    std::string line;
    int number = 0;
    while (lines.next(line)) {
        ++number;
        if (line.empty()) {
            continue;
        }
        std::vector<CaseDifference> found;
        try {
            found = compare_case(decode_case(line));
        } catch (const Error& error) {
            throw Error(ErrorKind::input, file.string() + ": line " + std::to_string(number) + ": " + error.what());
        }
        ++result.n_cases;
        result.n_identical += found.empty() ? 1 : 0;
        for (CaseDifference& difference : found) {
            if (result.differences.size() < most_differences) {
                result.differences.push_back(std::move(difference));
            }
        }
    }
    if (result.n_cases == 0) {
        throw Error(ErrorKind::input, file.string() + ": holds no cases");
    }
    return result;
}

std::vector<std::filesystem::path> corpus_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const char* name : {"minimal", "random", "transformer", "sequence", "aborts"}) {
        files.push_back(folder / (std::string(name) + ".jsonl.gz"));
    }
    return files;
}

} // namespace schedscope::corpus
