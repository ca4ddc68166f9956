// ALiBi: how strongly head h of n is pulled to near positions.
float slope_of(float max_bias, uint h, uint n_heads) {
    if (max_bias <= 0.0) {
        return 1.0;
    }
    float n = exp2(floor(log2(float(n_heads)) + 1e-6));
    float head = float(h);
    return head < n ? exp2(-max_bias / n * (head + 1.0)) : exp2(-max_bias / 2.0 / n * (2.0 * (head - n) + 1.0));
}
