#include "traces/format/kernel_times.h"

#include <array>
#include <charconv>
#include <limits>

namespace schedscope {

namespace {

constexpr int64_t farthest = int64_t{1} << 61;

void append(std::string& text, int64_t number) {
    std::array<char, std::numeric_limits<int64_t>::digits10 + 3> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    text.append(digits.data(), end);
}

/// Reads what a text has, from its beginning on.
class TimesText {
public:
    explicit TimesText(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool has(char c) noexcept {
        const bool there = at_ != end_ && *at_ == c;
        at_ += there ? 1 : 0;
        return there;
    }
    bool number(int64_t& n) noexcept {
        const auto [behind, error] = std::from_chars(at_, end_, n);
        at_ = behind;
        return error == std::errc() && n >= -farthest && n <= farthest;
    }
    bool is_over() const noexcept { return at_ == end_; }

private:
    const char* at_;
    const char* end_;
};

} // namespace

void write_times(std::span<const KernelSpan> times, int64_t start_ns, std::string& text) {
    text = "[";
    for (const KernelSpan& t : times) {
        text += text.size() > 1 ? ",[" : "[";
        append(text, t.start_ns - start_ns);
        text += ',';
        append(text, t.end_ns - t.start_ns);
        text += ']';
    }
    text += ']';
}

bool read_times(std::string_view text, int64_t start_ns, std::vector<KernelSpan>& times) {
    times.clear();
    TimesText in(text);
    bool good = in.has('[');
    while (good && !in.has(']')) {
        int64_t after = 0, took = 0;
        good = (times.empty() || in.has(',')) && in.has('[') && in.number(after) && in.has(',') && in.number(took) && in.has(']');
        const int64_t start = start_ns + after;
        good = good && start >= -farthest && start <= farthest && start + took >= -farthest && start + took <= farthest;
        times.push_back({start, start + took});
    }
    return good && in.is_over();
}

} // namespace schedscope
