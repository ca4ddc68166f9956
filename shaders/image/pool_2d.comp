#version 450
// The largest value or the mean under a window. params: 0 what (0 largest, 1 mean), 1, 2 window, 3, 4 stride, 5, 6 padding. What
// lies outside of the image counts as 0 in the mean and not at all otherwise.
#extension GL_GOOGLE_include_directive : require
#define A_F32
#include "common.glsl"
#include "source0.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 5) buffer Result { float d_data[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    ivec2 window = ivec2(pool_2d_window_0, pool_2d_window_1);
    ivec2 start = ivec2(e.xy) * ivec2(pool_2d_stride_0, pool_2d_stride_1) - ivec2(pool_2d_pad_0, pool_2d_pad_1);
    ivec2 first = max(start, ivec2(0));
    ivec2 end = min(start + window, ivec2(ne(SRC0, 0), ne(SRC0, 1)));
    float top = -3.4028234663852886e38;
    float sum = 0.0;
    for (int y = first.y; y < end.y; ++y) {
        for (int x = first.x; x < end.x; ++x) {
            float v = value_at(at(SRC0, uint(x), uint(y), e.z, e.w), 0u);
            top = max(top, v);
            sum += v;
        }
    }
    d_data[at(DST, e.x, e.y, e.z, e.w) >> 2] = pool_2d_kind == 0 ? top : sum / float(window.x * window.y);
}
