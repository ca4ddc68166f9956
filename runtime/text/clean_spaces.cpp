#include "runtime/text/clean_spaces.h"

#include <string_view>

namespace schedscope {

namespace {

/// " ." becomes "."
std::string before_marks(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const bool mark = c == '?' || c == '!' || c == '.' || c == ',';
        if (mark && !result.empty() && result.back() == ' ') {
            result.pop_back();
        }
        result += c;
    }
    return result;
}

/// " ' " becomes "'"
std::string around_apostrophes(const std::string& text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool lonely = text[i] == '\'' && i > 0 && i + 1 < text.size() && text[i - 1] == ' ' && text[i + 1] == ' ';
        if (lonely) {
            result.pop_back();
            ++i;
            result += '\'';
        } else {
            result += text[i];
        }
    }
    return result;
}

/// " 's" becomes "'s"; so 'm, 're and 've.
std::string before_contractions(const std::string& text) {
    const auto contraction = [](std::string_view rest) {
        return rest.starts_with("'s") || rest.starts_with("'m") || rest.starts_with("'re") || rest.starts_with("'ve");
    };
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        if (i > 0 && text[i - 1] == ' ' && contraction(std::string_view(text).substr(i))) {
            result.pop_back();
        }
        result += text[i];
    }
    return result;
}

} // namespace

std::string without_spaces_before_punctuation(const std::string& text) {
    return before_contractions(around_apostrophes(before_marks(text)));
}

} // namespace schedscope
