// What both attention shaders share: sources, and which queries a workgroup has. Queries that use the same head of keys (tokens,
// and heads of a group) are numbered token by token; a workgroup has QUERIES of them and reads keys and values once for all. A
// module is for all types of keys and values: K_TYPE and V_TYPE. extra(0): 1 with a mask (source 3).
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "common.glsl"
#include "slope.glsl"
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint QUERIES = 1;
#define GROUP gl_WorkGroupSize.x
#define MAX_HEAD 512 // runtime/backend/vulkan/operators/attention.cpp

layout(constant_id = 3) const uint K_TYPE = CACHE_F32;
layout(constant_id = 4) const uint V_TYPE = CACHE_F32;
layout(std430, binding = 2) readonly buffer Source1Floats { float k_floats[]; };
layout(std430, binding = 2) readonly buffer Source1Halves { float16_t k_halves[]; };
layout(std430, binding = 2) readonly buffer Source1Words { uint16_t k_words[]; };
layout(std430, binding = 3) readonly buffer Source2Floats { float v_floats[]; };
layout(std430, binding = 3) readonly buffer Source2Halves { float16_t v_halves[]; };
layout(std430, binding = 3) readonly buffer Source2Words { uint16_t v_words[]; };
#define TYPE K_TYPE
#define FLOATS k_floats
#define HALVES k_halves
#define WORDS k_words
#define ONE key_element
#define EIGHT key_eight
#include "elements.glsl"
#define TYPE V_TYPE
#define FLOATS v_floats
#define HALVES v_halves
#define WORDS v_words
#define ONE value_element
#define EIGHT value_eight
#include "elements.glsl"
layout(std430, binding = 1) readonly buffer Source0 { float q_data[]; };
layout(std430, binding = 4) readonly buffer Source3 { float16_t mask[]; };
layout(std430, binding = 5) buffer Result { float d_data[]; };

const float nothing = -3.0e38; // below every score; no infinity, of which a difference is no number
bool is_seen(float score) { return !(score <= -1.0e38); } // what is not a number is seen, and makes the result none either

struct Query {
    uint q, mask, result; // elements into their arrays
    float slope;
};

uint kv_head, sequence, first_query, n_queries; // the workgroup's
uint keys, values;                              // bytes to the first key and value

// False: there is nothing to do.
bool begin() {
    uint share = ne(SRC0, 2) / ne(SRC1, 2);
    uint all = ne(SRC0, 1) * share;
    uint tiles = (all + QUERIES - 1u) / QUERIES;
    uint group = group_index();
    first_query = group % tiles * QUERIES;
    n_queries = min(QUERIES, all - first_query);
    kv_head = group / tiles % ne(SRC1, 2);
    sequence = group / tiles / ne(SRC1, 2);
    if (sequence >= ne(SRC0, 3)) {
        return false;
    }
    uint kv_sequence = sequence / (ne(SRC0, 3) / ne(SRC1, 3));
    keys = at(SRC1, 0u, 0u, kv_head, kv_sequence);
    values = at(SRC2, 0u, 0u, kv_head, kv_sequence);
    return true;
}

// Those beyond the last are the last again, and are not stored.
Query query_of(uint r) {
    uint share = ne(SRC0, 2) / ne(SRC1, 2);
    uint number = first_query + min(r, n_queries - 1u);
    uint token = number / share;
    uint head = kv_head * share + number % share;
    Query query;
    query.q = at(SRC0, 0u, token, head, sequence) >> 2;
    query.mask = extra(0) != 0 ? at(SRC3, 0u, token, head % ne(SRC3, 2), sequence % ne(SRC3, 3)) >> 1 : 0u;
    query.result = at(DST, 0u, head, token, sequence) >> 2;
    query.slope = slope_of(flash_attn_ext_max_bias, head, ne(SRC0, 2));
    return query;
}

// What is added to the score of a key: `nothing` for one that is not seen.
float bias_of(Query query, uint j) {
    float bias = extra(0) != 0 ? float(mask[query.mask + j]) : 0.0;
    return bias < -1.0e30 ? nothing : query.slope * bias;
}
float score_of(float product, float bias) {
    float score = product * flash_attn_ext_scale;
    float cap = flash_attn_ext_logit_cap;
    score = cap != 0.0 && !isnan(score) ? cap * tanh(clamp(score / cap, -15.0, 15.0)) : score;
    return is_seen(bias) ? score + bias : nothing;
}
