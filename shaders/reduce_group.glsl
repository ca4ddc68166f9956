// Sum and maximum over a workgroup of 128, through shared memory: no subgroup size is assumed.
shared float group_values[128];

float group_sum(float v) {
    uint l = gl_LocalInvocationID.x;
    barrier();
    group_values[l] = v;
    barrier();
    for (uint s = 64u; s > 0u; s >>= 1) {
        if (l < s) {
            group_values[l] += group_values[l + s];
        }
        barrier();
    }
    return group_values[0];
}

float group_max(float v) {
    uint l = gl_LocalInvocationID.x;
    barrier();
    group_values[l] = v;
    barrier();
    for (uint s = 64u; s > 0u; s >>= 1) {
        if (l < s) {
            group_values[l] = max(group_values[l], group_values[l + s]);
        }
        barrier();
    }
    return group_values[0];
}
