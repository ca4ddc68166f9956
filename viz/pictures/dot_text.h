#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Writing Graphviz text. Written out directly and not through libcgraph's writer: that one wraps lines and orders by its own
/// tables, and the text is to be compared line by line.
namespace schedscope {

/// Text as it is to be seen, inside an HTML-like label: backslashes and entities kept literal, control characters shown as ␤ or
/// �, broken UTF-8 as �. Never empty: a space stands for nothing, as Graphviz refuses empty elements.
std::string html_label(std::string_view text);
/// A name as part of an id: printable ASCII stays, all else (and " \ % < > @) becomes %XX, so that ids never need escapes.
std::string id_of_name(std::string_view name);
/// At most n characters (UTF-8 counted), an ellipsis for what was cut.
std::string clipped(std::string_view text, size_t n);

/// [key="value" key=<html> …]
class Attributes {
public:
    Attributes& text(std::string_view key, std::string_view shown);  ///< quoted, and shown as in html_label
    Attributes& html(std::string_view key, std::string_view markup); ///< made with html_label and tags
    Attributes& raw(std::string_view key, std::string_view value);   ///< known to need no escapes
    Attributes& number(std::string_view key, int64_t value);
    Attributes& decimal(std::string_view key, double value); ///< three places, independent of the locale
    const std::string& str() const noexcept { return text_; }

private:
    void key(std::string_view name);
    std::string text_;
};

/// The statements of one digraph, one a line.
class DotText {
public:
    explicit DotText(std::string_view id);
    void graph(const Attributes& attributes); ///< of the graph or the open cluster
    void node_defaults(const Attributes& attributes);
    void edge_defaults(const Attributes& attributes);
    void node(std::string_view id, const Attributes& attributes);
    void edge(std::string_view from, std::string_view to, const Attributes& attributes = {});
    void same_rank(std::string_view a, std::string_view b);               ///< laid out side by side
    void open_cluster(std::string_view id, const Attributes& attributes); ///< "cluster_" is put in front
    void close_cluster();
    std::string finish(); ///< the text; the object is used up

private:
    void statement(std::string_view head, const Attributes& attributes);
    void quote(std::string_view id);
    std::string text_;
    int depth_ = 1;
};

} // namespace schedscope
