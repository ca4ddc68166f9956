// Unsigned numbers in the order of floats; the zeros are equal.
uint order_of(float x, bool falling) {
    uint bits = x == 0.0 ? 0u : floatBitsToUint(x);
    uint rising = (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
    return falling ? ~rising : rising;
}
