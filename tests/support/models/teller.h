#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A model of our own that tells a known text: as large as stories260K and planned like it, but its weights are put together, not
/// trained.
///
/// The output's row of each word is the embedding of the word before it, and blocks of random weights add little to that: so,
/// greedily, word follows word, the last is followed by the first, and every other token leads into them. What it tells is
/// therefore known without running it.
namespace schedscope::teller {

constexpr int32_t n_vocab = 512;

/// Of `type` (f32, f16, q8_0, q4_0), made when the tests are built.
std::string model(const std::string& type = "f32");

/// Its vocabulary by id: <unk>, <s>, </s>, the bytes, a space, letters and marks, then words of one to three letters with a space
/// before them ("▁ban").
const std::vector<std::string>& vocabulary();
constexpr int32_t first_word = 259 + 1 + 26 + 7;
/// How many tokens it goes on with before it begins again.
int32_t n_words();

/// The first n tokens that it tells greedily from BOS alone.
std::vector<int32_t> ids(size_t n);
/// Their text, without the very first space.
std::string text(size_t n);

} // namespace schedscope::teller
