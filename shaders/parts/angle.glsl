// Angles as the sum of two floats: a position of 100,000 leaves a single float three digits of a turn, and pow, sin and cos of
// devices are less exact than it. x is the sum rounded to a float, y what the rounding lost. Rounding errors are worked out as
// Dekker and Knuth do it.

vec2 two_sum(float a, float b) {
    precise float sum = a + b;
    precise float b_part = sum - a;
    precise float lost = (a - (sum - b_part)) + (b - b_part);
    return vec2(sum, lost);
}
vec2 two_product(float a, float b) {
    precise float product = a * b;
    precise float a_shifted = 4097.0 * a; // 2^12 + 1: the upper half of a's digits, then the rest
    precise float a_high = a_shifted - (a_shifted - a);
    precise float a_low = a - a_high;
    precise float b_shifted = 4097.0 * b;
    precise float b_high = b_shifted - (b_shifted - b);
    precise float b_low = b - b_high;
    precise float lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return vec2(product, lost);
}
vec2 sum2(vec2 a, vec2 b) {
    vec2 s = two_sum(a.x, b.x);
    precise float lost = s.y + (a.y + b.y);
    return two_sum(s.x, lost);
}
vec2 product2(vec2 a, vec2 b) {
    vec2 p = two_product(a.x, b.x);
    precise float lost = p.y + (a.x * b.y + a.y * b.x);
    return two_sum(p.x, lost);
}
vec2 quotient2(vec2 a, float b) {
    float q = a.x / b;
    vec2 p = two_product(q, b);
    precise float rest = (((a.x - p.x) - p.y) + a.y) / b;
    return two_sum(q, rest);
}
vec2 power2(vec2 a, uint exponent) {
    vec2 result = vec2(1.0, 0.0);
    for (; exponent != 0u; exponent >>= 1) {
        if ((exponent & 1u) != 0u) {
            result = product2(result, a);
        }
        a = product2(a, a);
    }
    return result;
}

// (cos, sin), within 1e-7 for angles up to millions of turns.
vec2 cos_sin(vec2 angle) {
    const vec2 quarter = vec2(1.57079637050628662109375, -4.37113900018624283e-8);
    float quarters = round(angle.x * 0.636619772367581343);
    vec2 rest = sum2(angle, -product2(vec2(quarters, 0.0), quarter));
    float x = rest.x;
    float x2 = x * x;
    // Taylor's series to x^9 and x^10 on an eighth of a turn to either side; the second float of the rest turns by so little that
    // it is a slope.
    float s = x * (1.0 + x2 * (-1.0 / 6.0 + x2 * (1.0 / 120.0 + x2 * (-1.0 / 5040.0 + x2 * (1.0 / 362880.0)))));
    float c = 1.0 + x2 * (-0.5 + x2 * (1.0 / 24.0 + x2 * (-1.0 / 720.0 + x2 * (1.0 / 40320.0 + x2 * (-1.0 / 3628800.0)))));
    vec2 turned = vec2(c - rest.y * s, s + rest.y * c);
    // quarters modulo 4 without converting what an integer can't hold
    float q = quarters - 4.0 * floor(quarters * 0.25);
    return q == 0.0 ? turned : q == 1.0 ? vec2(-turned.y, turned.x) : q == 2.0 ? -turned : vec2(turned.y, -turned.x);
}
