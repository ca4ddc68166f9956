#include "traces/history/measure.h"

#include "traces/history/words/words.h"

#include <cstdlib>

namespace schedscope {

std::optional<Amount> Amount::of(const SizeSum& sum) {
    if (!sum.complete && sum.bytes == 0) {
        return std::nullopt;
    }
    Amount amount(sum.bytes, !sum.complete);
    amount.rounding = sum.rounding;
    return amount;
}

bool Amount::may_be(const Amount& other) const noexcept {
    if ((at_least || other.at_least) && listed && other.listed) {
        return *listed == *other.listed;
    }
    const int64_t off = rounding + other.rounding;
    if (at_least == other.at_least) {
        return std::abs(n - other.n) <= off;
    }
    return at_least ? n <= other.n + off : other.n <= n + off;
}

std::string Measure::text(const std::optional<Amount>& amount, std::string_view if_none) const {
    if (!amount) {
        return std::string(if_none);
    }
    if (unit == Unit::bytes) {
        return words::bytes(SizeSum{amount->n, !amount->at_least, amount->rounding});
    }
    return (amount->at_least ? "at least " : "") + (unit == Unit::time ? words::duration(amount->n) : words::count(amount->n));
}

std::string Measure::text_of_same(std::string_view called_a, std::string_view called_b, std::string_view if_none) const {
    std::string of_a = text(a, if_none), of_b = text(b, if_none);
    if (of_a == of_b) {
        return of_a;
    }
    const auto told = [](std::string exact, std::string_view called, const std::string& other) {
        return exact.append(" (").append(called).append(": ").append(other).append(")");
    };
    return b->at_least || b->rounding > a->rounding ? told(std::move(of_a), called_b, of_b)
                                                    : told(std::move(of_b), called_a, of_a);
}

std::pair<std::string, std::string> Measure::texts_of_each(std::string_view if_none) const {
    std::pair texts{text(a, if_none), text(b, if_none)};
    if (unit == Unit::bytes && a && b && a->is_exact() && b->is_exact() && texts.first == texts.second) {
        texts = {words::count(a->n) + " B", words::count(b->n) + " B"};
    }
    return texts;
}

} // namespace schedscope
