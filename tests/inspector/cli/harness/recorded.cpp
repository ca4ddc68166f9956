#include "tests/inspector/cli/harness/recorded.h"

#include "tests/support/models/teller.h"

namespace schedscope::test {

std::string prompt_ids(size_t n) {
    std::string ids = "1";
    for (const int32_t id : teller::ids(n - 1)) {
        ids.append(",").append(std::to_string(id));
    }
    return ids;
}

Recorded::Recorded(const std::vector<std::string>& arguments, size_t n_prompt) : path_(folder_ / "recorded.trace") {
    std::vector<std::string> all = {"record", "-m", model(), "--tokens", prompt_ids(n_prompt), "-n", "3",
                                    "--temp", "0",  "-o",    path_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    outcome_ = run(all);
}

Outcome Recorded::read(const std::string& command, const std::vector<std::string>& arguments, const Start& start) const {
    std::vector<std::string> all = {command, path_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run(all, start);
}

nlohmann::json Recorded::json(const std::string& command, const std::vector<std::string>& arguments, const Start& start) const {
    std::vector<std::string> all = arguments;
    all.emplace_back("--json");
    const Outcome outcome = read(command, all, start);
    return outcome.code <= 1 ? nlohmann::json::parse(outcome.out) : nlohmann::json();
}

} // namespace schedscope::test
