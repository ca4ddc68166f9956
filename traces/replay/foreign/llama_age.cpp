#include "traces/replay/foreign/llama_age.h"

#include "runtime/planner/rules.h"
#include "runtime/system/read_number.h"
#include "traces/format/schedscope_stream.h"

namespace schedscope {

LlamaAge llama_age_of(const SessionInfo& session) {
    constexpr int32_t output_first = 7450, variable = 7678;
    LlamaAge age;
    if (const std::optional<BuildSpan> builds = read_builds(session_fact(session, SSCP_FACT_BUILDS))) {
        const auto is_before = [&](int32_t build) { return builds->last != 0 && builds->last < build; };
        if (builds->first >= output_first || is_before(output_first)) {
            age.output_first = !is_before(output_first);
        }
        age.reads_min_batch = !is_before(variable);
    }
    const std::optional<int32_t> asked = read_number<int32_t>(session_fact(session, SSCP_FACT_OFFLOAD_MIN_BATCH));
    if (age.reads_min_batch && asked && *asked >= 0) {
        age.offload_min_batch = *asked;
    }
    return age;
}

int64_t offload_min_batch(const SessionInfo& session) {
    return session.settings ? session.settings->offload_min_batch
                            : llama_age_of(session).offload_min_batch.value_or(PlanSettings{}.offload_min_batch);
}

} // namespace schedscope
