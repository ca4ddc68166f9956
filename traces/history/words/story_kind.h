#pragma once

#include "runtime/planner/records.h"

#include <optional>
#include <string_view>

namespace schedscope {

/// What a line of a tensor's story is about, beside the passes' decisions about its backend.
enum class StoryKind : uint8_t {
    split,
    placed, ///< why a weight lies where it lies, a node is pinned
    input,
    copy,
    rewire,
    order,
    fusion,
    placement,
    reallocation,
    execute,
    transfer,
    value,
    difference,
    sampler,
    verdict, ///< whether the plan that it is part of could be made again
};

std::string_view story_kind_name(StoryKind kind) noexcept; ///< "split"
/// Whose work it is; none: no pass's.
Pass pass_of(StoryKind kind) noexcept;
/// Of the line that a record adds to a story; nothing: it adds none.
std::optional<StoryKind> story_kind_of(const Fact& fact) noexcept;

} // namespace schedscope
