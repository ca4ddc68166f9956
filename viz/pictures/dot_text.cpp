#include "viz/pictures/dot_text.h"

#include "runtime/system/utf8.h"
#include "runtime/system/visible_text.h"

#include <array>
#include <charconv>
#include <utility>

namespace schedscope {

namespace {

/// What XML has no room for, and what would turn the letters around it.
bool excluded(char32_t c) noexcept { return (is_control(c) && c != '\n' && c != '\t') || c == 0xFFFE || c == 0xFFFF; }

/// Graphviz replaces \N, \G, … and turns \l, \n into line ends in both kinds of label, and expands entities in both.
void append_shown(std::string& out, std::string_view text, bool html) {
    while (!text.empty()) {
        const std::string_view before = text;
        const std::optional<char32_t> character = take_character(text);
        const char c = before[0];
        if (!character || excluded(*character)) {
            out += utf8_replacement;
        } else if (*character >= 0x80) {
            out += before.substr(0, before.size() - text.size());
        } else if (c == '\n') {
            out += "␤";
        } else if (c == '\t') {
            out += ' ';
        } else if (c == '\\') {
            out += "\\\\";
        } else if (c == '&') {
            out += "&amp;";
        } else if (html && c == '<') {
            out += "&lt;";
        } else if (html && c == '>') {
            out += "&gt;";
        } else if (html && c == '"') {
            out += "&quot;";
        } else {
            out += c;
        }
    }
}

} // namespace

std::string html_label(std::string_view text) {
    std::string out;
    append_shown(out, text, true);
    return out.empty() ? " " : out;
}

std::string id_of_name(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : name) {
        const unsigned char byte = c;
        if (byte < 0x20 || byte >= 0x7F || std::string_view("\"\\%<>@").find(c) != std::string_view::npos) {
            out += '%';
            out += digits[byte >> 4U];
            out += digits[byte & 15U];
        } else {
            out += c;
        }
    }
    return out;
}

std::string clipped(std::string_view text, size_t n) {
    std::string_view rest = text;
    for (size_t seen = 0; !rest.empty() && seen < n; ++seen) {
        take_character(rest);
    }
    return rest.empty() ? std::string(text) : std::string(text.substr(0, text.size() - rest.size())) + "…";
}

void Attributes::key(std::string_view name) {
    if (!text_.empty()) {
        text_ += ' ';
    }
    text_ += name;
    text_ += '=';
}

Attributes& Attributes::text(std::string_view name, std::string_view shown) {
    key(name);
    text_ += '"';
    std::string escaped;
    append_shown(escaped, shown, false);
    for (const char c : escaped) {
        if (c == '"') {
            text_ += '\\';
        }
        text_ += c;
    }
    text_ += '"';
    return *this;
}

Attributes& Attributes::html(std::string_view name, std::string_view markup) {
    key(name);
    text_ += '<';
    text_ += markup;
    text_ += '>';
    return *this;
}

Attributes& Attributes::raw(std::string_view name, std::string_view value) {
    key(name);
    text_ += '"';
    text_ += value;
    text_ += '"';
    return *this;
}

Attributes& Attributes::number(std::string_view name, int64_t value) {
    key(name);
    text_ += std::to_string(value);
    return *this;
}

Attributes& Attributes::decimal(std::string_view name, double value) {
    std::array<char, 64> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 3).ptr;
    return raw(name, {digits.data(), static_cast<size_t>(end - digits.data())});
}

DotText::DotText(std::string_view id) {
    text_ = "digraph ";
    quote(id);
    text_ += " {\n";
}

void DotText::quote(std::string_view id) {
    text_ += '"';
    text_ += id;
    text_ += '"';
}

void DotText::statement(std::string_view head, const Attributes& attributes) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    text_ += head;
    text_ += " [";
    text_ += attributes.str();
    text_ += "];\n";
}

void DotText::graph(const Attributes& attributes) { statement("graph", attributes); }
void DotText::node_defaults(const Attributes& attributes) { statement("node", attributes); }
void DotText::edge_defaults(const Attributes& attributes) { statement("edge", attributes); }

void DotText::node(std::string_view id, const Attributes& attributes) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    quote(id);
    text_ += " [";
    text_ += attributes.str();
    text_ += "];\n";
}

void DotText::edge(std::string_view from, std::string_view to, const Attributes& attributes) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    quote(from);
    text_ += " -> ";
    quote(to);
    if (!attributes.str().empty()) {
        text_ += " [";
        text_ += attributes.str();
        text_ += ']';
    }
    text_ += ";\n";
}

void DotText::same_rank(std::string_view a, std::string_view b) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    text_ += "{rank=same; ";
    quote(a);
    text_ += "; ";
    quote(b);
    text_ += "}\n";
}

void DotText::open_cluster(std::string_view id, const Attributes& attributes) {
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    text_ += "subgraph ";
    quote("cluster_" + std::string(id));
    text_ += " {\n";
    ++depth_;
    graph(attributes);
}

void DotText::close_cluster() {
    --depth_;
    text_.append(static_cast<size_t>(depth_) * 2, ' ');
    text_ += "}\n";
}

std::string DotText::finish() {
    text_ += "}\n";
    return std::move(text_);
}

} // namespace schedscope
