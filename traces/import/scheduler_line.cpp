#include "traces/import/scheduler_line.h"

#include "traces/import/logged_text.h"

#include <algorithm>

namespace schedscope::import {

namespace {

constexpr std::string_view split_mark = "## SPLIT #", node_mark = "node #";
constexpr size_t most_digits = 9;
constexpr size_t least_name_width = 20;

void skip_blanks(std::string_view text, size_t& at) noexcept {
    while (at < text.size() && text[at] == ' ') {
        ++at;
    }
}

bool take(std::string_view text, size_t& at, std::string_view what) noexcept {
    if (text.substr(std::min(at, text.size())).starts_with(what)) {
        at += what.size();
        return true;
    }
    return false;
}

std::optional<int64_t> take_number(std::string_view text, size_t& at) noexcept {
    int64_t value = 0;
    size_t n = 0;
    while (at + n < text.size() && is_digit(text[at + n]) && n <= most_digits) {
        value = value * 10 + (text[at + n] - '0');
        ++n;
    }
    if (n == 0 || n > most_digits) {
        return std::nullopt;
    }
    at += n;
    return value;
}

/// "(  10K)" at `at`, which it leaves behind it. Bytes are unknown where the unit was cut off.
bool take_size(std::string_view text, size_t& at, std::optional<int64_t>& bytes) noexcept {
    size_t i = at;
    if (!take(text, i, "(")) {
        return false;
    }
    skip_blanks(text, i);
    const std::optional<int64_t> value = take_number(text, i);
    if (!value) {
        return false;
    }
    const bool kibi = take(text, i, "K"), mebi = !kibi && take(text, i, "M");
    skip_blanks(text, i);
    if (!take(text, i, ")")) {
        return false;
    }
    bytes.reset();
    if (kibi || mebi) {
        bytes = *value * (kibi ? 1024 : 1024 * 1024);
    }
    at = i;
    return true;
}

/// "[Vulka    1.off]" at `at`. The fixed width comes first: a backend's name may hold brackets and blanks.
bool take_place(std::string_view text, size_t& at, LoggedTensor& tensor) noexcept {
    constexpr size_t cause_width = 8;
    if (at >= text.size() || text[at] != '[') {
        return false;
    }
    for (const size_t width : {size_t{5}, size_t{4}}) {
        const size_t close = at + 1 + width + 1 + cause_width;
        if (close < text.size() && text[close] == ']' && text[at + 1 + width] == ' ') {
            tensor.backend = text.substr(at + 1, width); // at the right of its field: blanks behind it are the name's own
            tensor.backend.remove_prefix(std::min(tensor.backend.find_first_not_of(' '), tensor.backend.size()));
            tensor.cause = trimmed(text.substr(at + width + 2, cause_width));
            tensor.backend_width = static_cast<uint8_t>(width);
            at = close + 1;
            return !tensor.backend.empty();
        }
    }
    // Blanks were lost on the way: a cause is known by its looks, even where it sticks to the name.
    const size_t close = text.find(']', at);
    if (close == std::string_view::npos) {
        return false;
    }
    const std::string_view inside = trimmed(text.substr(at + 1, close - at - 1));
    const size_t gap = inside.rfind(' ');
    tensor.backend = inside;
    tensor.cause = {};
    tensor.backend_width = 0;
    for (size_t n = 3; n <= std::min<size_t>(cause_width, inside.size()); ++n) {
        const std::string_view tail = inside.substr(inside.size() - n);
        if (looks_like_cause(tail) && (gap == std::string_view::npos || inside.size() - n > gap)) {
            tensor.backend = trimmed(inside.substr(0, inside.size() - n));
            tensor.cause = tail;
            break;
        }
    }
    at = close + 1;
    return !tensor.backend.empty();
}

/// The next "NAME (SIZE) [PLACE]" from `at`. `width`: of the field that names stand in at the right; 0: unknown.
bool take_tensor(std::string_view text, size_t& at, size_t width, LoggedTensor& tensor) noexcept {
    for (size_t open = text.find('(', at); open != std::string_view::npos; open = text.find('(', open + 1)) {
        size_t i = open;
        if (!take_size(text, i, tensor.bytes)) {
            continue;
        }
        skip_blanks(text, i);
        if (!take_place(text, i, tensor)) {
            continue;
        }
        size_t end = open;
        while (end > at && text[end - 1] == ' ') {
            --end;
        }
        std::string_view name = text.substr(at, end - at);
        // A log that stamps every piece of a line has a stamp in front of the name's field.
        if (width >= least_name_width && name.size() > width + 1) {
            name.remove_prefix(name.size() - width);
        }
        tensor.name = trimmed(name);
        at = i;
        return !tensor.name.empty();
    }
    return false;
}

bool starts_node(std::string_view text) noexcept {
    size_t at = node_mark.size();
    skip_blanks(text, at);
    if (!take_number(text, at)) {
        return false;
    }
    skip_blanks(text, at);
    return take(text, at, "(");
}

bool starts_split(std::string_view text) noexcept {
    size_t at = split_mark.size();
    return take_number(text, at) && take(text, at, ":");
}

} // namespace

bool looks_like_cause(std::string_view word) noexcept {
    if (word == "usr") {
        return true;
    }
    return word.size() >= 3 && word[0] >= '1' && word[0] <= '9' && word[1] == '.' &&
           std::all_of(word.begin() + 2, word.end(), [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c); });
}

LineStart find_start(std::string_view line) noexcept {
    for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
        const std::string_view rest = line.substr(at);
        if (rest.starts_with(split_mark) && starts_split(rest)) {
            return {LineKind::split, at};
        }
        if (constexpr size_t before = node_mark.size() - 1;
            at >= before && line.substr(at - before).starts_with(node_mark) && starts_node(line.substr(at - before))) {
            return {LineKind::node, at - before};
        }
    }
    return {};
}

bool may_start(std::string_view line) noexcept {
    const std::string_view text = trimmed(line);
    return !text.empty() && (split_mark.starts_with(text) || text.starts_with(split_mark) || node_mark.starts_with(text) ||
                             text.starts_with(node_mark));
}

bool parse_split(std::string_view text, LoggedSplit& split) {
    split.inputs.clear();
    split.whole = false;
    split.n_inputs = 0;
    size_t at = split_mark.size();
    const std::optional<int64_t> index = text.starts_with(split_mark) ? take_number(text, at) : std::nullopt;
    if (!index || !take(text, at, ":")) {
        return false;
    }
    split.index = *index;
    // The backend's name ends where the last " # N inputs" begins.
    for (size_t hash = text.rfind('#'); hash != std::string_view::npos && hash >= at; hash = text.rfind('#', hash - 1)) {
        size_t i = hash + 1;
        skip_blanks(text, i);
        const std::optional<int64_t> n = take_number(text, i);
        skip_blanks(text, i);
        if (!n || !take(text, i, "inputs")) {
            continue;
        }
        split.backend = trimmed(text.substr(at, hash - at));
        split.n_inputs = *n;
        at = i;
        // Each input ends with its size and a bracket; its name may hold both kinds of brackets.
        while (std::ssize(split.inputs) < split.n_inputs) {
            const size_t open = text.find('[', at);
            if (open == std::string_view::npos) {
                break;
            }
            LoggedInput input;
            size_t size_at = text.find('(', open), end = 0;
            for (; size_at != std::string_view::npos; size_at = text.find('(', size_at + 1)) {
                end = size_at;
                if (take_size(text, end, input.bytes) && take(text, end, "]")) {
                    break;
                }
            }
            if (size_at == std::string_view::npos) {
                break;
            }
            input.name = trimmed(text.substr(open + 1, size_at - open - 1));
            split.inputs.push_back(input);
            at = end;
        }
        split.whole = std::ssize(split.inputs) == split.n_inputs;
        // A log that lost its line ends is one line, which ends as another header does.
        return !split.backend.empty() && split.backend.find(split_mark) == std::string::npos &&
               split.backend.find(node_mark) == std::string::npos;
    }
    return false;
}

bool parse_node(std::string_view text, LoggedNode& node) {
    node.sources.clear();
    node.whole = false;
    node.has_name = false;
    node.uses = -1;
    node.tensor = {};
    size_t at = node_mark.size();
    skip_blanks(text, at);
    const std::optional<int64_t> index = text.starts_with(node_mark) ? take_number(text, at) : std::nullopt;
    skip_blanks(text, at);
    if (!index || !take(text, at, "(")) {
        return false;
    }
    node.index = *index;
    const size_t close = text.find("):", at);
    if (close == std::string_view::npos) {
        node.op = {};
        return true;
    }
    node.op = trimmed(text.substr(at, close - at));
    at = close + 2;
    const size_t field = at;
    if (!take_tensor(text, at, 0, node.tensor)) {
        // What is there up to its size still names it.
        std::optional<int64_t> bytes;
        for (size_t open = text.find('(', field); open != std::string_view::npos; open = text.find('(', open + 1)) {
            size_t i = open;
            if (take_size(text, i, bytes)) {
                node.tensor = {};
                node.tensor.name = trimmed(text.substr(field, open - field));
                node.tensor.bytes = bytes;
                node.has_name = !node.tensor.name.empty();
                break;
            }
        }
        return true;
    }
    node.has_name = true;
    // The field is one blank, then the name at the right of its width.
    size_t name_end = (node.tensor.name.data() - text.data()) + node.tensor.name.size();
    const size_t width = name_end > field ? name_end - field - 1 : 0;

    skip_blanks(text, at);
    if (take(text, at, "use=")) {
        const std::optional<int64_t> uses = take_number(text, at);
        node.uses = uses ? static_cast<int32_t>(*uses) : -1;
        if (take(text, at, ",c=")) {
            take_number(text, at);
        }
    }
    skip_blanks(text, at);
    const bool open_end = !take(text, at, ":");
    LoggedTensor source;
    while (take_tensor(text, at, width, source)) {
        node.sources.push_back(source);
    }
    node.whole = !open_end && trimmed(text.substr(at)).empty();
    return true;
}

} // namespace schedscope::import
