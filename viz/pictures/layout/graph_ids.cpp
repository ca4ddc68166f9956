#include "viz/pictures/layout/graph_ids.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace schedscope {

namespace {

/// The names of a graph and of what is in it; even ids are named, odd ones anonymous.
struct Names {
    Agraph_t* graph;
    std::map<std::string_view, IDTYPE> ids;
    std::vector<char*> names; ///< by half its id, from 1; the graph's own, since libcgraph asks what is written before a string
    IDTYPE next_anonymous = 1;
};
Names& names_of(void* state) { return *static_cast<Names*>(state); }

void* open_ids(Agraph_t* graph, Agdisc_t* /*discipline*/) { return new Names{graph, {}, {}}; }
void close_ids(void* state) { delete static_cast<Names*>(state); }

long id_of(void* state, int /*kind*/, char* name, IDTYPE* id, int create) {
    Names& all = names_of(state);
    if (name == nullptr) {
        *id = all.next_anonymous;
        all.next_anonymous += 2;
        return 1;
    }
    const auto known = all.ids.find(name);
    if (known != all.ids.end()) {
        *id = known->second;
    } else if (create == 0) {
        *id = 0; // of nothing
    } else {
        all.names.push_back(agstrdup(all.graph, name));
        *id = 2 * all.names.size();
        all.ids.emplace(all.names.back(), *id);
    }
    return 1;
}

long take_id(void* /*state*/, int /*kind*/, IDTYPE /*id*/) { return 0; } // none is asked for by its number
void free_id(void* /*state*/, int /*kind*/, IDTYPE /*id*/) {}
char* name_of(void* state, int /*kind*/, IDTYPE id) {
    Names& all = names_of(state);
    return id % 2 == 0 && id > 0 && id / 2 <= all.names.size() ? all.names[id / 2 - 1] : nullptr;
}
void register_id(void* /*state*/, int /*kind*/, void* /*object*/) {}

/// Text that is read line by line, as libcgraph's own readers do: what it has read behind the end of a graph it would take for
/// the beginning of the next one.
struct Text {
    std::string_view rest;
};
int read_text(void* channel, char* buffer, int size) {
    auto& text = *static_cast<Text*>(channel);
    const size_t line = std::min(text.rest.find('\n'), text.rest.size() - 1) + 1; // of nothing: nothing
    const size_t n = text.rest.copy(buffer, std::min<size_t>(line, size));
    text.rest.remove_prefix(n);
    return static_cast<int>(n);
}

} // namespace

Agraph_t* read_graph(const std::string& text) {
    static Agiddisc_t ids{open_ids, id_of, take_id, free_id, name_of, close_ids, register_id};
    static Agiodisc_t io{read_text, AgIoDisc.putstr, AgIoDisc.flush};
    static Agdisc_t discipline{&AgMemDisc, &ids, &io};
    Text channel{text};
    return agread(&channel, &discipline);
}

} // namespace schedscope
