#pragma once

#include "runtime/session/generate.h"
#include "runtime/session/session.h"
#include "tests/support/models/storyteller.h"
#include "tests/support/models/teller.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/// Truth from outside: the files beside the repository. And short ways to run a model.
namespace schedscope::test {

inline const std::string shared = paths::shared();

#define NEEDS(path)                                                                                                              \
    if (!std::filesystem::exists(path)) {                                                                                        \
        GTEST_SKIP() << "no " << (path);                                                                                         \
    }
#define NEEDS_DEVICES(registry, list)                                                                                            \
    if (const std::string missing = missing_device(registry, list); !missing.empty()) {                                          \
        GTEST_SKIP() << "no device " << missing;                                                                                 \
    }

/// The first device of a list that is not here; empty: all are.
inline std::string missing_device(const Registry& registry, const std::string& list) {
    std::stringstream names(list);
    for (std::string name; std::getline(names, name, ',');) {
        if (registry.find(name) == nullptr) {
            return name;
        }
    }
    return "";
}

inline std::vector<float> read_floats(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<float> values(bytes.size() / sizeof(float));
    std::copy_n(bytes.data(), values.size() * sizeof(float), reinterpret_cast<char*>(values.data()));
    return values;
}

inline std::vector<int32_t> read_ids(const std::string& path) {
    std::ifstream file(path);
    return {std::istream_iterator<int32_t>(file), {}};
}

/// The first tokens of stories260K's text, which its logits beside the repository are of.
inline const std::vector<int32_t> stories_prompt{1, 403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426};
/// BOS and the first n − 1 tokens that a storyteller goes on with.
inline std::vector<int32_t> beginning_of(const Storyteller& teller, size_t n) {
    std::vector<int32_t> ids{1};
    ids.insert(ids.end(), teller.ids().begin(), teller.ids().begin() + static_cast<std::ptrdiff_t>(n) - 1);
    return ids;
}

inline RunOptions greedy_options(const std::string& model) {
    RunOptions o;
    o.model = model;
    o.devices = "cpu";
    o.n_threads = 2;
    o.sampling.temperature = 0.0F;
    return o;
}

inline Generated generate_one(Session& session, const std::vector<int32_t>& prompt, int32_t n) {
    GenerateRequest request;
    request.prompts.push_back({0, prompt, std::nullopt});
    request.n_predict = n;
    return generate(session, request).sequences.at(0);
}

/// Logits of every token of a prompt, row by row.
inline std::vector<float> all_logits(Session& session, const std::vector<int32_t>& prompt) {
    std::vector<float> rows;
    GenerateRequest request;
    request.prompts.push_back({0, prompt, std::nullopt});
    request.n_predict = 0;
    request.all_logits = true;
    request.on_logits = [&](int32_t, int32_t, std::span<const float> row) { rows.insert(rows.end(), row.begin(), row.end()); };
    generate(session, request);
    return rows;
}

inline float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    float most = a.size() == b.size() ? 0.0F : INFINITY;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        most = std::max(most, a[i] == b[i] ? 0.0F : std::abs(a[i] - b[i]));
    }
    return most;
}

inline float largest(const std::vector<float>& v) {
    float most = 0;
    for (const float x : v) {
        most = std::max(most, std::abs(x));
    }
    return most;
}

inline std::vector<size_t> argmax_rows(const std::vector<float>& rows, size_t width) {
    std::vector<size_t> best;
    for (size_t i = 0; i + width <= rows.size(); i += width) {
        best.push_back(static_cast<size_t>(std::max_element(rows.begin() + static_cast<ptrdiff_t>(i),
                                                            rows.begin() + static_cast<ptrdiff_t>(i + width)) -
                                           rows.begin()) -
                       i);
    }
    return best;
}

} // namespace schedscope::test
