#pragma once

#include <algorithm>
#include <graphviz/cgraph.h>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace schedscope {

/// Graphviz text as libcgraph reads it.
struct Parsed {
    using Values = std::map<std::string, std::string>;
    struct Edge {
        std::string from, to;
        Values values;
    };
    std::map<std::string, Values> nodes;
    std::vector<Edge> edges;                               ///< copies and reads
    std::vector<Edge> next;                                ///< from a split to the one that runs next
    std::map<std::string, std::set<std::string>> clusters; ///< name behind "cluster_" → nodes, those of inner clusters included
    Values graph;

    explicit Parsed(const std::string& text) {
        Agraph_t* root = agmemread(text.c_str());
        if (root == nullptr) {
            throw std::runtime_error("not Graphviz text:\n" + text.substr(0, 2000));
        }
        graph = values_of(root, root, AGRAPH);
        for (Agnode_t* node = agfstnode(root); node != nullptr; node = agnxtnode(root, node)) {
            nodes[agnameof(node)] = values_of(root, node, AGNODE);
            for (Agedge_t* edge = agfstout(root, node); edge != nullptr; edge = agnxtout(root, edge)) {
                Edge found{agnameof(agtail(edge)), agnameof(aghead(edge)), values_of(root, edge, AGEDGE)};
                const bool order = found.values.count("class") != 0 && found.values.at("class") == "next";
                (order ? next : edges).push_back(std::move(found));
            }
        }
        read_clusters(root);
        agclose(root);
    }

    std::vector<std::string> sources_of(const std::string& node) const {
        std::vector<std::string> from;
        for (const Edge& edge : edges) {
            if (edge.to == node) {
                from.push_back(edge.from);
            }
        }
        std::sort(from.begin(), from.end());
        return from;
    }
    const Edge& edge(const std::string& from, const std::string& to) const {
        for (const Edge& candidate : edges) {
            if (candidate.from == from && candidate.to == to) {
                return candidate;
            }
        }
        throw std::runtime_error("no edge from " + from + " to " + to);
    }
    const std::string& label(const std::string& node) const { return nodes.at(node).at("label"); }

private:
    static Values values_of(Agraph_t* root, void* object, int kind) {
        Values values;
        for (Agsym_t* key = agnxtattr(root, kind, nullptr); key != nullptr; key = agnxtattr(root, kind, key)) {
            values[key->name] = agxget(object, key);
        }
        return values;
    }
    void read_clusters(Agraph_t* parent) {
        for (Agraph_t* child = agfstsubg(parent); child != nullptr; child = agnxtsubg(child)) {
            if (!std::string(agnameof(child)).starts_with("cluster_")) {
                continue; // side by side, not together
            }
            std::set<std::string>& members = clusters[std::string(agnameof(child)).substr(std::string("cluster_").size())];
            for (Agnode_t* node = agfstnode(child); node != nullptr; node = agnxtnode(child, node)) {
                members.insert(agnameof(node));
            }
            read_clusters(child);
        }
    }
};

} // namespace schedscope
