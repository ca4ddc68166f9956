// How an element-wise shader finds its elements; chosen by the host (dispatch.cpp). Without gaps in the result's shape an
// element's number is its place: no divisions.
#define FORM_ANY 1       // by strides
#define FORM_FLAT 2      // no gaps anywhere
#define FORM_FLAT_ROWS 3 // the same, but source 1 is one row, repeated
layout(constant_id = 1) const uint FORM = FORM_ANY;

// Indices of element i of tensor t; in a flat form, as if all were one row.
uvec4 place_of(uint t, uint i) { return FORM == FORM_ANY ? position(t, i) : uvec4(i, 0u, 0u, 0u); }
