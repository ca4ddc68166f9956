#include "tests/inspector/cli/harness/story.h"

#include "tests/inspector/cli/harness/program.h"
#include "tests/support/models/teller.h"

#include <nlohmann/json.hpp>

namespace schedscope::test {

std::string known_text(size_t n) { return teller::text(n); }

bool has_device(const std::string& name) {
    const auto found = nlohmann::json::parse(run({"devices", "--json"}).out);
    for (const auto& device : found["devices"]) {
        if (device["name"] == name) {
            return true;
        }
    }
    return false;
}

} // namespace schedscope::test
