#include "traces/history/words/difference_words.h"

#include "traces/history/words/words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace schedscope::words {

std::string place(int64_t element, const Shape& ne) {
    size_t n_dims = ne.size();
    while (n_dims > 1 && ne[n_dims - 1] == 1) {
        --n_dims;
    }
    std::string text;
    for (size_t i = 0; i < n_dims; ++i) {
        if (ne[i] <= 0) {
            return std::to_string(element);
        }
        const bool last = i + 1 == n_dims; // takes what is left, whatever a damaged trace says
        text += (text.empty() ? "[" : ", ") + std::to_string(last ? element : element % ne[i]);
        element /= ne[i];
    }
    return text + "]";
}

namespace {

std::string with_digits(double value, int digits) {
    if (std::isnan(value)) {
        return "nan"; // without the sign that some processors give it
    }
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    return text.data();
}

} // namespace

std::string exact(double value) { return with_digits(value, 9); }
std::string rough(double value) { return with_digits(value, 3); }

const char* verdict(const record::Difference& d) noexcept {
    return !d.compared ? "skipped" : d.beyond ? "beyond" : d.element < 0 ? "equal" : "within";
}

std::string difference(const record::Difference& d, const DifferenceNames& names, const Shape& ne) {
    if (!d.compared) {
        return "not compared: " + names.why;
    }
    std::string text = names.device + (d.beyond ? " differs from " : " agrees with ") + names.backend;
    if (d.beyond) {
        text += " beyond tolerance";
    }
    if (d.element < 0) {
        return text + " in every element";
    }
    const std::string at = "at " + place(d.element, ne) + ": " + exact(d.value) + " instead of " + exact(d.expected);
    if (!names.why.empty()) {
        return text + ": " + names.why + ", first " + at;
    }
    return text + ": NMSE " + number(d.nmse) + " of at most " + number(d.tolerance) + "; " + number(d.max_error) +
           " apart at most, " + at;
}

} // namespace schedscope::words
