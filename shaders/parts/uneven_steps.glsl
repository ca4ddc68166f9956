// The sixteen values of IQ4_NL's and IQ4_XS's numbers (runtime/tensor/blocks.h).
#if !defined(UNEVEN_STEPS)
#define UNEVEN_STEPS
const int uneven_steps[16] = int[](-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
#endif
