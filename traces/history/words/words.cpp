#include "traces/history/words/words.h"

#include "traces/history/words/unknown.h"

namespace schedscope::words {

std::string pass(Pass pass) {
    const std::string name(pass_name(pass)), title(pass_title(pass));
    return name == title ? name : "pass " + name + " (" + title + ")";
}

std::string evaluations(EvaluationId n) { return "0…" + count(n - 1); }

std::string evaluation_of(EvaluationId id, EvaluationId n) { return count(id) + " (" + evaluations(n) + ")"; }

std::string value(const record::Value& v) {
    std::string text;
    if (v.n_elements == v.n_nan + v.n_inf) {
        text = v.n_elements == 0 ? "no elements" : "no finite element";
    } else {
        text = "from " + number(v.min) + " to " + number(v.max) + ", mean " + number(v.mean) + ", norm " + number(v.norm);
    }
    if (v.n_nan != 0 || v.n_inf != 0) {
        text += ", " + count(v.n_nan) + " NaN and " + count(v.n_inf) + " infinite";
    }
    return v.n_elements == 0 ? text : text + " of " + counted(v.n_elements, "element");
}

std::string bytes(const SizeSum& sum) {
    return sum.complete ? bytes(sum.bytes) : sum.bytes > 0 ? "at least " + bytes(sum.bytes) : unknown_text;
}

std::string counted_of(int64_t n, std::string_view noun, const SizeSum& sum) {
    if (n == 0) {
        return "no " + counted(0, noun).substr(2); // the plural
    }
    const bool none_known = !sum.complete && sum.bytes <= 0;
    return counted(n, noun) + " of " + (none_known ? "unknown size" : bytes(sum));
}

std::string refusal(Refusal reason, std::string_view detail, std::string_view between) {
    std::string text(refusal_name(reason));
    text += text.empty() || detail.empty() ? std::string_view() : between;
    return text += detail;
}

} // namespace schedscope::words
