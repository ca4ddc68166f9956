#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The code books of the IQ1, IQ2 and IQ3 blocks: the vectors that a number in a block stands for. Facts of the GGUF format, from
/// ggml's ggml-common.h (the tables iq…_grid).
namespace schedscope {

template <size_t elements, size_t n> using CodeBook = std::array<std::array<int8_t, elements>, n>;

extern const CodeBook<8, 2048> iq1_book; ///< of IQ1_S and IQ1_M
extern const CodeBook<8, 256> iq2_xxs_book;
extern const CodeBook<8, 512> iq2_xs_book;
extern const CodeBook<8, 1024> iq2_s_book;
extern const CodeBook<4, 256> iq3_xxs_book;
extern const CodeBook<4, 512> iq3_s_book;

} // namespace schedscope
