#pragma once

#include <span>
#include <string>
#include <string_view>

namespace schedscope {

/// What somebody who typed `word` may have meant, the nearest first: "norm-1, norm-2 or norm"; empty: nothing is near.
/// Case does not count, and '_' is '-'. A word that begins with what was typed is nearer than one with two other letters; a
/// single letter is near nothing.
std::string nearest_words(std::span<const std::string_view> known, std::string_view word);

/// "; did you mean norm-1 or norm-2?"; empty: nothing is near.
std::string did_you_mean(std::span<const std::string_view> known, std::string_view word);

} // namespace schedscope
