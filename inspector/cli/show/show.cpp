#include "inspector/cli/show/show.h"

#include "inspector/cli/show/show_differences.h"
#include "inspector/cli/show/show_json.h"
#include "inspector/cli/show/show_text.h"
#include "runtime/system/joined.h"

#include <nlohmann/json.hpp>

#include <array>

namespace schedscope::show {

namespace {

constexpr std::array topics = {
    Topic{"passes", passes_text, passes_json},
    Topic{"assignments", assignments_text, assignments_json},
    Topic{"splits", splits_text, splits_json},
    Topic{"copies", copies_text, copies_json},
    Topic{"fusion", fusion_text, fusion_json},
    Topic{"memory", memory_text, memory_json},
    Topic{"kernels", kernels_text, kernels_json},
    Topic{"tokens", tokens_text, tokens_json},
    Topic{"reuse", reuse_text, reuse_json},
    Topic{"values", values_text, values_json, true},
    Topic{"differences", differences_text, differences_json, true},
};

} // namespace

const Topic* find_topic(std::string_view what) {
    for (const Topic& topic : topics) {
        if (topic.what == what) {
            return &topic;
        }
    }
    return nullptr;
}

std::string topic_names() { return joined(topics, "|", &Topic::what); }

} // namespace schedscope::show
