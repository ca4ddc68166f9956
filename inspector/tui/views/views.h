#pragma once

#include "runtime/numbers.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace schedscope::tui {

class InspectorSession;
class View;

/// The views, in the order of their tabs and keys.
enum class ViewId : uint8_t { nodes, splits, copies, fusion, memory, timeline, tokens, what_if, queries, values, count };

/// A line of the table of views.
struct ViewEntry {
    ViewId id;
    const char* name;  ///< as `:view NAME` takes it
    const char* brief; ///< where there is little room
    const char* help;  ///< what is in it, as the page of keys says it
    std::unique_ptr<View> (*make)(InspectorSession& session);

    /// Counted from 1. Number n is opened with the key n, 10 with 0.
    int number() const noexcept { return ordinal(id) + 1; }
    char key() const noexcept { return static_cast<char>('0' + number() % 10); }
};
/// In order of id.
std::span<const ViewEntry> views() noexcept;
const ViewEntry& entry_of(ViewId id) noexcept;
/// null: there is none.
const ViewEntry* view_named(std::string_view name) noexcept;
const ViewEntry* view_numbered(int number) noexcept;

} // namespace schedscope::tui
