#include "traces/history/words/story_kind.h"

#include "runtime/numbers.h"

#include <array>

namespace schedscope {

namespace {

struct KindName {
    std::string_view name;
    Pass pass = Pass::none;
};
constexpr std::array<KindName, static_cast<size_t>(StoryKind::sampler) + 1> entries{{{"split", Pass::split},
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
                                                                                     {"sampler"}}}; // in the order of StoryKind

struct KindOfFact {
    using Kind = std::optional<StoryKind>;
    Kind operator()(const record::SplitBegin&) const { return StoryKind::split; }
    Kind operator()(const record::Pin&) const { return StoryKind::placed; }
    Kind operator()(const record::SplitInput&) const { return StoryKind::input; }
    Kind operator()(const record::CopyMade&) const { return StoryKind::copy; }
    Kind operator()(const record::GraphInput&) const { return StoryKind::copy; }
    Kind operator()(const record::Rewired&) const { return StoryKind::rewire; }
    Kind operator()(const record::Reorder&) const { return StoryKind::order; }
    Kind operator()(const record::Fusion&) const { return StoryKind::fusion; }
    Kind operator()(const record::NotFused&) const { return StoryKind::fusion; }
    Kind operator()(const record::Placement&) const { return StoryKind::placement; }
    Kind operator()(const record::Reallocation&) const { return StoryKind::reallocation; }
    Kind operator()(const record::Execute&) const { return StoryKind::execute; }
    Kind operator()(const record::Transfer&) const { return StoryKind::transfer; }
    Kind operator()(const record::Value&) const { return StoryKind::value; }
    Kind operator()(const record::Difference&) const { return StoryKind::difference; }
    Kind operator()(const record::Sample&) const { return StoryKind::sampler; }
    template <typename Other> Kind operator()(const Other&) const { return std::nullopt; }
};

} // namespace

std::string_view story_kind_name(StoryKind kind) noexcept { return entries[ordinal(kind)].name; }

Pass pass_of(StoryKind kind) noexcept { return entries[ordinal(kind)].pass; }

std::optional<StoryKind> story_kind_of(const Fact& fact) noexcept { return std::visit(KindOfFact{}, fact); }

} // namespace schedscope
