// Lines beside the scheduler's own that say more about its graphs.

#include "traces/import/other_line.h"

#include "traces/import/logged_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace schedscope::import {

namespace {

/// The text behind "NAME   = "; nothing: it is not there.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) noexcept {
    for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
        std::string_view rest = line.substr(at + name.size());
        const size_t equals = rest.find_first_not_of(' ');
        if (equals != std::string_view::npos && (rest[equals] == '=' || rest[equals] == ':')) {
            return trimmed(rest.substr(equals + 1));
        }
    }
    return std::nullopt;
}

int32_t number_of(std::string_view line, std::string_view name) noexcept {
    int32_t value = 0;
    if (const auto text = value_of(line, name)) {
        std::from_chars(text->data(), text->data() + text->size(), value);
    }
    return std::max(value, 0);
}

} // namespace

std::optional<ReserveLine> reserve_line(std::string_view line) {
    const size_t at = line.find("reserving ");
    if (at == std::string_view::npos || line.find("graph", at) == std::string_view::npos ||
        line.find("n_tokens", at) == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = line.substr(at);
    return ReserveLine{number_of(rest, "n_tokens"), number_of(rest, "n_seqs"), number_of(rest, "n_outputs")};
}

std::optional<BufferLine> buffer_line(std::string_view line) {
    constexpr std::string_view mark = " buffer size";
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view before = trimmed(line.substr(0, at));
    const auto last_word = [&] {
        const size_t gap = before.rfind(' ');
        const std::string_view word = gap == std::string_view::npos ? before : before.substr(gap + 1);
        before = trimmed(before.substr(0, before.size() - word.size()));
        return word;
    };
    BufferLine buffer;
    buffer.of = last_word();
    if (buffer.of == "compute" || buffer.of == "model" || buffer.of == "KV") {
        buffer.buffer_type = last_word();
    } else if (before.ends_with("load_tensors:")) { // before 2025 a model's had no word
        buffer.buffer_type = std::exchange(buffer.of, "model");
    } else {
        return std::nullopt;
    }
    const std::optional<accounts::LoggedSize> size = accounts::read_logged_size(line.substr(at + mark.size()));
    if (buffer.buffer_type.empty() || buffer.buffer_type.ends_with(':') || !size) {
        return std::nullopt;
    }
    buffer.size = *size;
    return buffer;
}

std::optional<DeviceLine> device_line(std::string_view line) {
    constexpr std::string_view mark = "using device ";
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = line.substr(at + mark.size());
    const size_t open = rest.find(" (");
    if (open == std::string_view::npos || open == 0) {
        return std::nullopt;
    }
    // The description may hold brackets of its own.
    int depth = 0;
    size_t close = open + 1;
    for (; close < rest.size(); ++close) {
        depth += rest[close] == '(' ? 1 : rest[close] == ')' ? -1 : 0;
        if (depth == 0) {
            break;
        }
    }
    return DeviceLine{trimmed(rest.substr(0, open)), trimmed(rest.substr(open + 2, close - open - 2))};
}

/// In the words that our own runs have, so that two traces that say the same compare as the same.
std::string_view in_own_words(std::string_view name, std::string_view value) {
    return name != "flash_attention"             ? value
           : value == "1" || value == "enabled"  ? "on"
           : value == "0" || value == "disabled" ? "off"
                                                 : value;
}

std::optional<FactLine> fact_line(std::string_view line) {
    struct Known {
        std::string_view in_log, name;
    };
    static constexpr std::array known = {
        Known{"graph splits", "graph_splits"},  Known{"graph nodes", "graph_nodes"}, Known{"graphs reused", "graphs_reused"},
        Known{"general.name", "name"},          Known{"n_ubatch", "n_ubatch"},       Known{"n_batch", "n_batch"},
        Known{"flash_attn", "flash_attention"}, Known{": n_ctx", "n_ctx"}, // a server's slots have an n_ctx each, behind a comma
    };
    constexpr std::string_view offloaded = "offloaded ";
    if (const size_t at = line.find(offloaded);
        at != std::string_view::npos && line.find(" layers to GPU", at) != std::string_view::npos) {
        return FactLine{"offloaded", trimmed(line.substr(at + offloaded.size()))};
    }
    for (const Known& k : known) {
        if (const auto value = value_of(line, k.in_log); value && !value->empty()) {
            return FactLine{k.name, in_own_words(k.name, *value)};
        }
    }
    return std::nullopt;
}

} // namespace schedscope::import
