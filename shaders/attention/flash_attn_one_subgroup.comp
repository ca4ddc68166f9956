#version 450
// Attention by workgroups of one subgroup, for software drivers, where each access of memory costs as much as a hundred
// multiplications: what one invocation loads it broadcasts to the others. Eight keys at a time; an eighth of the result's
// elements each.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
#include "attention.glsl"

#define EACH_NEIGHBOUR(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

void main() {
    if (!begin()) {
        return;
    }
    uint l = gl_SubgroupInvocationID;
    uint eighth = l & 7u;
    uint d = ne(SRC0, 0);
    uint dv = ne(SRC2, 0);
    uint n = ne(SRC1, 1);
    Query queries[QUERIES];
    float top[QUERIES], sum[QUERIES];
    float acc[QUERIES][MAX_HEAD / 8];
    [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
        queries[r] = query_of(r);
        top[r] = nothing;
        sum[r] = 0.0;
    }
    for (uint part = 0u; part * 8u < dv; ++part) {
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            acc[r][part] = 0.0;
        }
    }
    for (uint j0 = 0u; j0 < n; j0 += 8u) {
        uint j = j0 + eighth;
        float score[QUERIES];
        float bias[QUERIES];
        bool any_seen = false;
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            score[r] = 0.0;
            bias[r] = j < n ? bias_of(queries[r], j) : nothing;
            any_seen = any_seen || is_seen(bias[r]);
        }
        // Loops end where a branch would not be skipped: a software driver runs both sides of it.
        any_seen = subgroupAny(any_seen);
        uint key = keys + min(j, n - 1u) * nb(SRC1, 1);
        float w[8];
        for (uint i = 0u; i < (any_seen ? d : 0u); i += 8u) {
            key_eight(key, i, d, w);
            [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
                float x = i + eighth < d ? q_data[queries[r].q + i + eighth] : 0.0;
#define ADD_PRODUCT(e) score[r] += w[e] * subgroupBroadcast(x, e);
                EACH_NEIGHBOUR(ADD_PRODUCT)
            }
        }
        float weight[QUERIES];
        float keep[QUERIES];
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            score[r] = score_of(score[r], bias[r]);
            float next = max(top[r], subgroupMax(score[r]));
            keep[r] = is_seen(top[r]) ? exp(top[r] - next) : 0.0;
            weight[r] = is_seen(score[r]) ? exp(score[r] - next) : 0.0;
            top[r] = next;
            sum[r] = sum[r] * keep[r] + weight[r]; // of this invocation's keys
        }
        for (uint part = 0u; part * 8u < (any_seen ? dv : 0u); ++part) {
            uint i = min(part * 8u + eighth, dv - 1u);
            [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
                acc[r][part] *= keep[r];
            }
#define ADD_VALUE(e)                                                            \
    {                                                                           \
        float v = value_element(values + min(j0 + e, n - 1u) * nb(SRC2, 1), i); \
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {                        \
            float of_key = subgroupBroadcast(weight[r], e);                     \
            acc[r][part] += of_key != 0.0 ? of_key * v : 0.0;                   \
        }                                                                       \
    } // what is not seen may hold anything
            EACH_NEIGHBOUR(ADD_VALUE)
        }
    }
    [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
        // Invocations beyond the eighth, where a subgroup has them, repeat the others.
        float all = subgroupAdd(l < 8u ? sum[r] : 0.0);
        for (uint part = 0u; part * 8u < dv; ++part) {
            uint i = part * 8u + eighth;
            if (l < 8u && i < dv && r < n_queries) {
                d_data[queries[r].result + i] = all == 0.0 ? 0.0 : acc[r][part] / all;
            }
        }
    }
}
