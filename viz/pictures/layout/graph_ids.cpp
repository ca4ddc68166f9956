#include "viz/pictures/layout/graph_ids.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

namespace schedscope {

namespace {

/// The names of all graphs of this process; even ids are named, odd ones anonymous.
struct Names {
    std::map<std::string_view, IDTYPE> ids;
    std::deque<std::string> names; ///< by half its id, from 1
    IDTYPE next_anonymous = 1;
};
Names& names() {
    static Names all;
    return all;
}

void* open_ids(Agraph_t* graph, Agdisc_t* /*discipline*/) { return graph; }

long id_of(void* /*graph*/, int /*kind*/, char* name, IDTYPE* id, int create) {
    Names& all = names();
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
        all.names.emplace_back(name);
        *id = 2 * all.names.size();
        all.ids.emplace(all.names.back(), *id);
    }
    return 1;
}

long take_id(void* /*graph*/, int /*kind*/, IDTYPE /*id*/) { return 0; } // none is asked for by its number
void free_id(void* /*graph*/, int /*kind*/, IDTYPE /*id*/) {}
char* name_of(void* /*graph*/, int /*kind*/, IDTYPE id) {
    Names& all = names();
    return id % 2 == 0 && id > 0 && id / 2 <= all.names.size() ? all.names[id / 2 - 1].data() : nullptr;
}
void close_ids(void* /*graph*/) {}
void register_id(void* /*graph*/, int /*kind*/, void* /*object*/) {}

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
