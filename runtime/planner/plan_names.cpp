#include "runtime/planner/plan.h"

#include "runtime/numbers.h"

#include <algorithm>

namespace schedscope {

namespace {

struct PassNames {
    std::string_view name, title;
};

constexpr PassNames pass_names[] = {
    {"", ""},
    {"1", "place"},
    {"2a", "gpu down"},
    {"2b", "gpu up"},
    {"2c", "rest down"},
    {"2d", "rest up"},
    {"3", "refine"},
    {"4", "sources"},
    {"5", "split"},
    {"optimise", "optimise"},
    {"allocate", "allocate"},
    {"execute", "execute"},
};
static_assert(std::size(pass_names) == ordinal(Pass::count));

constexpr std::string_view cause_names[] = {"",      "usr",    "1.dst", "1.vsrc", "1.inp", "1.off", "1.wgt",
                                            "2.sup", "3.best", "3.upg", "4.vsrc", "4.cur", "4.cpy"};
static_assert(std::size(cause_names) == ordinal(Cause::copy) + 1);

constexpr std::string_view cause_meanings[] = {"",
                                               "pinned before the passes",
                                               "its own buffer lies there",
                                               "its view source lies there",
                                               "inputs are kept on the last backend",
                                               "taken over although its weight lies on the host",
                                               "its weight lies there",
                                               "a neighbour is there, and it supports the operator",
                                               "most of its sources can be read there",
                                               "a higher backend on the same memory supports it",
                                               "where its view source is",
                                               "where its user is",
                                               "made to hold a copy there"};
static_assert(std::size(cause_meanings) == std::size(cause_names));

} // namespace

std::string_view pass_name(Pass pass) noexcept { return pass < Pass::count ? pass_names[ordinal(pass)].name : ""; }
std::string_view pass_title(Pass pass) noexcept { return pass < Pass::count ? pass_names[ordinal(pass)].title : ""; }

Pass pass_from_name(std::string_view name) noexcept {
    for (size_t i = 1; i < std::size(pass_names); ++i) {
        if (pass_names[i].name == name) {
            return static_cast<Pass>(i);
        }
    }
    return Pass::count;
}

std::string cause_name(Cause cause, int source) {
    if (cause > Cause::copy) {
        return "";
    }
    std::string name(cause_names[ordinal(cause)]);
    if (cause == Cause::weight) {
        name += std::to_string(source);
    }
    return name;
}

std::string_view cause_meaning(Cause cause) noexcept { return cause > Cause::copy ? "" : cause_meanings[ordinal(cause)]; }

std::string copy_name(std::string_view backend, std::string_view tensor, int stage) {
    std::string name;
    name.append(backend).append("#").append(tensor).append("#").append(std::to_string(stage));
    name.resize(std::min<size_t>(name.size(), 63));
    return name;
}

std::string_view split_reason_name(SplitReason reason) noexcept {
    switch (reason) {
    case SplitReason::first: return "first";
    case SplitReason::backend: return "backend";
    case SplitReason::weight: return "weight";
    case SplitReason::full: return "full";
    }
    return "";
}

} // namespace schedscope
