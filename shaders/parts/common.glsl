// What every shader sees of a node: its sources and its result as layouts, and the operator's parameters.
// Bindings: 0 the parameters of all dispatches of a command buffer, 1 to 4 sources 0 to 3, 5 the result.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : enable

#include "catalogue.glsl" // the operators' parameters by name

struct Layout {
    uint ne[4];  // elements
    uint nb[4];  // bytes
    uint offset; // bytes into the binding
};
struct Node {
    Layout t[5]; // sources 0 to 3, result
    int p[16];   // the operator's parameters
    int extra[3];
};
layout(std430, binding = 0) readonly buffer Nodes { Node nodes[]; };
layout(push_constant) uniform Push { uint node_index; };

#define SRC0 0
#define SRC1 1
#define SRC2 2
#define SRC3 3
#define DST 4

uint ne(uint t, uint d) { return nodes[node_index].t[t].ne[d]; }
uint nb(uint t, uint d) { return nodes[node_index].t[t].nb[d]; }
int param(uint i) { return nodes[node_index].p[i]; }
float param_f(uint i) { return intBitsToFloat(nodes[node_index].p[i]); }
int extra(uint i) { return nodes[node_index].extra[i]; }

// Bytes from the binding's start to an element.
uint at(uint t, uint i0, uint i1, uint i2, uint i3) {
    return nodes[node_index].t[t].offset + i0 * nb(t, 0) + i1 * nb(t, 1) + i2 * nb(t, 2) + i3 * nb(t, 3);
}
// Bytes to a row that is repeated to these indices.
uint at_repeated(uint t, uint i0, uint i1, uint i2, uint i3) {
    return at(t, i0 % ne(t, 0), i1 % ne(t, 1), i2 % ne(t, 2), i3 % ne(t, 3));
}

// Work items beyond 65535 groups go on in y.
uint group_index() { return gl_WorkGroupID.y * 65535u + gl_WorkGroupID.x; }

// Position of a flat index in a tensor of the result's shape.
uvec4 position(uint t, uint i) {
    uvec4 r;
    r.x = i % ne(t, 0);
    i /= ne(t, 0);
    r.y = i % ne(t, 1);
    i /= ne(t, 1);
    r.z = i % ne(t, 2);
    r.w = i / ne(t, 2);
    return r;
}
uint n_elements(uint t) { return ne(t, 0) * ne(t, 1) * ne(t, 2) * ne(t, 3); }
uint n_rows(uint t) { return ne(t, 1) * ne(t, 2) * ne(t, 3); }

float bf16_to_float(uint h) { return uintBitsToFloat(h << 16); }
// To the nearest, ties to even; what is not a number stays none.
uint bf16_of(float x) {
    uint bits = floatBitsToUint(x);
    return (bits & 0x7FFFFFFFu) > 0x7F800000u ? bits >> 16 | 64u : bits + 0x7FFFu + (bits >> 16 & 1u) >> 16;
}
