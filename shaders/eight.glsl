// Eight neighbouring elements of source 0 (the first one's number is a multiple of eight): scales of blocks are read once for them.
// For F32, F16 and BF16 those beyond the row's end are zeros.
#if defined(A_Q8_0)
void eight_at(uint row, uint i, uint n, out float w[8]) {
    uint block = (row >> 1) + (i >> 5) * 17u;
    float scale = unpackHalf2x16(uint(a_data[block])).x;
    uint first = block + 1u + ((i & 31u) >> 1);
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
        int two = int(uint(a_data[first + j]));
        w[2u * j] = scale * float(bitfieldExtract(two, 0, 8));
        w[2u * j + 1u] = scale * float(bitfieldExtract(two, 8, 8));
    }
}
#elif defined(A_Q4_0)
void eight_at(uint row, uint i, uint n, out float w[8]) {
    uint block = (row >> 1) + (i >> 5) * 9u;
    float scale = unpackHalf2x16(uint(a_data[block])).x;
    uint first = block + 1u + ((i & 15u) >> 1);
    uint shift = (i & 16u) >> 2; // elements 16 to 31 are the bytes' upper halves
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
        uint two = uint(a_data[first + j]) >> shift;
        w[2u * j] = scale * float(int(two & 15u) - 8);
        w[2u * j + 1u] = scale * float(int(two >> 8 & 15u) - 8);
    }
}
#else
void eight_at(uint row, uint i, uint n, out float w[8]) {
    if (i + 8u <= n) {
        [[unroll]] for (uint j = 0u; j < 8u; ++j) {
            w[j] = value_at(row, i + j);
        }
    } else {
        [[unroll]] for (uint j = 0u; j < 8u; ++j) {
            w[j] = i + j < n ? value_at(row, i + j) : 0.0;
        }
    }
}
#endif
