// Sum and maximum over the workgroup: within subgroups by their own instructions, between them (where there are several) through
// shared memory. The host chooses the workgroup's size (specialization constant 0): one subgroup on a software driver, where a
// barrier is dear.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x_id = 0) in;
#define GROUP gl_WorkGroupSize.x

shared float group_values[128];

// Writes v of each subgroup where there are several, to be read by all. False: there is one.
bool wrote_group_values(float v) {
    if (gl_NumSubgroups == 1u) {
        return false;
    }
    barrier();
    if (subgroupElect()) {
        group_values[gl_SubgroupID] = v;
    }
    barrier();
    return true;
}

float group_sum(float v) {
    v = subgroupAdd(v);
    if (wrote_group_values(v)) {
        v = 0.0;
        for (uint i = 0u; i < gl_NumSubgroups; ++i) {
            v += group_values[i];
        }
    }
    return v;
}

float group_max(float v) {
    v = subgroupMax(v);
    if (wrote_group_values(v)) {
        v = group_values[0];
        for (uint i = 1u; i < gl_NumSubgroups; ++i) {
            v = max(v, group_values[i]);
        }
    }
    return v;
}
