#pragma once

#include "inspector/cli/bench/against.h"
#include "inspector/cli/bench/bench_work.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace schedscope {

/// What all results are told beside.
struct BenchSetting {
    std::string model; ///< as shown
    std::shared_ptr<const gguf::File> file;
    const BenchRequest& request;
    const BenchWork& work;
    std::vector<std::pair<int, MachineLimits>> machines; ///< of each number of threads
};

/// A table for people, on stdout, a row a test; the share is of the limit that is nearer.
void print_cases(const std::vector<BenchCase>& cases, const BenchSetting& setting);
void print_cases(const std::vector<AgainstCase>& cases, const BenchSetting& setting);

/// {"model":…,"machine":{…},"bench":[…]}; {…,"against":[…]}, with "command".
nlohmann::json cases_json(const std::vector<BenchCase>& cases, const BenchSetting& setting);
nlohmann::json cases_json(const std::vector<AgainstCase>& cases, const BenchSetting& setting, const std::string& command);

} // namespace schedscope
