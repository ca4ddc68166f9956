// The body of a function with row, i, n and w: eight elements of a row of n from element i on, each by ONE (a name); zeros behind
// the row.
if (i + 8u <= n) {
    [[unroll]] for (uint j = 0u; j < 8u; ++j) {
        w[j] = ONE(row, i + j);
    }
} else {
    [[unroll]] for (uint j = 0u; j < 8u; ++j) {
        w[j] = i + j < n ? ONE(row, i + j) : 0.0;
    }
}
