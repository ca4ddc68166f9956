#include "traces/history/words/story_kind.h"

#include "runtime/numbers.h"

#include <array>

namespace schedscope {

namespace {

struct KindName {
    std::string_view name;
    Pass pass = Pass::none;
};
constexpr std::array<KindName, static_cast<size_t>(StoryKind::verdict) + 1> entries{{{"split", Pass::split},
                                                                                     {"placed"},
                                                                                     {"input", Pass::split},
                                                                                     {"copy", Pass::split},
                                                                                     {"rewire", Pass::split},
                                                                                     {"order", Pass::optimise},
                                                                                     {"fusion", Pass::optimise},
                                                                                     {"placement", Pass::allocate},
                                                                                     {"reallocation", Pass::allocate},
                                                                                     {"execute", Pass::execute},
                                                                                     {"transfer", Pass::execute},
                                                                                     {"value", Pass::execute},
                                                                                     {"difference", Pass::execute},
                                                                                     {"sampler"},
                                                                                     {"verdict"}}}; // in the order of StoryKind

struct KindOfFact {
    using KnownKind = std::optional<StoryKind>;
    KnownKind operator()(const record::SplitBegin&) const { return StoryKind::split; }
    KnownKind operator()(const record::Pin&) const { return StoryKind::placed; }
    KnownKind operator()(const record::SplitInput&) const { return StoryKind::input; }
    KnownKind operator()(const record::CopyMade&) const { return StoryKind::copy; }
    KnownKind operator()(const record::GraphInput&) const { return StoryKind::copy; }
    KnownKind operator()(const record::Rewired&) const { return StoryKind::rewire; }
    KnownKind operator()(const record::Reorder&) const { return StoryKind::order; }
    KnownKind operator()(const record::Fusion&) const { return StoryKind::fusion; }
    KnownKind operator()(const record::NotFused&) const { return StoryKind::fusion; }
    KnownKind operator()(const record::Placement&) const { return StoryKind::placement; }
    KnownKind operator()(const record::Kept&) const { return StoryKind::placement; }
    KnownKind operator()(const record::Reallocation&) const { return StoryKind::reallocation; }
    KnownKind operator()(const record::Execute&) const { return StoryKind::execute; }
    KnownKind operator()(const record::Transfer&) const { return StoryKind::transfer; }
    KnownKind operator()(const record::Value&) const { return StoryKind::value; }
    KnownKind operator()(const record::Difference&) const { return StoryKind::difference; }
    KnownKind operator()(const record::Sample&) const { return StoryKind::sampler; }
    template <typename Other> KnownKind operator()(const Other&) const { return std::nullopt; }
};

} // namespace

std::string_view story_kind_name(StoryKind kind) noexcept { return entries[ordinal(kind)].name; }

Pass pass_of(StoryKind kind) noexcept { return entries[ordinal(kind)].pass; }

std::optional<StoryKind> story_kind_of(const Fact& fact) noexcept { return std::visit(KindOfFact{}, fact); }

} // namespace schedscope
