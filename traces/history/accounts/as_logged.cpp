#include "traces/history/accounts/as_logged.h"

#include "runtime/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace schedscope::accounts {

namespace {
constexpr int64_t kibi = 1024, mebi = kibi * kibi;

/// That a line counts a size in.
int64_t unit_of(int64_t bytes) noexcept { return bytes < mebi ? kibi : mebi; }

} // namespace

int64_t logged_size(int64_t bytes) noexcept { return bytes / unit_of(bytes) * unit_of(bytes); }

bool is_logged_as(int64_t bytes, std::optional<int64_t> logged) noexcept { return !logged || logged_size(bytes) == *logged; }

int64_t most_logged_as(int64_t logged) noexcept { return logged + unit_of(logged) - 1; }

bool is_of_log(const SessionInfo& session) { return !session_fact(session, log_fact).empty(); }

bool is_size_of_line(const SessionInfo& session, const TensorInfo& tensor) { return !tensor.bytes() && is_of_log(session); }

SizeSum recorded_size(const SessionInfo& session, const TensorInfo* tensor, std::optional<int64_t> bytes) {
    SizeSum size;
    size.add(bytes);
    if (bytes && tensor != nullptr && is_size_of_line(session, *tensor)) {
        size.slack = most_logged_as(*bytes) - *bytes;
    }
    return size;
}

std::vector<std::pair<std::string, std::string>> logged_memory(const SessionInfo& session) {
    std::vector<std::pair<std::string, std::string>> logged;
    for (const auto& [fact, what] : {std::pair{model_buffers_fact, "model"}, {kv_buffers_fact, "KV cache"}}) {
        if (std::string sizes = session_fact(session, fact); !sizes.empty()) {
            logged.emplace_back(what, std::move(sizes));
        }
    }
    return logged;
}

std::optional<LoggedSize> read_logged_size(std::string_view text) {
    const size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) {
        return std::nullopt;
    }
    text.remove_prefix(digit);
    // from_chars for real numbers takes no locale into account, unlike strtod.
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    const std::string_view number = text.substr(0, end - text.data());
    const size_t unit = std::min(text.find_first_not_of(' ', number.size()), text.size());
    const std::string_view word = text.substr(unit, 3);
    const double scale = word == "MiB" ? 1024.0 * 1024 : word == "KiB" ? 1024.0 : word == "GiB" ? 1024.0 * 1024 * 1024 : 0;
    constexpr double most = 1e15;
    if (error != std::errc() || scale == 0 || !(value >= 0) || value * scale > most) {
        return std::nullopt;
    }
    const size_t dot = number.find('.');
    const size_t n_decimals = dot == std::string_view::npos ? 0 : number.size() - 1 - dot;
    LoggedSize size;
    size.bytes = std::llround(value * scale);
    size.rounding = std::llround(std::ceil(scale / 2 * std::pow(10, -to_double(n_decimals))));
    size.text = text.substr(0, unit + word.size());
    return size;
}

int64_t rounding_of(const SessionInfo& session, std::string_view buffer_type, int64_t bytes) {
    const std::string all = session_fact(session, compute_buffers_fact);
    int64_t coarsest = 0;
    for (std::string_view rest = all; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find(", "));
        rest.remove_prefix(std::min(one.size() + 2, rest.size()));
        const std::string_view name = one.substr(0, one.find(' '));
        const std::optional<LoggedSize> size = read_logged_size(one.substr(name.size()));
        if (size && name == buffer_type && size->bytes == bytes) {
            return size->rounding;
        }
        coarsest = std::max(coarsest, size ? size->rounding : 0);
    }
    return coarsest; // a log of very many contexts: not each size is kept
}

} // namespace schedscope::accounts
