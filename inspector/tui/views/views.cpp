#include "inspector/tui/views/views.h"

#include "inspector/tui/views/view.h"
#include "runtime/numbers.h"
#include "viz/tables/view_names.h"

#include <algorithm>

namespace schedscope::tui {
namespace {

// clang-format off
constexpr ViewEntry table[] = {
    {ViewId::nodes,    "nodes",    "nodes",   "nodes & passes",                                    make_nodes_view},
    {ViewId::splits,   "splits",   "splits",  "splits",                                            make_splits_view},
    {ViewId::copies,   "copies",   "copies",  "copies",                                            make_copies_view},
    {ViewId::fusion,   "fusion",   "fusion",  "fusion & order",                                    make_fusion_view},
    {ViewId::memory,   "memory",   "mem",     "memory",                                            make_memory_view},
    {ViewId::timeline, "timeline", "time",    "timeline",                                          make_timeline_view},
    {ViewId::tokens,   "tokens",   "tokens",  "tokens & reuse",                                    make_tokens_view},
    {ViewId::what_if,  "what-if",  "what-if", "what-if, or two traces side by side (:diff OTHER)", make_what_if_view},
    {ViewId::queries,  "queries",  "queries", "queries",                                           make_queries_view},
    {ViewId::values,   "values",   "values",  "values of watched tensors",                         make_values_view},
};
// clang-format on

constexpr bool in_order_of_id() {
    for (size_t i = 0; i < std::size(table); ++i) {
        if (table[i].id != static_cast<ViewId>(i)) {
            return false;
        }
    }
    return std::size(table) == ordinal(ViewId::count);
}
static_assert(in_order_of_id(), "each view has its line, at its place");

constexpr bool named_as_everywhere() {
    for (const ViewEntry& entry : table) {
        if (view_names[ordinal(entry.id)] != entry.name) {
            return false;
        }
    }
    return std::size(view_names) == ordinal(ViewId::count);
}
static_assert(named_as_everywhere(), "the report has the same names and keys");

template <class Fits> const ViewEntry* first(Fits&& fits) {
    const auto found = std::find_if(std::begin(table), std::end(table), fits);
    return found == std::end(table) ? nullptr : found;
}

} // namespace

std::span<const ViewEntry> views() noexcept { return table; }

const ViewEntry& entry_of(ViewId id) noexcept { return table[ordinal(id)]; }

const ViewEntry* view_named(std::string_view name) noexcept {
    return first([&](const ViewEntry& v) { return v.name == name; });
}

const ViewEntry* view_numbered(int number) noexcept {
    return first([&](const ViewEntry& v) { return v.number() == number; });
}

} // namespace schedscope::tui
