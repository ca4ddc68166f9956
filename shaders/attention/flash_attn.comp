#version 450
// Attention with a key per invocation for scores and an element of the result per invocation for values; what they tell each
// other goes through shared memory. As many keys as invocations at a time; the running maximum is kept, and sums follow it.
#extension GL_GOOGLE_include_directive : require
#include "attention.glsl"

shared float query_data[QUERIES * MAX_HEAD];
shared float weights[QUERIES * GROUP];
shared float tops[QUERIES * GROUP]; // by query and subgroup

// The largest of the workgroup, for each query.
void largest(inout float v[QUERIES]) {
    [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
        v[r] = subgroupMax(v[r]);
        if (subgroupElect()) {
            tops[r * GROUP + gl_SubgroupID] = v[r];
        }
    }
    barrier();
    [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
        for (uint s = 0u; s < gl_NumSubgroups; ++s) {
            v[r] = max(v[r], tops[r * GROUP + s]);
        }
    }
}

// The workgroup's sum, for each query.
void total(inout float v[QUERIES]) {
    barrier();
    [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
        v[r] = subgroupAdd(v[r]);
        if (subgroupElect()) {
            tops[r * GROUP + gl_SubgroupID] = v[r];
        }
    }
    barrier();
    [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
        v[r] = 0.0;
        for (uint s = 0u; s < gl_NumSubgroups; ++s) {
            v[r] += tops[r * GROUP + s];
        }
    }
}

void main() {
    if (!begin()) {
        return;
    }
    uint l = gl_LocalInvocationID.x;
    uint d = ne(SRC0, 0);
    uint dv = ne(SRC2, 0);
    uint n = ne(SRC1, 1);
    Query queries[QUERIES];
    float top[QUERIES], sum[QUERIES];
    [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
        queries[r] = query_of(r);
        top[r] = nothing;
        sum[r] = 0.0;
        for (uint i = l; i < MAX_HEAD && i < (d + 7u) / 8u * 8u; i += GROUP) {
            query_data[r * MAX_HEAD + i] = i < d ? q_data[queries[r].q + i] : 0.0;
        }
    }
    barrier();
    // Short rows of values leave room for several invocations an element, each with its share of the keys.
    uint width = min(GROUP, 1u << (dv <= 1u ? 0 : findMSB(dv - 1u) + 1));
    uint shares = GROUP / width;
    uint share = l / width;
    float acc[QUERIES][(MAX_HEAD + GROUP - 1) / GROUP];
    for (uint part = 0u; part * width < dv; ++part) {
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            acc[r][part] = 0.0;
        }
    }
    for (uint j0 = 0u; j0 < n; j0 += GROUP) {
        uint j = j0 + l;
        float score[QUERIES];
        float bias[QUERIES];
        bool any_seen = false;
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            score[r] = 0.0;
            bias[r] = j < n ? bias_of(queries[r], j) : nothing;
            any_seen = any_seen || is_seen(bias[r]);
        }
        if (any_seen) {
            float w[8];
            for (uint i = 0u; i < d; i += 8u) {
                key_eight(keys + j * nb(SRC1, 1), i, d, w);
                [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
                    [[unroll]] for (uint e = 0u; e < 8u; ++e) {
                        score[r] += w[e] * query_data[r * MAX_HEAD + i + e];
                    }
                }
            }
        }
        float next[QUERIES];
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            score[r] = score_of(score[r], bias[r]);
            next[r] = max(score[r], top[r]);
        }
        largest(next);
        float keep[QUERIES];
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            keep[r] = is_seen(top[r]) ? exp(top[r] - next[r]) : 0.0;
            float weight = is_seen(score[r]) ? exp(score[r] - next[r]) : 0.0;
            top[r] = next[r];
            sum[r] = sum[r] * keep[r] + weight;
            weights[r * GROUP + l] = weight;
        }
        barrier();
        uint count = min(GROUP, n - j0);
        for (uint part = 0u; part * width < dv; ++part) {
            uint i = l % width + part * width;
            [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
                acc[r][part] *= keep[r];
            }
            for (uint x = share; i < dv && x < count; x += shares) {
                float v = value_element(values + (j0 + x) * nb(SRC2, 1), i);
                [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
                    float weight = weights[r * GROUP + x];
                    acc[r][part] += weight != 0.0 ? weight * v : 0.0; // what is not seen may hold anything
                }
            }
        }
        barrier();
    }
    total(sum);
    for (uint part = 0u; part * width < dv; ++part) {
        [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
            weights[r * GROUP + l] = acc[r][part];
        }
        barrier();
        uint i = l % width + part * width;
        if (share == 0u && i < dv) {
            [[unroll]] for (uint r = 0u; r < QUERIES; ++r) {
                float v = 0.0;
                for (uint s = 0u; s < shares; ++s) {
                    v += weights[r * GROUP + s * width + l];
                }
                if (r < n_queries) {
                    d_data[queries[r].result + i] = sum[r] == 0.0 ? 0.0 : v / sum[r];
                }
            }
        }
        barrier();
    }
}
