#include "viz/pictures/layout/layout_process.h"

#include "runtime/system/budget.h"
#include "runtime/system/descriptor.h"
#include "runtime/system/process/sandbox.h"
#include "viz/pictures/layout/graph_ids.h"
#include "viz/pictures/layout/text_lengths.h"

#include <graphviz/gvc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

namespace schedscope {

namespace {

constexpr int broken = 1, wrong_use = 2;

bool read_all(int file, std::string& text) {
    std::array<char, 65536> part{};
    for (;;) {
        const ssize_t n = read(file, part.data(), part.size());
        if (n < 0) {
            return false;
        }
        if (n == 0) {
            return true;
        }
        text.append(part.data(), n);
    }
}

void copy_value(Agraph_t* from_root, void* from, Agraph_t* root, void* to, int kind, const char* name) {
    char* key = const_cast<char*>(name); // NOLINT: libcgraph's signature; it doesn't write
    if (agattr(from_root, kind, key, nullptr) == nullptr) {
        return;
    }
    char* value = agget(from, key);
    if (value != nullptr && *value != '\0') {
        char none[] = "";
        if (agattr(root, kind, key, nullptr) == nullptr) {
            agattr(root, kind, key, none);
        }
        agset(to, key, value);
    }
}

void pin_areas(Agraph_t* placed, Agraph_t* placed_root, Agraph_t* graph, Agraph_t* root) {
    for (Agraph_t* area = agfstsubg(graph); area != nullptr; area = agnxtsubg(area)) {
        if (Agraph_t* known = agsubg(placed, agnameof(area), 0); known != nullptr) {
            copy_value(placed_root, known, root, area, AGRAPH, "bb");
            pin_areas(known, placed_root, area, root);
        }
    }
}

/// Gives everything in `graph` the place that it has in `placed`; several edges between two nodes are matched in their order.
void pin(Agraph_t* placed, Agraph_t* graph) {
    for (Agnode_t* node = agfstnode(graph); node != nullptr; node = agnxtnode(graph, node)) {
        Agnode_t* known = agnode(placed, agnameof(node), 0);
        if (known == nullptr) {
            continue;
        }
        for (const char* key : {"pos", "width", "height"}) {
            copy_value(placed, known, graph, node, AGNODE, key);
        }
        char fixed[] = "fixedsize", none[] = "", yes[] = "true";
        if (agattr(graph, AGNODE, fixed, nullptr) == nullptr) {
            agattr(graph, AGNODE, fixed, none);
        }
        agset(node, fixed, yes);
        std::map<std::string_view, int> seen;
        for (Agedge_t* edge = agfstout(graph, node); edge != nullptr; edge = agnxtout(graph, edge)) {
            const std::string_view head = agnameof(aghead(edge));
            int before = seen[head]++;
            Agedge_t* same = agfstout(placed, known);
            while (same != nullptr && (agnameof(aghead(same)) != head || before-- > 0)) {
                same = agnxtout(placed, same);
            }
            if (same != nullptr) {
                copy_value(placed, same, graph, edge, AGEDGE, "pos");
                copy_value(placed, same, graph, edge, AGEDGE, "lp");
            }
        }
    }
    pin_areas(placed, placed, graph, graph);
}

} // namespace

SandboxOptions layout_sandbox() {
    SandboxOptions options;
    options.limits.memory_bytes = budget::layout_memory_bytes;
    options.limits.processor_seconds = budget::layout_processor_seconds;
    options.limits.written_bytes = budget::layout_picture_bytes;
    options.needs = SandboxNeeds::files; // plugins, fonts
    return options;
}

int layout_child_main(int argc, char** argv) { return play_layouter(argc, argv, layout_sandbox()); }

int play_layouter(int argc, char** argv, const SandboxOptions& sandbox) {
    constexpr std::array<std::string_view, 5> formats{"svg", "png", "pdf", "json0", "dot"};
    const std::string format = argc == 3 ? argv[2] : "";
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
        std::fputs("usage: --layout-child svg|png|pdf|json0|dot, dot on stdin, the picture on stdout\n", stderr);
        return wrong_use;
    }
    enter_sandbox(sandbox);
    std::string text;
    if (!read_all(STDIN_FILENO, text)) {
        std::fputs("stdin can't be read\n", stderr);
        return broken;
    }
    const size_t second = text.find('\0');
    Agraph_t* graph = read_graph(text.substr(second == std::string::npos ? 0 : second + 1));
    if (graph == nullptr) {
        return broken; // libcgraph said where
    }
    GVC_t* context = gvContext();
    std::string engine = "dot";
    if (second != std::string::npos) {
        Agraph_t* placed = read_graph(text.substr(0, second));
        if (placed == nullptr) {
            return broken;
        }
        pin(placed, graph);
        engine = "nop2"; // every place is taken as it is
    }
    char* picture = nullptr;
    unsigned int n = 0;
    if (context == nullptr || gvLayout(context, graph, engine.c_str()) != 0) {
        return broken;
    }
    std::string svg;
    const bool is_svg = format == "svg";
    if (is_svg && gvRender(context, graph, "xdot", nullptr) != 0) { // which says how long texts are
        return broken;
    }
    if (gvRenderData(context, graph, format.c_str(), &picture, &n) != 0 || n == 0) {
        return broken;
    }
    std::string_view drawn(picture, n);
    if (is_svg) {
        svg = with_text_lengths(drawn, graph);
        drawn = svg;
    }
    // Nothing is freed and no sanitizer looks for leaks: the process ends here, and freeing a large layout takes long.
    _exit(write_all(STDOUT_FILENO, std::as_bytes(std::span(drawn))) ? 0 : broken);
}

} // namespace schedscope
