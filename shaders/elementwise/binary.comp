#version 450
// Element by element; source 1 is repeated to the result's shape.
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "form.glsl"
#include "source0.glsl"
#include "source1.glsl"
#include "result.glsl"
layout(local_size_x = 256) in;

void main() {
    uint i = group_index() * 256u + gl_LocalInvocationID.x;
    if (i >= n_elements(DST)) {
        return;
    }
    uvec4 e = place_of(DST, i);
    float a = value_at(at(SRC0, e.x, e.y, e.z, e.w), 0u);
    float b = FORM == FORM_FLAT        ? B(at(SRC1, i, 0u, 0u, 0u))
              : FORM == FORM_FLAT_ROWS ? B(at(SRC1, i % ne(SRC1, 0), 0u, 0u, 0u))
                                       : B(at_repeated(SRC1, e.x, e.y, e.z, e.w));
#if OPERATOR == OP_ADD
    float r = a + b;
#elif OPERATOR == OP_SUB
    float r = a - b;
#elif OPERATOR == OP_MUL
    float r = a * b;
#elif OPERATOR == OP_DIV
    float r = a / b;
#else
#error "an operator of two sources that has no branch here"
#endif
    STORE(at(DST, e.x, e.y, e.z, e.w), r);
}
