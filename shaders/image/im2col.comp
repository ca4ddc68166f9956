#version 450
// The patches of an image (source 1) that a kernel (source 0: only its shape counts) sees, each as a row: kernel x fastest, then
// y, then channel. params: 0, 1 stride; 2, 3 padding; 4, 5 dilation; 6: 1 in two dimensions, else the image is [width, channels,
// count].
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "result.glsl"
layout(local_size_x = 256) in;
layout(std430, binding = 2) readonly buffer Source1 { float image[]; };

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = position(DST, i);
    bool two = im2col_is_2d != 0;
    uint kernel_width = ne(SRC0, 0);
    uint kernel_height = two ? ne(SRC0, 1) : 1u;
    uint kx = e.x % kernel_width;
    uint ky = e.x / kernel_width % kernel_height;
    uint channel = e.x / kernel_width / kernel_height;
    // Left of the image the place wraps and is large: one comparison for both sides.
    uint x = e.y * uint(im2col_stride_0) + kx * uint(im2col_dilation_0) - uint(im2col_pad_0);
    uint y = two ? e.z * uint(im2col_stride_1) + ky * uint(im2col_dilation_1) - uint(im2col_pad_1) : 0u;
    float v = 0.0;
    if (x < ne(SRC1, 0) && (!two || y < ne(SRC1, 1))) {
        v = image[(two ? at(SRC1, x, y, channel, e.w) : at(SRC1, x, channel, e.z, 0u)) >> 2];
    }
    STORE(at(DST, e.x, e.y, e.z, e.w), v);
}
