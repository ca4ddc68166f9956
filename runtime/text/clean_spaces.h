#pragma once

#include <string>

namespace schedscope {

/// Takes spaces away before ? ! . , and around apostrophes, as the Hugging Face tokenizers' "clean up" does for English.
std::string without_spaces_before_punctuation(const std::string& text);

} // namespace schedscope
