// Functions of one value, exact in float.
float sigmoid(float x) { return 1.0 / (1.0 + exp(-x)); }
float safe_tanh(float x) { return isnan(x) ? x : tanh(clamp(x, -15.0, 15.0)); }
// exp(x) − 1 without cancellation near 0.
float expm1_of(float x) { return abs(x) < 0.02 ? x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x / 24.0))) : exp(x) - 1.0; }
float gelu(float x) { return 0.5 * x * (1.0 + safe_tanh(0.79788456080286535588 * x * (1.0 + 0.044715 * x * x))); }
float gelu_quick(float x) { return x * sigmoid(1.702 * x); }
// Error function within 1e-7: a series near 0, a continued rational approximation of the tail beyond.
float erf_of(float x) {
    float y = abs(x);
    if (y < 1.0) {
        float x2 = x * x;
        return x * (1.1283791671 + x2 * (-0.3761263890 + x2 * (0.1128379165 + x2 * (-0.02686617 + x2 * (0.00522397 +
               x2 * (-0.000854832 + x2 * (0.000120553 + x2 * (-0.0000149256 + x2 * 0.00000164621))))))));
    }
    float t = 1.0 / (1.0 + 0.5 * y);
    float r = t * exp(-y * y - 1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (0.27886807 +
              t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277)))))))));
    return x >= 0.0 ? 1.0 - r : r - 1.0;
}
float gelu_erf(float x) { return 0.5 * x * (1.0 + erf_of(x * 0.70710678118654752440)); }
// By UnaryOp's numbers.
float unary_function(int what, float x) {
    switch (what) {
    case 0: return abs(x);
    case 1: return sign(x);
    case 2: return -x;
    case 3: return x > 0.0 ? 1.0 : 0.0;
    case 4: return safe_tanh(x);
    case 5: return x > 0.0 ? x : expm1_of(x);
    case 6: return max(x, 0.0);
    case 7: return sigmoid(x);
    case 8: return gelu(x);
    case 9: return gelu_quick(x);
    case 10: return x * sigmoid(x);
    case 11: return x * clamp((x + 3.0) / 6.0, 0.0, 1.0);
    case 12: return clamp((x + 3.0) / 6.0, 0.0, 1.0);
    case 13: return exp(x);
    case 14: return expm1_of(x);
    case 15: return x > 20.0 ? x : log(1.0 + exp(x));
    case 16: return gelu_erf(x);
    case 18: return floor(x);
    case 19: return ceil(x);
    case 20: return sign(x) * floor(abs(x) + 0.5);
    case 21: return trunc(x);
    }
    return 0.0;
}
