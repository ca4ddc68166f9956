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
    float r = t * exp(-y * y - 1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 +
              t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277)))))))));
    return x >= 0.0 ? 1.0 - r : r - 1.0;
}
float gelu_erf(float x) { return 0.5 * x * (1.0 + erf_of(x * 0.70710678118654752440)); }
// What UNARY does; the program takes a function for one that shaders have if it has a case here.
float activation(int what, float x) {
    switch (what) {
    case UNARY_ABS: return abs(x);
    case UNARY_SGN: return sign(x);
    case UNARY_NEG: return -x;
    case UNARY_STEP: return x > 0.0 ? 1.0 : 0.0;
    case UNARY_TANH: return safe_tanh(x);
    case UNARY_ELU: return x > 0.0 ? x : expm1_of(x);
    case UNARY_RELU: return max(x, 0.0);
    case UNARY_SIGMOID: return sigmoid(x);
    case UNARY_GELU: return gelu(x);
    case UNARY_GELU_QUICK: return gelu_quick(x);
    case UNARY_SILU: return x * sigmoid(x);
    case UNARY_HARDSWISH: return x * clamp((x + 3.0) / 6.0, 0.0, 1.0);
    case UNARY_HARDSIGMOID: return clamp((x + 3.0) / 6.0, 0.0, 1.0);
    case UNARY_EXP: return exp(x);
    case UNARY_EXPM1: return expm1_of(x);
    case UNARY_SOFTPLUS: return x > 20.0 ? x : log(1.0 + exp(x));
    case UNARY_GELU_ERF: return gelu_erf(x);
    case UNARY_FLOOR: return floor(x);
    case UNARY_CEIL: return ceil(x);
    case UNARY_ROUND: return sign(x) * floor(abs(x) + 0.5);
    case UNARY_TRUNC: return trunc(x);
    }
    return 0.0;
}
