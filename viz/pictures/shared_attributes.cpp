#include "viz/pictures/shared_attributes.h"

#include "viz/pictures/subject.h"

namespace schedscope {

Attributes picture_attributes(const std::string& heading) {
    Attributes attributes;
    heading.empty() ? attributes.raw("label", "") : attributes.html("label", heading);
    attributes.raw("labelloc", "t")
        .raw("labeljust", "l")
        .raw("fontname", "Helvetica,Arial,sans-serif")
        .raw("fontsize", "12")
        .raw("fontcolor", "#111111")
        .raw("bgcolor", "#ffffff")
        .raw("pad", "0.2")
        .raw("charset", "UTF-8");
    return attributes;
}

Attributes box_attributes(std::string_view margin) {
    Attributes attributes;
    attributes.raw("shape", "box")
        .raw("style", "filled,rounded")
        .raw("fontname", "Helvetica,Arial,sans-serif")
        .raw("fontsize", "10")
        .raw("margin", margin);
    return attributes;
}

void add_outline(Attributes& attributes, std::string_view line, bool changed, bool thin) {
    attributes.raw("color", changed ? "#111111" : line);
    if (changed || thin) {
        attributes.raw("penwidth", changed ? "3" : "0.5");
    }
}

Attributes edge_attributes() {
    Attributes attributes;
    attributes.raw("fontname", "Helvetica,Arial,sans-serif")
        .raw("fontsize", "9")
        .raw("color", "#444444")
        .raw("fontcolor", "#222222");
    return attributes;
}

Attributes numbered(const Subject& subject, Attributes attributes, BackendId backend, TensorId tensor) {
    if (subject.numbered && tensor != no_tensor) {
        attributes.number("tensor", tensor);
    }
    if (subject.numbered && backend != no_backend) {
        attributes.number("backend_id", backend);
    }
    return attributes;
}

} // namespace schedscope
